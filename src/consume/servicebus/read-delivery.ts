import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import type { Delivery } from "../adapter.ts";
import type { Contract } from "./contract.ts";

type Properties = Readonly<Record<string, unknown>>;

/** Reads a message of the SDK as the contract says. It never throws, whatever somebody has put into the properties. */
export function readDelivery(contract: Contract, message: ServiceBusReceivedMessage): Delivery {
  const headers: Properties = message.applicationProperties ?? {};
  const { subject, correlationId, enqueuedTimeUtc } = message;
  return {
    body: bodyOf(message.body),
    id: originalIdOf(contract, message),
    attempt: attemptOf(contract, message),
    routingKey: subject ?? null,
    headers,
    carrier: headers,
    // That of a copy is when the copy was due.
    publishedAt: isCopy(contract, headers) ? null : (enqueuedTimeUtc ?? null),
    correlationId: textOf(correlationId),
    raw: message,
  };
}

/** The id of the message that was published: copies have others. One that has none is known by the number that the broker gave it. */
export function originalIdOf({ attemptNumber }: Contract, message: ServiceBusReceivedMessage): string {
  const own = textOf(message.messageId) ?? `sequence-number:${String(message.sequenceNumber)}`;
  if (attemptNumber.from === "delivery-count") return own;
  return textOf(message.applicationProperties?.[attemptNumber.originalId]) ?? own;
}

function isCopy({ attemptNumber }: Contract, properties: Properties): boolean {
  return attemptNumber.from === "application-property" && properties[attemptNumber.originalId] !== undefined;
}

/** The SDK's delivery count is that of the AMQP header: 0 in the first delivery. */
function attemptOf({ attemptNumber }: Contract, message: ServiceBusReceivedMessage): number {
  if (attemptNumber.from === "delivery-count") return (message.deliveryCount ?? 0) + 1;
  const attempt = Number(message.applicationProperties?.[attemptNumber.attempt]);
  return Number.isSafeInteger(attempt) && attempt >= 1 ? attempt : 1;
}

/** Most senders send bytes. What was sent as a value of AMQP is a text, or is written as one. */
function bodyOf(body: unknown): Uint8Array | string {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  // AMQP lets a body come in several parts.
  if (Array.isArray(body) && body.every((part) => part instanceof Uint8Array)) return Buffer.concat(body);
  return JSON.stringify(body) ?? "";
}

/** Ids may be numbers or bytes as well. */
function textOf(id: unknown): string | null {
  if (typeof id === "number") return String(id);
  if (id instanceof Uint8Array) return Buffer.from(id).toString("hex");
  return typeof id === "string" && id !== "" ? id : null;
}
