import { describe, expect, test } from "vitest";

import { accountFor, courseOf, type Fates, permanentReason, randomFates } from "../support/random-fates.ts";

const attempts = 3;
/** `m0` succeeds at once and `m1` at its second attempt. `m2` always fails, and `m3` is dead at once. */
const fates: Fates = (id, attempt) => {
  if (id === "m3") return "permanent";
  return id === "m2" || (id === "m1" && attempt < 2) ? "transient" : "success";
};
const ids = ["m0", "m1", "m2", "m3"];
const runs = ids.flatMap((id) => courseOf(fates, id, attempts).map((_, index) => ({ id, attempt: index + 1 })));
const well = ["m0", "m1"];
const letters = [
  { id: "m2", reason: "ATTEMPTS_EXHAUSTED" },
  { id: "m3", reason: permanentReason },
];
const whole = { fates, attempts, ids };

describe("the accounting that the tests of faults use", () => {
  test("accepts messages without a disturbance", () => {
    expect(accountFor(whole, { runs, well, unanswered: [], letters })).toEqual({ wrong: [], disturbed: [] });
  });

  test.for([
    ["a lost message", { runs, well: ["m0"], letters }, "m1 had attempts 1, 2 of transient, success and is lost"],
    [
      "a success that no handler had",
      { runs, well: [...well, "m3"], letters },
      "m3 had attempts 1 of permanent: success",
    ],
    [
      "another's reason",
      { runs, well, letters: [...letters, { id: "m1", reason: permanentReason }] },
      `m1 had attempts 1, 2 of transient, success: ${permanentReason}`,
    ],
    [
      "a letter that says nothing",
      { runs, well, letters: [...letters, { id: "m2", reason: undefined }] },
      "m2 had attempts 1, 2, 3 of transient, transient, transient: no reason",
    ],
    [
      "a stranger",
      { runs, well, letters: [...letters, { id: "m9", reason: permanentReason }] },
      "m9 is dead, and nobody sent it",
    ],
  ] as const)("reports a fault-independent mistake: %s", ([, seen, wrong]) => {
    expect(accountFor(whole, { unanswered: [], ...seen }).wrong).toEqual([wrong]);
  });

  test("accepts a doubled end, a doubled attempt and a death by the fault as disturbed, and nothing else", () => {
    const doubled = [...letters, { id: "m3", reason: permanentReason }, { id: "m1", reason: "CRASH_LIMIT" }];
    const runsAgain = [...runs, { id: "m0", attempt: 2 }];
    expect(accountFor(whole, { runs: runsAgain, well, unanswered: [], letters: doubled })).toEqual({
      wrong: [],
      disturbed: ["m0", "m1", "m3"],
    });
  });

  test("takes a success without an answer as the end of a message only if the message has no other end", () => {
    const unanswered = ["m0", "m1", "m3"];
    expect(accountFor(whole, { runs, well: ["m0"], unanswered, letters: letters.slice(0, 1) })).toEqual({
      wrong: ["m3 had attempts 1 of permanent: success"],
      disturbed: ["m1", "m3"],
    });
  });

  test("draws the same fates from one seed, others from another seed, and every outcome among them", () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `m${index}`);
    const courses = (seed: number): readonly string[] =>
      many.map((id) => courseOf(randomFates(seed), id, attempts).join());
    expect(courses(7)).toEqual(courses(7));
    expect(courses(7)).not.toEqual(courses(8));
    expect(new Set(courses(7)).size).toBe(2 * attempts + 1);
  });
});
