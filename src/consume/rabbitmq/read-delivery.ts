import type { ConsumeMessage } from "amqplib";

import type { Delivery } from "../adapter.ts";
import type { Contract } from "./contract.ts";

type Headers = Readonly<Record<string, unknown>>;

/** Reads a message of amqplib as the contract says. It never throws, whatever somebody has put into the headers. */
export function readDelivery(contract: Contract, message: ConsumeMessage): Delivery {
  const { properties, content } = message;
  const headers: Headers = properties.headers ?? {};
  const id: unknown = properties.messageId;
  const seconds: unknown = properties.timestamp;
  const correlationId: unknown = properties.correlationId;
  return {
    body: content,
    id: typeof id === "string" && id !== "" ? id : null,
    attempt: attemptOf(contract, message, headers),
    routingKey: originalRoutingKey(contract, message, headers),
    headers,
    carrier: headers,
    publishedAt: typeof seconds === "number" && seconds > 0 ? new Date(seconds * 1_000) : null,
    correlationId: typeof correlationId === "string" && correlationId !== "" ? correlationId : null,
    raw: message,
  };
}

function attemptOf({ attemptNumber }: Contract, { fields }: ConsumeMessage, headers: Headers): number {
  if (attemptNumber === null) return 1;
  if (attemptNumber.from === "routing-key") return attemptInKey(fields.routingKey, attemptNumber.prefix) ?? 1;
  // On 4.3 a first delivery shows the header as it was published, say with a dead letter that was sent again.
  if (!fields.redelivered) return 1;
  // A publisher may write a table there, of which no number can be made.
  const failed = headers[attemptNumber.header];
  return typeof failed === "number" && Number.isSafeInteger(failed) && failed >= 0 ? failed + 1 : 1;
}

function attemptInKey(routingKey: string, prefix: string): number | null {
  if (!routingKey.startsWith(prefix)) return null;
  const digits = routingKey.slice(prefix.length);
  return /^[1-9][0-9]{0,8}$/.test(digits) ? Number(digits) : null;
}

/** The publisher's key, which from the second attempt on is where the contract says. */
function originalRoutingKey({ attemptNumber }: Contract, { fields }: ConsumeMessage, headers: Headers): string {
  const { routingKey } = fields;
  if (attemptNumber?.from !== "routing-key" || attemptInKey(routingKey, attemptNumber.prefix) === null)
    return routingKey;
  const where = attemptNumber.originalRoutingKey;
  const original = "header" in where ? headers[where.header] : keyOfDeath(headers["x-death"], where.death);
  return typeof original === "string" ? original : routingKey;
}

function keyOfDeath(deaths: unknown, wanted: { readonly queue: string; readonly reason: string }): unknown {
  if (!Array.isArray(deaths)) return undefined;
  const death = (deaths as readonly (Readonly<Record<string, unknown>> | null)[]).find(
    (each) => each?.["queue"] === wanted.queue && each["reason"] === wanted.reason,
  );
  const keys = death?.["routing-keys"];
  return Array.isArray(keys) ? (keys[0] as unknown) : undefined;
}
