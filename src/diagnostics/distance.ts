import { distance as levenshtein } from "fastest-levenshtein";

/** A longer text is no misspelt word. The time grows with the product of the lengths. */
const longestWord = 100;

/** The number of edits between two words. A small number suggests a misspelling. */
export function distance(word: string, other: string): number {
  return levenshtein(word.slice(0, longestWord), other.slice(0, longestWord));
}

/** A file may have thousands of mistakes, and each is compared with all words. */
const mostWords = 200;

/** The nearest allowed word. Undefined if none is near: a misspelled word keeps more than half of its letters. */
export function nearestWord(value: unknown, allowed: readonly string[]): string | undefined {
  if (typeof value !== "string" || value.length > longestWord || allowed.length > mostWords) return undefined;
  const [first] = allowed
    .map((each) => ({ each, edits: distance(each.toLowerCase(), value.toLowerCase()) }))
    .toSorted((left, right) => left.edits - right.edits);
  return first !== undefined && first.edits <= Math.min(3, value.length / 2) ? first.each : undefined;
}

/** Asks whether the user meant the nearest allowed word. Undefined if none is near. */
export function nearest(value: unknown, allowed: readonly string[]): string | undefined {
  const word = nearestWord(value, allowed);
  return word === undefined ? undefined : `did you mean ${word}?`;
}
