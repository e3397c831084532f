import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";

import type { SettleValues } from "../../../consume/port/adapter.ts";
import { deadLetterFields } from "../../../consume/port/dead-letter-fields.ts";
import type { SendOperation } from "../compile/contract.ts";

/** Source: SQS Developer Guide, "Amazon SQS message metadata". */
const mostAttributes = 10;
/**
 * The limit for the body and all attributes, with their names and types. Source: SQS Developer Guide, "Amazon SQS
 * message quotas".
 */
const mostBytes = 1_048_576;

/** The place of a field by need; the most needed has 0. */
export function rankOf(field: string): number {
  return deadLetterFields.findIndex((each) => each === field);
}

type Attributes = Readonly<Record<string, MessageAttributeValue>>;

/**
 * The attributes of a copy for the dead queue: its own, then the facts about its end and the telemetry headers. It has
 * as many of them as there is room for. A message without room goes there without them. Attributes from an earlier life
 * are removed.
 */
export function copyAttributes(
  { Body = "", MessageAttributes = {} }: Message,
  operation: SendOperation,
  { deadLetter, carried }: Pick<SettleValues, "deadLetter" | "carried">,
): Attributes {
  const fields: ReadonlySet<string> = new Set(deadLetterFields);
  const copy: Record<string, MessageAttributeValue> = {};
  let bytes = Buffer.byteLength(Body);
  for (const [name, value] of Object.entries(MessageAttributes)) {
    if (fields.has(name) || carried[name] !== undefined) continue;
    copy[name] = withoutEmptyLists(value);
    bytes += sizeOf(name, value);
  }
  const told: Readonly<Record<string, string>> = { ...operation.attributes, ...deadLetter, ...carried };
  for (const name of [...deadLetterFields, ...Object.keys(carried)]) {
    const text = told[name];
    if (text === undefined || text === "") continue;
    const value = { DataType: "String", StringValue: text };
    if (Object.keys(copy).length >= mostAttributes || bytes + sizeOf(name, value) > mostBytes) continue;
    copy[name] = value;
    bytes += sizeOf(name, value);
  }
  return copy;
}

/**
 * SQS does not implement lists: a receive shows them, and a send refuses them. Source: SQS API Reference,
 * `MessageAttributeValue`.
 */
function withoutEmptyLists({ DataType, StringValue, BinaryValue }: MessageAttributeValue): MessageAttributeValue {
  return {
    DataType,
    ...(StringValue === undefined ? {} : { StringValue }),
    ...(BinaryValue === undefined ? {} : { BinaryValue }),
  };
}

function sizeOf(name: string, { DataType = "", StringValue, BinaryValue }: MessageAttributeValue): number {
  return (
    Buffer.byteLength(name) +
    Buffer.byteLength(DataType) +
    Buffer.byteLength(StringValue ?? "") +
    (BinaryValue?.byteLength ?? 0)
  );
}
