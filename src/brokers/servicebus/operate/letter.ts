import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import { historyHeader } from "../../../operate/history.ts";
import { type Letter, isTable, lossIn } from "../../../operate/letter.ts";
import type { Sending, Unsendable } from "../../../operate/port.ts";
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

/**
 * Reads a message that was peeked or received.
 *
 * @param queue the queue that it is in. Service Bus names the queue that a letter died in only if it has forwarded it
 */
export function readLetter(message: ServiceBusReceivedMessage, position: number, queue: string): Letter {
  const told = texts.flatMap((name) => {
    const value = message[name] ?? undefined;
    return value === undefined ? [] : [[name, textOf(value)] as const];
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
    properties: { ...diedIn(queue), ...Object.fromEntries(told), bodyType },
    body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body) ?? ""),
  };
}

function diedIn(queue: string): { readonly deadLetterSource?: string } {
  const deadLetterSource = /^(.*)\/\$DeadLetterQueue$/i.exec(queue)?.[1];
  return deadLetterSource === undefined || /\$Transfer$/i.test(deadLetterSource) ? {} : { deadLetterSource };
}

/** Ids may be numbers or bytes as well, and a sequence number is an object. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return value instanceof Date ? value.toISOString() : String(value);
}

/** The letter as the SDK shows it. */
export function messageOf({ headers, properties }: Letter): object {
  const { deadLetterSource: queue } = properties;
  const origin = queue === undefined ? {} : { "dlq-original-queue": queue };
  return { ...properties, applicationProperties: { ...origin, ...headers }, _rawAmqpMessage: {} };
}

/**
 * A deferred letter can be received by its number. But in the dead queue of a queue with sessions, Service Bus asks for
 * the lock of the session, and nobody can have it there. Source: azure-sdk-for-net issue 34662.
 */
export function unsendable(letter: Letter): Unsendable | null {
  const { state, sessionId } = letter.properties;
  if (state === "deferred" && sessionId !== undefined) return "deferred";
  return lossIn(letter) === null ? null : "not whole";
}

/** The description of the last end, the number of the attempt, and the id from which copies take theirs. */
const removed = /^(dlq-.*|DeadLetterReason|DeadLetterErrorDescription|redeliver-(attempt|original-id))$/;

/**
 * The copy to send: a new message with all of its attempts. Its id is new, and the consumer's copies of it take their
 * ids from that. With an id that Service Bus remembers, duplicate detection would drop one of them, and the message
 * would be lost. The id differs between letters. It is the same if a command that was killed sent the copy before.
 *
 * A letter that stays dead keeps its id and the records of its end.
 */
export function copyOf(
  message: ServiceBusReceivedMessage,
  letter: Letter,
  { history, staysDead = false, edited }: Sending,
): AmqpMessage {
  const given = propertiesOf(edited ?? letter);
  const own = Object.entries(given).filter(([name]) => staysDead || !removed.test(name));
  const earlier = originalIdOf({ attemptNumber: attemptProperty }, message).replace(/:again-\d+$/, "");
  const again = copyIdOf(earlier, `:again-${textOf(message.sequenceNumber)}`, servicebusLimits.messageIdLength);
  const sameId = staysDead ? textOf(message.messageId) : "";
  const messageId = edited === undefined ? sameId || again : String(edited.properties["messageId"]);
  const told = { ...(staysDead ? endOf(letter) : {}), ...(history === null ? {} : { [historyHeader]: history }) };
  const copy = copyWith(message, messageId, { ...Object.fromEntries(own), ...told }, null);
  return edited === undefined ? copy : { ...copy, body: bodyOf(edited) };
}

/** A letter of an export, as a new message with the records of its end. */
export function amqpMessageOf(letter: Letter): AmqpMessage {
  const { bodyType, ...given } = letter.properties;
  const { messageId, correlationId, contentType, subject, to, replyTo, partitionKey } = given;
  const named = { messageId, correlationId, contentType, subject, to, replyTo };
  const properties = { ...named, groupId: given["sessionId"], replyToGroupId: given["replyToSessionId"] };
  const known = Object.entries(properties).filter(([, value]) => value !== undefined);
  return {
    body: bodyOf(letter),
    bodyType: bodyType as NonNullable<AmqpMessage["bodyType"]>,
    header: { durable: true },
    properties: Object.fromEntries(known),
    applicationProperties: { ...propertiesOf(letter), ...endOf(letter) },
    messageAnnotations: partitionKey === undefined ? {} : { "x-opt-partition-key": partitionKey },
  };
}

/** Service Bus writes these by itself only if it forwards a dead letter. Then they are these properties. */
function endOf({ properties }: Letter): Record<string, string> {
  const { deadLetterReason, deadLetterErrorDescription } = properties;
  return {
    ...(deadLetterReason === undefined ? {} : { DeadLetterReason: String(deadLetterReason) }),
    ...(deadLetterErrorDescription !== undefined && { DeadLetterErrorDescription: String(deadLetterErrorDescription) }),
  };
}

function propertiesOf({ headers }: Letter): AmqpMessage["applicationProperties"] & object {
  const values = Object.entries(headers).map(([name, value]) => [
    name,
    isTable(value) && value["!"] === "timestamp" ? new Date(String(value["value"])) : value,
  ]);
  return Object.fromEntries(values) as AmqpMessage["applicationProperties"] & object;
}

function bodyOf({ body, properties }: Letter): unknown {
  return properties["bodyType"] === "data" ? Buffer.from(body) : JSON.parse(Buffer.from(body).toString());
}
