import type { Message } from "@aws-sdk/client-sqs";

import type { Delivery } from "../../../consume/port/adapter.ts";
import { attemptOf } from "../../../contract/attempt-number.ts";
import type { Contract } from "../compile/contract.ts";
import { routingKeyAttribute } from "../compile/filter.ts";

export function readDelivery({ attemptNumber }: Contract, message: Message): Delivery {
  const { Body: body = "", MessageId: id = null, Attributes, MessageAttributes = {} } = message;
  const sentAtMs = Number(Attributes?.SentTimestamp);
  const headers = Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { StringValue, BinaryValue }]) => [name, StringValue ?? BinaryValue]),
  );
  return {
    body,
    id,
    // If an emulator or a proxy leaves the count out, not every attempt may become the last.
    attempt: attemptOf(attemptNumber, { earlierDeliveries: Number(Attributes?.ApproximateReceiveCount) - 1 }) ?? 1,
    routingKey: MessageAttributes[routingKeyAttribute]?.StringValue ?? null,
    headers,
    carrier: headers,
    publishedAt: Number.isNaN(sentAtMs) ? null : new Date(sentAtMs),
    correlationId: null,
    raw: message,
  };
}
