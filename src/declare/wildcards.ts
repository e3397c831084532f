/** Stands for any one character. */
export const anyOne: unique symbol = Symbol("any one character");
/** Stands for any number of characters. */
export const anyRun: unique symbol = Symbol("any number of characters");

/** A pattern, piece by piece: a character that stands for itself, or one of the two symbols. */
export type Wildcards = readonly (string | typeof anyOne | typeof anyRun)[];

/**
 * Tells if a text fits a pattern. The time is at most the product of the two lengths. A regular expression with many
 * wildcards could take far longer, and the engine refuses very long ones.
 */
export function fitsWildcards(pattern: Wildcards, text: string): boolean {
  const characters = [...text];
  let at = 0;
  let piece = 0;
  /** The piece after the last run, and the end of the text that the run takes so far. */
  let back: { readonly piece: number; at: number } | null = null;
  while (at < characters.length) {
    const wanted = pattern[piece];
    if (wanted === anyRun) {
      piece += 1;
      back = { piece, at };
    } else if (wanted === anyOne || wanted === characters[at]) {
      piece += 1;
      at += 1;
    } else {
      if (back === null) return false;
      back.at += 1;
      ({ piece, at } = back);
    }
  }
  return pattern.slice(piece).every((each) => each === anyRun);
}
