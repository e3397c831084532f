import fc from "fast-check";
import { expect, test } from "vitest";

import { deadLetterFields } from "../../src/consume/port/dead-letter-fields.ts";
import { copyAttributes } from "../../src/brokers/sqs/run/copy-attributes.ts";
import { forAll } from "../support/for-all.ts";

const operation = {
  operation: "SendMessage",
  queue: "shop-billing-dead",
  attributes: { "dlq-original-queue": "shop-billing", "dlq-failure-reason": "PERMANENT_FAILURE" },
} as const;

const mebibyte = 1_048_576;
type Attribute = { DataType: string; StringValue?: string; BinaryValue?: Uint8Array };
const ownAttributes = fc.dictionary(
  fc.oneof(fc.stringMatching(/^[a-z][a-z.-]{0,20}$/), fc.constantFrom(...deadLetterFields)),
  fc.oneof(
    fc.record({ DataType: fc.constantFrom("String", "Number"), StringValue: fc.string({ minLength: 1 }) }),
    fc.record({ DataType: fc.constant("Binary"), BinaryValue: fc.uint8Array({ minLength: 1 }) }),
  ),
  { maxKeys: 10 },
);
const names = ["traceparent", "redeliver-attempt-traceparent"] as const;
const watched = fc.dictionary(fc.constantFrom(...names), fc.string({ minLength: 1, maxLength: 512 }));
const told = fc.dictionary(fc.constantFrom(...deadLetterFields), fc.string({ minLength: 1, maxLength: 2_048 }));

const sizeOf = (body: string, attributes: Readonly<Record<string, Attribute>>): number =>
  Object.entries(attributes).reduce(
    (sum, [name, { DataType, StringValue = "", BinaryValue }]) =>
      sum + Buffer.byteLength(name + DataType + StringValue) + (BinaryValue?.length ?? 0),
    Buffer.byteLength(body),
  );

test("a copy keeps everything of its message, and never exceeds the limits of SQS", () => {
  forAll(100, [ownAttributes, told, watched, fc.nat({ max: 6_000 })], (own, deadLetter, carried, room) => {
    const kept = Object.entries(own).filter(([name]) => !(deadLetterFields as readonly string[]).includes(name));
    // SQS accepted the original, so it must accept the copy. The message has the largest size, less some room.
    const body = "x".repeat(mebibyte - sizeOf("", Object.fromEntries(kept)) - room);
    const copy = copyAttributes({ Body: body, MessageAttributes: own }, operation, { deadLetter, carried });
    for (const [name, value] of kept) expect(copy[name]).toEqual(value);
    expect(Object.keys(copy).length).toBeLessThanOrEqual(10);
    expect(sizeOf(body, copy as Record<string, Attribute>)).toBeLessThanOrEqual(mebibyte);
    for (const [name, value] of Object.entries(copy)) {
      if (kept.some(([own]) => own === name)) continue;
      const words: Readonly<Record<string, string>> = { ...operation.attributes, ...deadLetter, ...carried };
      expect(value.StringValue, "never what an earlier life left").toBe(words[name]);
    }
  });
});

test("if only some fields fit, they are the most needed ones, and telemetry comes last", () => {
  const all = Object.fromEntries(deadLetterFields.map((field) => [field, field]));
  for (let own = 0; own <= 10; own++) {
    const ownNames = Array.from({ length: own }, (_, index) => `own-${index}`);
    const MessageAttributes = Object.fromEntries(
      ownNames.map((name) => [name, { DataType: "String", StringValue: "a" }]),
    );
    const carried = Object.fromEntries(names.map((name) => [name, name]));
    const copy = copyAttributes({ Body: "{}", MessageAttributes }, operation, { deadLetter: all, carried });
    expect(Object.keys(copy)).toEqual([...ownNames, ...[...deadLetterFields, ...names].slice(0, 10 - own)]);
  }
});
