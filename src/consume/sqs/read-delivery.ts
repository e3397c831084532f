import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";

import type { Delivery } from "../adapter.ts";
import type { Contract } from "./contract.ts";

/** Reads what SQS hands over. */
export function readDelivery({ sources }: Contract, message: Message): Delivery {
  const { Body: body = "", MessageId: id = null, Attributes, MessageAttributes = {} } = message;
  const routingKey = sources[0]?.routingKeyAttribute ?? "routing-key";
  const sentAtMs = Number(Attributes?.SentTimestamp);
  const headers = Object.fromEntries(Object.entries(MessageAttributes).map(([name, value]) => [name, valueOf(value)]));
  return {
    body,
    id,
    // An emulator or a proxy that leaves it out must not make every attempt the last.
    attempt: Number(Attributes?.ApproximateReceiveCount ?? 1),
    routingKey: MessageAttributes[routingKey]?.StringValue ?? null,
    headers,
    carrier: headers,
    publishedAt: Number.isNaN(sentAtMs) ? null : new Date(sentAtMs),
    correlationId: null,
    raw: message,
  };
}

function valueOf({ StringValue, BinaryValue }: MessageAttributeValue): string | Uint8Array | undefined {
  return StringValue ?? BinaryValue;
}
