import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";
import { expect, test } from "vitest";

import { historyHeader, historyOf, historyWith } from "../../src/operate/history.ts";
import { type Letter, lossIn } from "../../src/operate/letter.ts";
import { type ExportedLetter, createExportReader, endLine, headerLine, letterLine } from "../../src/operate/ndjson.ts";
import { forAll } from "../support/for-all.ts";

/** A header value, in each form that amqplib gives. */
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: "binary" }),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double(),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    fc.record({ "!": fc.constant("timestamp"), value: fc.nat() }, { noNullPrototype: true }),
    fc.record(
      {
        "!": fc.constant("decimal"),
        value: fc.record({ places: fc.nat(255), digits: fc.nat() }, { noNullPrototype: true }),
      },
      { noNullPrototype: true },
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    tableOf(tie("value")),
  ),
})).value;

function tableOf(of: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "x-death", "1", "constructor")), of, { maxKeys: 5 })
    .map((table) => Object.fromEntries(Object.entries(table).filter(([key]) => key !== "!")));
}

const letter: fc.Arbitrary<Letter> = fc.record(
  {
    position: fc.integer({ min: 1 }),
    exchange: fc.string(),
    routingKey: fc.string({ unit: "binary" }),
    redelivered: fc.boolean(),
    headers: tableOf(value),
    properties: fc.dictionary(fc.constantFrom("messageId", "type", "timestamp"), fc.oneof(fc.string(), fc.nat()), {
      noNullPrototype: true,
    }),
    body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  },
  { noNullPrototype: true },
);

const header = { broker: "rabbitmq", queue: "shop.billing.dead", consumer: "billing" };

function exported(letters: readonly Letter[]): string[] {
  const lines = letters.map((each) => letterLine({ letter: each, lost: lossIn(each) }));
  return [headerLine(header), ...lines, endLine(letters.length)];
}

const lettersIn = (read: readonly ExportedLetter[]): Letter[] => read.map((each) => each.letter);

test("an export and its import give the same letters, byte by byte", () => {
  forAll(100, [fc.array(letter, { maxLength: 5 })], (letters) => {
    const reader = createExportReader();
    const lines = exported(letters);
    const read = lines.flatMap((line) => reader.take(line) ?? []);
    expect(reader.problem()).toBeNull();
    expect(reader.header()).toMatchObject(header);
    expect(isDeepStrictEqual(lettersIn(read), letters)).toBe(true);
    expect(exported(lettersIn(read))).toEqual(lines);
  });
});

test("a truncated export is never taken for a whole one, and its whole letters are known", () => {
  forAll(
    100,
    [fc.array(letter, { minLength: 1, maxLength: 4 }), fc.double({ min: 0, max: 1, noNaN: true })],
    (letters, part) => {
      const lines = exported(letters);
      const text = lines.join("");
      const cut = text.slice(0, Math.floor(part * (text.length - 2)));
      const reader = createExportReader();
      const read = cut.split("\n").flatMap((line) => reader.take(line) ?? []);
      expect(reader.problem()).not.toBeNull();
      expect(isDeepStrictEqual(lettersIn(read), letters.slice(0, read.length))).toBe(true);
      expect(reader.letters()).toBe(read.length);
      // Every line that was written whole is read.
      expect(read.length).toBeGreaterThanOrEqual(Math.min(letters.length, cut.split("\n").length - 2));
    },
  );
});

test("no line of an export makes the reader throw", () => {
  forAll(100, [fc.array(fc.oneof(fc.json(), fc.string(), fc.constantFrom(...exported([]))))], (lines) => {
    const reader = createExportReader();
    for (const line of lines) reader.take(line);
    expect([null, "string"]).toContain(reader.problem() === null ? null : "string");
  });
});

test("a letter keeps its last ten redrives, and the generation counts on", () => {
  forAll(100, [fc.integer({ min: 1, max: 25 }), fc.oneof(fc.constant(undefined), value)], (times, foreign) => {
    let headers: Record<string, unknown> = { [historyHeader]: typeof foreign === "string" ? "no history" : foreign };
    for (let index = 1; index <= times; index++) {
      const added = {
        redrive: `r${index}`,
        at: "2026-03-01T08:00:00.000Z",
        reason: null,
        routingKey: "k",
        position: 1,
        letter: "1f",
      };
      headers = { [historyHeader]: historyWith({ headers }, added) };
    }
    const history = historyOf({ headers });
    expect(history).toHaveLength(Math.min(10, times));
    expect(history[0]).toMatchObject({ generation: times, redrive: `r${times}` });
  });
});
