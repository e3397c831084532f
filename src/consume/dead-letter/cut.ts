const mark = " … [cut]";
const encoder = new TextEncoder();

/**
 * Cuts a text to this many bytes of UTF-8, with a mark where a part is missing. It never splits a character.
 *
 * @param maxBytes at least the 10 bytes of the mark
 */
export function cut(text: string, maxBytes: number): string {
  // A lone half of a surrogate pair cannot be written in UTF-8.
  const wellFormed = text.toWellFormed();
  if (Buffer.byteLength(wellFormed) <= maxBytes) return wellFormed;
  // Finds the part that fits without encoding the rest, which may be megabytes.
  const { read } = encoder.encodeInto(wellFormed, new Uint8Array(maxBytes - Buffer.byteLength(mark)));
  return `${wellFormed.slice(0, read)}${mark}`;
}
