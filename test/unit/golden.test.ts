import fc from "fast-check";
import { expect, test } from "vitest";

import { differences } from "../support/golden.ts";

// A golden file that is a difference pins no less than one in full: other data makes another difference.

const data = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.nat(2), fc.constantFrom("a", "b~/"), tie("list"), tie("record")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  // The keys are in order: the place of a key that is new is no part of a difference.
  record: fc
    .record({ a: tie("value"), "b~/": tie("value"), c: tie("value") }, { requiredKeys: [] })
    .map((each) => Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))),
})).value;

test("two values have the same difference to a third one only if they are equal", () => {
  fc.assert(
    fc.property(data, data, data, (base, one, other) => {
      const areSame = JSON.stringify(one) === JSON.stringify(other);
      const sameDifference = differences("", base, one).join("\n") === differences("", base, other).join("\n");
      expect(sameDifference).toBe(areSame);
    }),
    { numRuns: 2000 },
  );
});

test("a difference is identified by the lines around it", () => {
  const before = { queues: [{ name: "a", limit: 1 }, { name: "b" }], kept: [1, 2] };
  const after = { queues: [{ name: "a", limit: 2 }, { name: "b" }, { name: "c" }], kept: [1, 2], "a/b": null };
  const expected = ["", "/queues/a/limit", "- 1", "+ 2", "", "/queues/2", '+ { "name": "c" }', "", "/a~1b", "+ null"];
  expect(differences("", before, after)).toEqual(expected);
});
