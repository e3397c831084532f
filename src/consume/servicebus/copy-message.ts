import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import type { SettleValues } from "../adapter.ts";
import type { Contract, SendOperation } from "./contract.ts";
import { copyIdOf } from "./copy-id.ts";

/** A message section by section, as AMQP has it: the plain one of the SDK has no place for an encoding, or for a value that is no bytes. */
type AmqpMessage = ServiceBusReceivedMessage["_rawAmqpMessage"];

/** The only annotation that a sender may set. The others are what the broker wrote on the message. Source: "AMQP 1.0 in Azure Service Bus". */
const partitionKey = "x-opt-partition-key";

/**
 * A copy of a message for another attempt: body, properties and application properties as they are, without what the broker wrote on it, and
 * without a time to live, which would run again from the beginning while the copy waits.
 */
export function copyMessage(
  message: ServiceBusReceivedMessage,
  originalId: string,
  operation: SendOperation,
  carried: SettleValues["carried"],
  { longestMessageId }: Pick<Contract, "longestMessageId">,
): AmqpMessage {
  // oxlint-disable-next-line no-underscore-dangle -- a public property of the SDK, whatever its name says
  const { header, properties, messageAnnotations, bodyType = "data" } = message._rawAmqpMessage;
  // It says when the time to live is over.
  const { absoluteExpiryTime: _, ...kept } = properties ?? {};
  const applicationProperties: Record<string, unknown> = { ...message.applicationProperties };
  for (const name of operation.removeApplicationProperties) delete applicationProperties[name];
  const key: unknown = messageAnnotations?.[partitionKey];
  return {
    body: wholeBody(message.body, bodyType),
    bodyType,
    header: {
      durable: header?.durable ?? true,
      ...(header?.priority === undefined ? {} : { priority: header.priority }),
    },
    properties: { ...kept, messageId: copyIdOf(originalId, operation.messageIdSuffix, longestMessageId) },
    applicationProperties: {
      ...applicationProperties,
      ...carried,
      ...operation.applicationProperties,
      "redeliver-original-id": originalId,
    },
    messageAnnotations: key === undefined ? {} : { [partitionKey]: key },
  };
}

/** Bytes that came in several parts are sent as one: the SDK would write a list as JSON. */
function wholeBody(body: unknown, bodyType: AmqpMessage["bodyType"]): unknown {
  return bodyType === "data" && Array.isArray(body) ? Buffer.concat(body as readonly Uint8Array[]) : body;
}
