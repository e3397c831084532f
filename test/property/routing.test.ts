import fc from "fast-check";
import { expect, test } from "vitest";

import { topicIndex } from "../../src/brokers/rabbitmq/prove/topic-index.ts";
import { forAll } from "../support/for-all.ts";

// Compares the index with the definition: a pattern as a regular expression over words, and every key of a small
// alphabet.

const words = ["a", "b", ""];
const keys = ["", ...[1, 2, 3, 4].flatMap((length) => combinations(length))];

function combinations(length: number): string[] {
  const rest = length === 1 ? [[]] : combinations(length - 1).map((key) => key.split("."));
  return rest.flatMap((tail) => words.map((word) => [word, ...tail].join(".")));
}

/** Each word ends with a dot, so that a key without words is the empty text. */
function asExpression(pattern: string): RegExp {
  const parts = wordsIn(pattern).map((word) =>
    word === "#" ? "([^.]*\\.)*" : word === "*" ? "[^.]*\\." : `${word}\\.`,
  );
  return new RegExp(`^${parts.join("")}$`);
}

/** The empty key has no word. */
const wordsIn = (key: string): readonly string[] => (key === "" ? [] : key.split("."));

const isMatched = (pattern: string, key: string): boolean =>
  asExpression(pattern).test(
    wordsIn(key)
      .map((word) => `${word}.`)
      .join(""),
  );

const pattern = fc
  .array(fc.constantFrom("a", "b", "*", "#", ""), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("."));

test("the index finds the patterns that match a key, in their given order", () => {
  forAll(2_000, [fc.array(pattern, { maxLength: 8 }), fc.constantFrom(...keys)], (patterns, key) => {
    const index = topicIndex(patterns.map((each, item) => ({ pattern: each, item })));
    const wanted = patterns.flatMap((each, item) => (isMatched(each, key) ? [item] : []));
    expect(index.match(key)).toEqual(wanted);
  });
});

test("two patterns overlap exactly if some key matches both", () => {
  forAll(300, [fc.array(pattern, { maxLength: 5 }), pattern], (patterns, other) => {
    const index = topicIndex(patterns.map((each, item) => ({ pattern: each, item })));
    // Two patterns of at most three words each never need a key of more than six.
    const wanted = patterns.flatMap((each, item) => (longKeys(each, other) ? [item] : []));
    expect(index.overlap(other)).toEqual(wanted);
  });
});

/** True if both patterns match some key of up to six words. */
function longKeys(left: string, right: string): boolean {
  const [ours, theirs] = [asExpression(left), asExpression(right)];
  const seen = new Set<string>();
  const grow = (key: readonly string[]): boolean => {
    const text = key.map((word) => `${word}.`).join("");
    if (ours.test(text) && theirs.test(text)) return true;
    if (key.length === 6 || seen.has(text)) return false;
    seen.add(text);
    return words.some((word) => grow([...key, word]));
  };
  return grow([]);
}
