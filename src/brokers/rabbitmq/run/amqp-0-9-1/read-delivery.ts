import type { ConsumeMessage } from "amqplib";

import type { Delivery } from "../../../../consume/port/adapter.ts";
import { attemptOf } from "../../../../contract/attempt-number.ts";
import type { Contract } from "../../compile/contract.ts";

type Headers = Readonly<Record<string, unknown>>;

/** Reads a message of amqplib by the contract. It never throws, for any headers. */
export function readDelivery(contract: Contract, message: ConsumeMessage): Delivery {
  const { properties, content } = message;
  const headers: Headers = properties.headers ?? {};
  const id: unknown = properties.messageId;
  const seconds: unknown = properties.timestamp;
  const correlationId: unknown = properties.correlationId;
  return {
    body: content,
    id: typeof id === "string" && id !== "" ? id : null,
    attempt: attemptIn(contract, message, headers),
    routingKey: originalRoutingKey(contract, message, headers),
    headers,
    carrier: headers,
    publishedAt: typeof seconds === "number" && seconds > 0 ? new Date(seconds * 1_000) : null,
    correlationId: typeof correlationId === "string" && correlationId !== "" ? correlationId : null,
    raw: message,
  };
}

function attemptIn({ attemptNumber }: Contract, { fields }: ConsumeMessage, headers: Headers): number {
  // On 4.3 a first delivery shows the header as it was published, for example on a dead letter that was sent again.
  const counted = attemptNumber?.from === "header" && fields.redelivered ? headers[attemptNumber.header] : 0;
  const { routingKey, exchange } = fields;
  return attemptOf(attemptNumber, { routingKey, exchange, earlierDeliveries: counted }) ?? 1;
}

/** The publisher's key. From the second attempt on, it stands where the contract says. */
function originalRoutingKey({ attemptNumber }: Contract, { fields }: ConsumeMessage, headers: Headers): string {
  const { routingKey, exchange } = fields;
  if (attemptNumber?.from !== "routing-key" && attemptNumber?.from !== "exchange") return routingKey;
  const carrier = attemptNumber.from === "exchange" ? exchange : routingKey;
  if (!carrier.startsWith(attemptNumber.prefix) || attemptOf(attemptNumber, { routingKey, exchange }) === null)
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
