/** A line of waiting copies, linked through `next` of the copies. −1 for no copy. */
export interface Line {
  first: number;
  last: number;
}

export function createLine(): Line {
  return { first: -1, last: -1 };
}

/** Puts a copy at the end of a line. */
export function append(line: Line, next: Int32Array, slot: number): void {
  next[slot] = -1;
  if (line.last === -1) line.first = slot;
  else next[line.last] = slot;
  line.last = slot;
}

/** Takes the first copy out of a line; −1 if it is empty. */
export function takeFirst(line: Line, next: Int32Array): number {
  const slot = line.first;
  if (slot === -1) return -1;
  line.first = next[slot] as number;
  if (line.first === -1) line.last = -1;
  return slot;
}
