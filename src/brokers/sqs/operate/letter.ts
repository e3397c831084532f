import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";

import { historyHeader } from "../../../operate/history.ts";
import { type Letter, isTable, lossIn } from "../../../operate/letter.ts";
import type { Sending, Unsendable } from "../../../operate/port.ts";
import { routingKeyAttribute } from "../compile/filter.ts";
import { rankOf } from "../run/copy-attributes.ts";

/** Source: SQS Developer Guide, "Amazon SQS message metadata". */
const mostAttributes = 10;

/** The system attributes that a letter keeps, by their names in an export. */
const systemAttributes = {
  deadLetterSource: "DeadLetterQueueSourceArn",
  groupId: "MessageGroupId",
  deduplicationId: "MessageDeduplicationId",
  sequenceNumber: "SequenceNumber",
  sentTimestamp: "SentTimestamp",
  receiveCount: "ApproximateReceiveCount",
  traceHeader: "AWSTraceHeader",
} as const;

export const shownAttributes = Object.values(systemAttributes);

/** Reads a message of a dead queue. A text is a plain header. Any other type is a table with its name. */
export function readLetter({ Body = "", MessageId, Attributes, MessageAttributes }: Message, position: number): Letter {
  const given: Readonly<Record<string, string | undefined>> = Attributes ?? {};
  const told = Object.entries(systemAttributes).flatMap(([name, attribute]) => {
    const value = given[attribute];
    return value === undefined ? [] : [[name, value] as const];
  });
  const headers = Object.entries(MessageAttributes ?? {}).map(([name, value]) => [name, headerOf(value)] as const);
  return {
    position,
    exchange: "",
    routingKey: MessageAttributes?.[routingKeyAttribute]?.StringValue ?? "",
    redelivered: Number(given["ApproximateReceiveCount"]) > 1,
    headers: Object.fromEntries(headers),
    properties: { ...(MessageId === undefined ? {} : { messageId: MessageId }), ...Object.fromEntries(told) },
    body: Buffer.from(Body),
  };
}

function headerOf({ DataType = "String", StringValue, BinaryValue }: MessageAttributeValue): unknown {
  const value = StringValue ?? BinaryValue ?? "";
  if (DataType === "String" || DataType === "Binary") return value;
  return { type: DataType, value };
}

function attributeOf(header: unknown): MessageAttributeValue {
  if (header instanceof Uint8Array) return { DataType: "Binary", BinaryValue: header };
  if (!isTable(header)) return { DataType: "String", StringValue: String(header) };
  const { type, value } = header;
  const typed = value instanceof Uint8Array ? { BinaryValue: value } : { StringValue: String(value) };
  return { DataType: String(type), ...typed };
}

/** The letter as `ReceiveMessage` shows it. */
export function messageOf({ headers, properties }: Letter): Message {
  const Attributes = Object.fromEntries(
    Object.entries(systemAttributes).map(([name, attribute]) => [attribute, properties[name]]),
  ) as Record<string, string>;
  return {
    ReceiptHandle: "none",
    MessageId: String(properties["messageId"]),
    Attributes,
    MessageAttributes: attributesOf(headers),
  };
}

function attributesOf(headers: Letter["headers"]): Record<string, MessageAttributeValue> {
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, attributeOf(header)]));
}

/**
 * The attributes of a copy: its own, and its history. A letter that begins anew loses the description of its end. One
 * that stays dead keeps as much of it as there is room for, most needed first.
 */
export function copyAttributes(
  { headers }: Letter,
  { history, staysDead }: Pick<Sending, "history" | "staysDead">,
): Record<string, MessageAttributeValue> {
  if (history === null) return attributesOf(headers);
  const given = Object.entries({ ...headers, [historyHeader]: history });
  const own = given.filter(([name]) => !name.startsWith("dlq-"));
  const end = staysDead === true ? given.filter(([name]) => name.startsWith("dlq-")) : [];
  const kept = end.toSorted(([a], [b]) => rankOf(a) - rankOf(b)).slice(0, mostAttributes - own.length);
  return attributesOf(Object.fromEntries([...own, ...kept]));
}

/** Without room for its history, a letter could be sent again without end. */
export function unsendable(letter: Letter): Unsendable | null {
  if (Object.keys(copyAttributes(letter, { history: "" })).length > mostAttributes) return "ten attributes of its own";
  return lossIn(letter) === null ? null : "not whole";
}
