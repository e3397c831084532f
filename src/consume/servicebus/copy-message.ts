import type { AmqpAnnotatedMessage, ServiceBusReceivedMessage } from "@azure/service-bus";

import type { SendOperation } from "./contract.ts";

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
): AmqpAnnotatedMessage {
  const { header, properties, messageAnnotations, bodyType = "data" } = message._rawAmqpMessage;
  const applicationProperties: Record<string, unknown> = { ...message.applicationProperties };
  for (const name of operation.removeApplicationProperties) delete applicationProperties[name];
  const key: unknown = messageAnnotations?.[partitionKey];
  return {
    body: wholeBody(message.body, bodyType),
    bodyType,
    header: { durable: header?.durable ?? true, ...(header?.priority === undefined ? {} : { priority: header.priority }) },
    properties: {
      ...properties,
      messageId: `${originalId}${operation.messageIdSuffix}`,
      // It says when the time to live is over.
      absoluteExpiryTime: undefined,
    } as NonNullable<AmqpAnnotatedMessage["properties"]>,
    applicationProperties: {
      ...applicationProperties,
      ...operation.applicationProperties,
      "redeliver-original-id": originalId,
    },
    messageAnnotations: key === undefined ? {} : { [partitionKey]: key },
  };
}

/** Bytes that came in several parts are sent as one: the SDK would write a list as JSON. */
function wholeBody(body: unknown, bodyType: AmqpAnnotatedMessage["bodyType"]): unknown {
  return bodyType === "data" && Array.isArray(body) ? Buffer.concat(body as readonly Uint8Array[]) : body;
}
