import fc from "fast-check";
import { expect, test } from "vitest";

import { anyOne, anyRun, fitsWildcards, type Wildcards } from "../../src/declare/wildcards.ts";
import { forAll } from "../support/for-all.ts";

const piece = fc.constantFrom<Wildcards[number]>("a", "b", "😀", ".", anyOne, anyRun);
const text = fc.array(fc.constantFrom("a", "b", "😀", "."), { maxLength: 8 }).map((characters) => characters.join(""));

/** The same pattern as a regular expression, which is slow for some patterns and right for all. */
function expressionOf(pattern: Wildcards): RegExp {
  const parts = pattern.map((each) => (each === anyOne ? "." : each === anyRun ? ".*" : each === "." ? "\\." : each));
  return new RegExp(`^${parts.join("")}$`, "su");
}

test("a text fits a pattern exactly if it matches the regular expression", () => {
  forAll(2_000, [fc.array(piece, { maxLength: 8 }), text], (pattern, given) => {
    expect(fitsWildcards(pattern, given)).toBe(expressionOf(pattern).test(given));
  });
});

test("a pattern that would keep a regular expression busy for ever ends quickly", () => {
  const pattern = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? anyRun : "a"));
  expect(fitsWildcards([...pattern, "b"], "a".repeat(5_000))).toBe(false);
});
