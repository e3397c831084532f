import { describe, expect, test } from "vitest";

import { accountFor, courseOf, type Fates, permanentReason, randomFates } from "../support/random-fates.ts";

const attempts = 3;
/** `m0` ends well, `m1` with its second attempt, `m2` never, `m3` is dead at once. */
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

describe("what the tests of faults account for", () => {
  test("messages that nothing got in the way of", () => {
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
  ] as const)("%s is wrong, whatever the fault was", ([, seen, wrong]) => {
    expect(accountFor(whole, { unanswered: [], ...seen }).wrong).toEqual([wrong]);
  });

  test("a doubled end, a doubled attempt, and a death of the fault are disturbed, and no more than that", () => {
    const doubled = [...letters, { id: "m3", reason: permanentReason }, { id: "m1", reason: "CRASH_LIMIT" }];
    const runsAgain = [...runs, { id: "m0", attempt: 2 }];
    expect(accountFor(whole, { runs: runsAgain, well, unanswered: [], letters: doubled })).toEqual({
      wrong: [],
      disturbed: ["m0", "m1", "m3"],
    });
  });

  test("a success without an answer is the end of a message that has no other, and of no message that had none", () => {
    const unanswered = ["m0", "m1", "m3"];
    expect(accountFor(whole, { runs, well: ["m0"], unanswered, letters: letters.slice(0, 1) })).toEqual({
      wrong: ["m3 had attempts 1 of permanent: success"],
      disturbed: ["m1", "m3"],
    });
  });

  test("a seed gives the same fates again, another one others, and every end is among them", () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `m${index}`);
    const courses = (seed: number): readonly string[] =>
      many.map((id) => courseOf(randomFates(seed), id, attempts).join());
    expect(courses(7)).toEqual(courses(7));
    expect(courses(7)).not.toEqual(courses(8));
    expect(new Set(courses(7)).size).toBe(2 * attempts + 1);
  });
});
