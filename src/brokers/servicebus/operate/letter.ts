import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import { historyHeader } from "../../../operate/history.ts";
import { type Letter, lossIn } from "../../../operate/letter.ts";
import type { Unsendable } from "../../../operate/port.ts";
import { servicebusLimits } from "../compile/capabilities.ts";
import { attemptProperty } from "../compile/strategies/strategy.ts";
import { copyIdOf } from "../run/copy-id.ts";
import { type AmqpMessage, copyWith, wholeBody } from "../run/copy-message.ts";
import { originalIdOf } from "../run/read-delivery.ts";

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

/** The description of the last end, the number of the attempt, and the id from which copies take theirs. */
const removed = /^(dlq-.*|DeadLetterReason|DeadLetterErrorDescription|redeliver-(attempt|original-id))$/;

/**
 * The copy to send: a new message with all of its attempts. Its id is new, and the consumer's copies of it take their
 * ids from that. With an id that Service Bus remembers, duplicate detection would drop one of them, and the message
 * would be lost. The id differs between letters. It is the same if a redrive that was killed sent the copy before.
 */
export function copyOf(message: ServiceBusReceivedMessage, history: string): AmqpMessage {
  const own = Object.entries(message.applicationProperties ?? {}).filter(([name]) => !removed.test(name));
  const earlier = originalIdOf({ attemptNumber: attemptProperty }, message).replace(/:again-\d+$/, "");
  const suffix = `:again-${textOf(message.sequenceNumber)}`;
  return copyWith(message, {
    messageId: copyIdOf(earlier, suffix, servicebusLimits.messageIdLength),
    applicationProperties: { ...Object.fromEntries(own), [historyHeader]: history },
    dueAt: null,
  });
}
