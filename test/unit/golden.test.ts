import fc from "fast-check";
import { expect, test } from "vitest";

import { forAll } from "../support/for-all.ts";
import { differences, shorten, together } from "../support/golden.ts";

// A golden file that is a difference pins no less than one in full: other data makes another difference.

const data = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.nat(2), fc.constantFrom("a", "b~/"), tie("list"), tie("record")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  // The keys are in order: the place of a key that is new is no part of a difference.
  record: fc
    .record({ a: tie("value"), "b~/": tie("value"), c: tie("value") }, { requiredKeys: [] })
    .map((each) => inOrder(each)),
})).value;

function inOrder(record: object): object {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

test("two values have the same difference to a third one only if they are equal", () => {
  forAll(2000, [data, data, data], (base, one, other) => {
    const areSame = JSON.stringify(one) === JSON.stringify(other);
    const stored = (value: unknown): string => together(differences("", base, value)).join("\n");
    const sameDifference = stored(one) === stored(other);
    expect(sameDifference).toBe(areSame);
  });
});

test("a difference is identified by the lines around it", () => {
  const before = { queues: [{ name: "a", limit: 1 }, { name: "b" }], kept: [1, 2] };
  const after = { queues: [{ name: "a", limit: 2 }, { name: "b" }, { name: "c" }], kept: [1, 2], "a/b": null };
  const expected = ["", "/queues/a/limit: 1 → 2", '/queues/2: – → { "name": "c" }', "/a~1b: – → null"];
  expect(together(differences("", before, after))).toEqual(expected);
});

test("two values are stored alike only if they are equal, also where one resembles the value above it", () => {
  // Long enough that leaving out what is equal saves lines.
  const text = fc.constantFrom("a".repeat(60), "b".repeat(60), "c".repeat(60));
  const record = fc
    .record(
      { name: text, kind: text, inner: fc.record({ x: text, y: text }), list: fc.array(data, { maxLength: 2 }) },
      { requiredKeys: ["name", "inner"] },
    )
    .map((each) => inOrder(each));
  const keyed = (list: readonly unknown[]): object => Object.fromEntries(list.map((each, at) => [`key${at}`, each]));
  const records = fc.oneof(fc.array(record, { maxLength: 4 }), fc.array(fc.tuple(record, record), { maxLength: 3 }));
  let shortened = 0;
  forAll(500, [records, records, fc.nat()], (one, other, at) => {
    const nearly = [...one.slice(0, at % 4), ...other.slice(at % 4)];
    for (const each of [other, nearly]) {
      const areSame = JSON.stringify(one) === JSON.stringify(each);
      expect(JSON.stringify(shorten(one)) === JSON.stringify(shorten(each))).toBe(areSame);
      expect(JSON.stringify(shorten(keyed(one))) === JSON.stringify(shorten(keyed(each)))).toBe(areSame);
    }
    if (JSON.stringify(shorten(one)).includes('"above"')) shortened += 1;
  });
  expect(shortened).toBeGreaterThan(150);
});

test("places in a row with the same difference share it", () => {
  const lines = ["- 1", "+ 2", "+ 3"];
  const found = [..."abc"].map((name) => ({ pointer: `/${name}`, lines: name === "c" ? ["- 1"] : lines }));
  expect(together(found)).toEqual(["", "/a", "/b", ...lines, "", "/c: 1 → –"]);
});

test("a value that resembles the one above it has only what differs", () => {
  const queue = (name: string): object => ({ name, kind: "work", text: "a".repeat(60), more: "b".repeat(60) });
  const short = { as: "above", name: "c" };
  expect(shorten([queue("a"), queue("c"), "other"])).toEqual([queue("a"), short, "other"]);
  const inLists = (...all: readonly object[]) => all.map((each, index) => [each, index]);
  expect(shorten(inLists(queue("a"), queue("c")))).toEqual(inLists(queue("a"), short));
  const [first, ...others] = [1, 2, 14].map((each) => ({ ...queue(`${each}ms`), each }));
  expect(shorten([first, ...others, queue("14ms")])).toEqual([
    first,
    { as: "above", "for 1": "2, 14" },
    { as: "above", without: ["each"] },
  ]);
});

test("a value names the property that it resembles most, and the properties that it lacks", () => {
  const texts = { text: "a".repeat(60), more: "b".repeat(60) };
  const resources = { queue: { name: "a", ...texts }, topic: { kind: "topic" }, other: { ...texts, limit: 3 } };
  expect(shorten(resources)).toEqual({ ...resources, other: { as: "queue", without: ["name"], limit: 3 } });
});
