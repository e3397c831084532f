const mark = " … [cut]";
const encoder = new TextEncoder();

/** How many bytes a text has in UTF-8, which is how brokers count. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/**
 * A text of so many bytes at most, with a mark where something was left out, and never ending in half of a character.
 *
 * @param maxBytes at least the 10 bytes of the mark
 */
export function cut(text: string, maxBytes: number): string {
  // A lone half of a surrogate pair cannot be written in UTF-8.
  const wellFormed = text.toWellFormed();
  if (byteLength(wellFormed) <= maxBytes) return wellFormed;
  // What fits is found without encoding the rest, which may be megabytes.
  const { read } = encoder.encodeInto(wellFormed, new Uint8Array(maxBytes - byteLength(mark)));
  return `${wellFormed.slice(0, read)}${mark}`;
}
