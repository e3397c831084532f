/** Lines of waiting copies, linked through `next` of the copies: the first and the last of every line. */
export type Lines = ReturnType<typeof createLines>;

export function createLines(count: number) {
  return { first: new Int32Array(count).fill(-1), last: new Int32Array(count).fill(-1) };
}

/** Puts a copy at the end of a line. */
export function append({ first, last }: Lines, line: number, next: Int32Array, slot: number): void {
  const before = last[line] as number;
  next[slot] = -1;
  if (before === -1) first[line] = slot;
  else next[before] = slot;
  last[line] = slot;
}

/** Takes the first copy out of a line; −1 if it is empty. */
export function takeFirst({ first, last }: Lines, line: number, next: Int32Array): number {
  const slot = first[line] as number;
  if (slot === -1) return -1;
  const after = next[slot] as number;
  first[line] = after;
  if (after === -1) last[line] = -1;
  return slot;
}
