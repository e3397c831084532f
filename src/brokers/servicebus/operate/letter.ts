import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import { historyHeader, historyOf } from "../../../operate/history.ts";
import { type Letter, lossIn } from "../../../operate/letter.ts";
import type { Unsendable } from "../../../operate/port.ts";
import { type AmqpMessage, partitionKey, wholeBody } from "../run/copy-message.ts";
import { copyIdOf } from "../run/copy-id.ts";

/** Source: Service Bus documentation, "Service Bus quotas". */
const longestMessageId = 128;

const texts = [
  "messageId",
  "correlationId",
  "contentType",
  "subject",
  "to",
  "replyTo",
  "replyToSessionId",
  "sessionId",
  "partitionKey",
  "deadLetterSource",
  "deadLetterReason",
  "deadLetterErrorDescription",
  "sequenceNumber",
  "enqueuedTimeUtc",
  "state",
] as const;

/** Reads a message that was peeked or received. */
export function readLetter(message: ServiceBusReceivedMessage, position: number): Letter {
  const told = texts.flatMap((name) => {
    const value = textOf(message[name]);
    return value === "" ? [] : [[name, value] as const];
  });
  // oxlint-disable-next-line no-underscore-dangle -- a public property of the SDK, whatever its name says
  const { bodyType = "data" } = message._rawAmqpMessage;
  const headers = Object.entries(message.applicationProperties ?? {}).map(([name, value]) => [
    name,
    value instanceof Date ? { "!": "timestamp", value: value.toISOString() } : value,
  ]);
  const body = wholeBody(message.body, bodyType);
  return {
    position,
    exchange: "",
    routingKey: message.subject ?? "",
    redelivered: Number(message.deliveryCount) > 0,
    headers: Object.fromEntries(headers) as Letter["headers"],
    properties: { ...Object.fromEntries(told), bodyType },
    body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body) ?? ""),
  };
}

/** Ids may be numbers or bytes as well, and a sequence number is an object. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return value instanceof Date ? value.toISOString() : String(value);
}

/** The letter as the SDK shows it. */
export function messageOf({ headers, properties }: Letter): object {
  return { ...properties, applicationProperties: headers, _rawAmqpMessage: {} };
}

/** Service Bus gives a deferred message only to a reader that knows its number. */
export function unsendable(letter: Letter): Unsendable | null {
  if (letter.properties["state"] === "deferred") return "deferred";
  return lossIn(letter) === null ? null : "not whole";
}

/** The description of the last end, and the number of the attempt. */
const removed = /^(dlq-.*|DeadLetterReason|DeadLetterErrorDescription|redeliver-attempt)$/;

/**
 * The copy to send. It has an id of its own, because duplicate detection would drop a copy with the letter's id, and
 * the letter would be lost. The id is the same if a killed redrive sent the copy before.
 */
export function copyOf(message: ServiceBusReceivedMessage, history: string): AmqpMessage {
  // oxlint-disable-next-line no-underscore-dangle -- the same
  const { header, properties, messageAnnotations, bodyType = "data" } = message._rawAmqpMessage;
  // It holds the end of the time to live.
  const { absoluteExpiryTime: _, ...kept } = properties ?? {};
  const given = Object.entries(message.applicationProperties ?? {}).filter(([name]) => !removed.test(name));
  const own = Object.fromEntries(given) as Record<string, unknown>;
  const fallback = textOf(message.messageId) || `sequence-number:${textOf(message.sequenceNumber)}`;
  const originalId = textOf(own["redeliver-original-id"]) || fallback;
  const [{ generation } = { generation: 0 }] = historyOf({ headers: { [historyHeader]: history } });
  const key: unknown = messageAnnotations?.[partitionKey];
  return {
    body: wholeBody(message.body, bodyType),
    bodyType,
    header: {
      durable: header?.durable ?? true,
      ...(header?.priority === undefined ? {} : { priority: header.priority }),
    },
    properties: { ...kept, messageId: copyIdOf(originalId, `:redrive:${generation}`, longestMessageId) },
    applicationProperties: { ...own, "redeliver-original-id": originalId, [historyHeader]: history },
    messageAnnotations: key === undefined ? {} : { [partitionKey]: key },
  } as AmqpMessage;
}
