import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import type { Delivery } from "../../../consume/port/adapter.ts";
import { attemptOf } from "../../../contract/attempt-number.ts";
import type { Contract } from "../compile/contract.ts";

type Properties = Readonly<Record<string, unknown>>;

/** Reads a message of the SDK by the contract. It never throws, for any properties. */
export function readDelivery(contract: Contract, message: ServiceBusReceivedMessage): Delivery {
  const headers: Properties = message.applicationProperties ?? {};
  const { subject, correlationId, enqueuedTimeUtc } = message;
  const { attemptNumber } = contract;
  const isCopy = attemptNumber.from === "application-property" && headers[attemptNumber.originalId] !== undefined;
  return {
    body: bodyOf(message.body),
    id: originalIdOf(contract, message),
    attempt: attemptIn(contract, message),
    routingKey: subject ?? null,
    headers,
    carrier: headers,
    // A copy's enqueued time is the time when it was due.
    publishedAt: isCopy ? null : (enqueuedTimeUtc ?? null),
    correlationId: textOf(correlationId),
    raw: message,
  };
}

/**
 * The id of the published message, because copies have other ids. A message without an id is identified by the broker's
 * sequence number.
 */
export function originalIdOf(
  { attemptNumber }: Pick<Contract, "attemptNumber">,
  message: ServiceBusReceivedMessage,
): string {
  const own = textOf(message.messageId) ?? `sequence-number:${String(message.sequenceNumber)}`;
  if (attemptNumber.from === "delivery-count") return own;
  return textOf(message.applicationProperties?.[attemptNumber.originalId]) ?? own;
}

/** The SDK's delivery count is that of the AMQP header: 0 in the first delivery. */
function attemptIn(
  { attemptNumber }: Contract,
  { deliveryCount = 0, applicationProperties = {} }: ServiceBusReceivedMessage,
): number {
  return attemptOf(attemptNumber, { earlierDeliveries: deliveryCount, properties: applicationProperties }) ?? 1;
}

/** Most senders send bytes. An AMQP value is a text, or becomes its JSON. */
function bodyOf(body: unknown): Uint8Array | string {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  // AMQP allows a body in several parts.
  if (Array.isArray(body) && body.every((part) => part instanceof Uint8Array)) return Buffer.concat(body);
  return JSON.stringify(body) ?? "";
}

/** Ids may be numbers or bytes as well. */
function textOf(id: unknown): string | null {
  if (typeof id === "number") return String(id);
  if (id instanceof Uint8Array) return Buffer.from(id).toString("hex");
  return typeof id === "string" && id !== "" ? id : null;
}
