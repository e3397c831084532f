import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";

import type { SettleValues } from "../adapter.ts";
import { byteLength } from "../dead-letter/cut.ts";
import { deadLetterFields } from "../dead-letter/fields.ts";
import type { SendOperation } from "./contract.ts";

/** Source: SQS Developer Guide, "Amazon SQS message metadata". */
const mostAttributes = 10;
/** Of the body and all attributes, with their names and types. Source: SQS Developer Guide, "Amazon SQS message quotas". */
const mostBytes = 1_048_576;

type Attributes = Readonly<Record<string, MessageAttributeValue>>;

/**
 * The attributes of a copy for the dead queue: the message's own, then what is said of its end and what whoever watches wants on it, as much of it as
 * there is room for. A message that is so full that there is none goes there without, rather than not at all. What an earlier life left on it goes.
 */
export function copyAttributes(
  { Body = "", MessageAttributes = {} }: Message,
  operation: SendOperation,
  { deadLetter, carried }: Pick<SettleValues, "deadLetter" | "carried">,
): Attributes {
  const fields: ReadonlySet<string> = new Set(deadLetterFields);
  const copy: Record<string, MessageAttributeValue> = {};
  let bytes = byteLength(Body);
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

/** Lists are not implemented, and what a receive shows of them is refused by a send. Source: SQS API Reference, `MessageAttributeValue`. */
function withoutEmptyLists({ DataType, StringValue, BinaryValue }: MessageAttributeValue): MessageAttributeValue {
  return {
    DataType,
    ...(StringValue === undefined ? {} : { StringValue }),
    ...(BinaryValue === undefined ? {} : { BinaryValue }),
  };
}

function sizeOf(name: string, { DataType = "", StringValue, BinaryValue }: MessageAttributeValue): number {
  return byteLength(name) + byteLength(DataType) + byteLength(StringValue ?? "") + (BinaryValue?.byteLength ?? 0);
}
