/**
 * What is due at some later time, soonest first; of things due at the same time the one that was set first. A heap with four
 * children to a node, in typed arrays: setting and taking a timer allocates nothing.
 */
export interface Timers {
  size: number;
  /** How many timers were ever set: the number of the next one. */
  count: number;
  atUs: Float64Array;
  numbers: Float64Array;
  kinds: Uint8Array;
  subjects: Int32Array;
}

export function createTimers(): Timers {
  const capacity = 1_024;
  return {
    size: 0,
    count: 0,
    atUs: new Float64Array(capacity),
    numbers: new Float64Array(capacity),
    kinds: new Uint8Array(capacity),
    subjects: new Int32Array(capacity),
  };
}

/**
 * Sets a timer.
 *
 * @param kind what is due, a number from 0 to 255
 * @param subject for whom
 * @returns the timer's number; a subject that remembers it knows a timer that does not count any more when it comes
 */
export function setTimer(timers: Timers, atUs: number, kind: number, subject: number): number {
  if (timers.size === timers.atUs.length) grow(timers);
  const number = timers.count++;
  let index = timers.size++;
  while (index > 0) {
    const parent = (index - 1) >> 2;
    // A later timer has a higher number, so among equals it stays behind.
    if ((timers.atUs[parent] as number) <= atUs) break;
    move(timers, parent, index);
    index = parent;
  }
  place(timers, index, atUs, number, kind, subject);
  return number;
}

/** Removes the first timer; whoever wants to know what it was reads index 0 of each array before. */
export function removeFirst(timers: Timers): void {
  const last = --timers.size;
  if (last === 0) return;
  const atUs = timers.atUs[last] as number;
  const number = timers.numbers[last] as number;
  let index = 0;
  for (;;) {
    const first = 4 * index + 1;
    if (first >= last) break;
    let least = first;
    const end = Math.min(first + 4, last);
    for (let child = first + 1; child < end; child++) if (isBefore(timers, child, least)) least = child;
    const leastAtUs = timers.atUs[least] as number;
    if (leastAtUs > atUs || (leastAtUs === atUs && (timers.numbers[least] as number) > number)) break;
    move(timers, least, index);
    index = least;
  }
  place(timers, index, atUs, number, timers.kinds[last] as number, timers.subjects[last] as number);
}

function isBefore({ atUs, numbers }: Timers, one: number, other: number): boolean {
  const oneAtUs = atUs[one] as number;
  const otherAtUs = atUs[other] as number;
  return oneAtUs < otherAtUs || (oneAtUs === otherAtUs && (numbers[one] as number) < (numbers[other] as number));
}

function move({ atUs, numbers, kinds, subjects }: Timers, from: number, to: number): void {
  atUs[to] = atUs[from] as number;
  numbers[to] = numbers[from] as number;
  kinds[to] = kinds[from] as number;
  subjects[to] = subjects[from] as number;
}

function place(timers: Timers, index: number, atUs: number, number: number, kind: number, subject: number): void {
  timers.atUs[index] = atUs;
  timers.numbers[index] = number;
  timers.kinds[index] = kind;
  timers.subjects[index] = subject;
}

function grow(timers: Timers): void {
  const capacity = timers.atUs.length * 2;
  timers.atUs = widened(timers.atUs, new Float64Array(capacity));
  timers.numbers = widened(timers.numbers, new Float64Array(capacity));
  timers.kinds = widened(timers.kinds, new Uint8Array(capacity));
  timers.subjects = widened(timers.subjects, new Int32Array(capacity));
}

/** Copies an array to the start of a longer one. */
export function widened<Numbers extends Float64Array | Int32Array | Uint8Array>(
  numbers: Numbers,
  wider: Numbers,
): Numbers {
  wider.set(numbers);
  return wider;
}
