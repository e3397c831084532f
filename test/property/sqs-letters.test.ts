import { isDeepStrictEqual } from "node:util";

import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { expect, test } from "vitest";

import { copyAttributes, readLetter } from "../../src/brokers/sqs/operate/letter.ts";
import { lossIn } from "../../src/operate/letter.ts";
import { createExportReader, endLine, headerLine, letterLine } from "../../src/operate/ndjson.ts";

/** A type of an attribute, plain or with a label of the publisher's own. */
const typed = (type: string): fc.Arbitrary<string> =>
  fc.option(fc.stringMatching(/^[\w-]{1,8}$/), { nil: "" }).map((label) => (label === "" ? type : `${type}.${label}`));

const text = fc.string({ unit: "binary", minLength: 1 });
const number = fc.oneof(fc.bigInt().map(String), fc.double({ noNaN: true }).map(String), fc.constant("2.50"));
const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((each) => Buffer.from(each));
const attribute: fc.Arbitrary<MessageAttributeValue> = fc.oneof(
  fc.record({ DataType: typed("String"), StringValue: text }, { noNullPrototype: true }),
  fc.record({ DataType: typed("Number"), StringValue: number }, { noNullPrototype: true }),
  fc.record({ DataType: typed("Binary"), BinaryValue: bytes }, { noNullPrototype: true }),
);
const name = fc.oneof(
  fc.stringMatching(/^[\w-]{1,12}$/),
  fc.constantFrom("__proto__", "constructor", "type", "value", "dlq-failure-reason", "redeliver-history"),
);
const attributes = fc
  .uniqueArray(fc.tuple(name, attribute), { selector: ([each]) => each, maxLength: 10 })
  .map((entries): Record<string, MessageAttributeValue> => Object.fromEntries(entries));

test("a message of SQS keeps its body and its attributes of every type in an export and its import", () => {
  fc.assert(
    fc.property(text, attributes, fc.option(text), (Body, MessageAttributes, group) => {
      const Attributes = { SentTimestamp: "1", ...(group === null ? {} : { MessageGroupId: group }) };
      const letter = readLetter({ Body, MessageId: "m1", Attributes, MessageAttributes } as Message, 1);
      const reader = createExportReader();
      const lines = [
        headerLine({ broker: "sqs", queue: "shop-billing-dead", consumer: null }),
        letterLine({ letter, lost: lossIn(letter) }),
        endLine(1),
      ];
      const read = lines.flatMap((line) => reader.take(line) ?? []);
      // Client libraries write this character in the place of bytes that are no text, so a publisher's own is doubtful.
      const isDoubtful = JSON.stringify([group, MessageAttributes]).includes("\uFFFD");
      const lost = isDoubtful ? "a text that is not UTF-8" : null;
      expect([reader.problem(), read.map((each) => each.lost)]).toEqual([null, [lost]]);
      const [back] = read.map((each) => each.letter);
      if (back === undefined) throw new Error("no letter");
      expect(isDeepStrictEqual(copyAttributes(back, { history: null }), MessageAttributes)).toBe(true);
      expect(Buffer.from(back.body).toString()).toBe(Body);
      expect(back.properties["groupId"]).toBe(group ?? undefined);
    }),
    { numRuns: 500, examples: [["\u0000", {}, "\uFFFD\u0000"]] },
  );
});
