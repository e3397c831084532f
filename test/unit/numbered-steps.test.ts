import { expect, test } from "vitest";

import { numberedSteps } from "../../src/diagnostics/numbered-steps.ts";

const steps = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `step ${index}`);

test("a long way has its beginning and its end", () => {
  const lines = numberedSteps(steps(2_003));
  expect([lines.length, lines[11], lines[12], lines[13], lines.at(-1)]).toEqual([
    25,
    "12. step 11",
    "… 1979 more steps",
    "1992. step 1991",
    "2003. step 2002",
  ]);
});

test("a way that fits is whole, and no line stands for a single step", () => {
  for (const count of [0, 24, 25]) expect(numberedSteps(steps(count))).toHaveLength(count);
  expect(numberedSteps(steps(26))).toContain("… 2 more steps");
});
