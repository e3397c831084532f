import { expect, test } from "vitest";

import { undocumented } from "../support/undocumented.ts";

// Most of the rest are tags and ranges in unions, which the type around them explains.
test("the properties that a user can name have docstrings, but for a number that only falls", () => {
  const left = undocumented();
  expect(left.length, left.join("\n")).toBe(85);
});
