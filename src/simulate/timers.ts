/**
 * The timers of a simulation, in order of time. Of timers for the same time, the one that was set first comes first. This
 * is a heap with four children to a node, in typed arrays. So setting and taking a timer allocates nothing.
 */
export type Timers = ReturnType<typeof createTimers>;

function columnsOf(capacity: number) {
  return {
    atUs: new Float64Array(capacity),
    numbers: new Float64Array(capacity),
    kinds: new Uint8Array(capacity),
    subjects: new Int32Array(capacity),
  };
}

export function createTimers() {
  // `count` is the number of timers ever set, which is the number of the next one.
  return { size: 0, count: 0, ...columnsOf(1_024) };
}

/**
 * Sets a timer.
 *
 * @param kind the kind of event, a number from 0 to 255
 * @param subject the receiver of the event
 * @returns the timer's number. A subject that remembers it can recognise a timer that is no longer valid
 */
export function setTimer(timers: Timers, atUs: number, kind: number, subject: number): number {
  if (timers.size === timers.atUs.length) grow(timers);
  const number = timers.count++;
  let index = timers.size++;
  while (index > 0) {
    const parent = (index - 1) >> 2;
    // A later timer has a higher number, so it stays behind timers of the same time.
    if ((timers.atUs[parent] as number) <= atUs) break;
    move(timers, parent, index);
    index = parent;
  }
  place(timers, index, atUs, number, kind, subject);
  return number;
}

/** Removes the first timer. Read index 0 of each array before, if you need its values. */
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
  Object.assign(timers, widened<ReturnType<typeof columnsOf>>(timers, columnsOf(timers.atUs.length * 2)));
}

type Numbers = Float64Array | Int32Array | Uint8Array;

/** Copies columns to the start of longer ones. */
export function widened<Table extends Readonly<Record<string, Numbers>>>(table: Table, wider: Table): Table {
  for (const [name, column] of Object.entries(wider)) column.set(table[name] as Numbers);
  return wider;
}
