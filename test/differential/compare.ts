import type { GetMessage } from "amqplib";

import type { Death, HeaderValue, MessageState, Semantics } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { routingHeaders } from "../../src/brokers/rabbitmq/prove/semantics/deaths.ts";
import { deliveryHeaders } from "./delivery-headers.ts";
import { deathHeaderNames } from "./topologies.ts";

/** Everything that a consumer can see of a message and that the semantics predicts, as one line. */
export function sightOf(queue: string, message: GetMessage): string {
  const headers = message.properties.headers ?? {};
  return line({
    queue,
    exchange: message.fields.exchange,
    routingKey: message.fields.routingKey,
    expiration: message.properties.expiration === undefined ? null : Number(message.properties.expiration),
    // If a delivery has no such header, `basic.get` returns 0 up to 3.11. Source: `rabbit_fifo_client:dequeue/3`
    // (3.10.8).
    deliveryCount: headers["x-delivery-count"] || null,
    acquiredCount: headers["x-acquired-count"] ?? null,
    ...summariesIn(headers),
    deaths: deathsIn(headers["x-death"] as HeaderValue | undefined),
  });
}

export function expectedSight(semantics: Semantics, copy: MessageState): string {
  const counts = deliveryHeaders(semantics, copy);
  const { deaths } = copy;
  return line({
    queue: copy.place.kind === "queue" ? copy.place.queue : "",
    exchange: copy.exchange,
    routingKey: copy.routingKeys[0] ?? "",
    expiration: copy.expirationMs,
    deliveryCount: counts["x-delivery-count"],
    acquiredCount: counts["x-acquired-count"],
    ...summariesIn(routingHeaders(copy)),
    deaths: deaths.length > 0 ? deaths.map(formatDeath) : deathsIn(copy.headers["x-death"] as HeaderValue | undefined),
  });
}

function line(sight: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(sight);
}

/** The first and the last death, by the broker or by the publisher. */
function summariesIn(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(deathHeaderNames.map((name) => [name, headers[name] ?? null]));
}

/** The records of `x-death`, in their order. */
export function deathsIn(header: HeaderValue | undefined): readonly string[] {
  if (!Array.isArray(header)) return [];
  return header.map((entry: Readonly<Record<string, HeaderValue>>) =>
    formatDeath({
      queue: entry["queue"] as string,
      reason: entry["reason"] as Death["reason"],
      exchange: entry["exchange"] as string,
      routingKeys: entry["routing-keys"] as string[],
      count: entry["count"] as number,
      originalExpirationMs: entry["original-expiration"] === undefined ? null : Number(entry["original-expiration"]),
    }),
  );
}

function formatDeath({ queue, reason, exchange, routingKeys, count, originalExpirationMs }: Death): string {
  return `${queue} ${reason} ×${count} from ${JSON.stringify(exchange)} by ${routingKeys.join()}${originalExpirationMs === null ? "" : ` expiration ${originalExpirationMs}`}`;
}
