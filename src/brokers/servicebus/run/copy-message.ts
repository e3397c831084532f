import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import type { SettleValues } from "../../../consume/port/adapter.ts";
import type { Contract, SendOperation } from "../compile/contract.ts";
import { copyIdOf } from "./copy-id.ts";

/** A message section by section, as in AMQP. */
export type AmqpMessage = ServiceBusReceivedMessage["_rawAmqpMessage"];

/** The annotations that a sender may set. The broker wrote all others. Source: "AMQP 1.0 in Azure Service Bus". */
const partitionKey = "x-opt-partition-key";
const scheduledTime = "x-opt-scheduled-enqueue-time";

/** The input to a copy, beside its message. */
export interface CopyInput {
  readonly originalId: string;
  readonly operation: SendOperation;
  readonly carried: SettleValues["carried"];
  /** The time at which the copy is due. Null for at once. */
  readonly dueAt: Date | null;
}

/**
 * A copy of a message for another attempt, with the same body, properties and application properties. It leaves out the
 * broker's own fields, and the time to live, which would start again while the copy waits. The copy has AMQP sections,
 * because the SDK's plain message has no place for an encoding or for a value that is not bytes.
 */
export function copyMessage(
  message: ServiceBusReceivedMessage,
  { originalId, operation, carried, dueAt }: CopyInput,
  { longestMessageId }: Pick<Contract, "longestMessageId">,
): AmqpMessage {
  const applicationProperties: Record<string, unknown> = { ...message.applicationProperties };
  for (const name of operation.removeApplicationProperties) delete applicationProperties[name];
  const own = { ...operation.applicationProperties, "redeliver-original-id": originalId };
  const messageId = copyIdOf(originalId, operation.messageIdSuffix, longestMessageId);
  return copyWith(message, messageId, { ...applicationProperties, ...carried, ...own }, dueAt);
}

/**
 * A message with another id and other application properties, and without a time to live.
 *
 * @param dueAt null for at once
 */
export function copyWith(
  message: ServiceBusReceivedMessage,
  messageId: string,
  applicationProperties: Readonly<Record<string, unknown>>,
  dueAt: Date | null,
): AmqpMessage {
  // oxlint-disable-next-line no-underscore-dangle -- a public property of the SDK, whatever its name says
  const { header, properties, messageAnnotations, bodyType = "data" } = message._rawAmqpMessage;
  // It holds the end of the time to live.
  const { absoluteExpiryTime: _, ...kept } = properties ?? {};
  const key: unknown = messageAnnotations?.[partitionKey];
  return {
    body: wholeBody(message.body, bodyType),
    bodyType,
    header: {
      durable: header?.durable ?? true,
      ...(header?.priority === undefined ? {} : { priority: header.priority }),
    },
    properties: { ...kept, messageId },
    applicationProperties: applicationProperties as AmqpMessage["applicationProperties"] & object,
    messageAnnotations: {
      ...(key === undefined ? {} : { [partitionKey]: key }),
      ...(dueAt === null ? {} : { [scheduledTime]: dueAt }),
    },
  };
}

/** A body in several parts is sent as one, because the SDK would write a list as JSON. */
export function wholeBody(body: unknown, bodyType: AmqpMessage["bodyType"]): unknown {
  return bodyType === "data" && Array.isArray(body) ? Buffer.concat(body as readonly Uint8Array[]) : body;
}
