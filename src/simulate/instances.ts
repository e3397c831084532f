import type { Lines } from "./lines.ts";
import { createLines } from "./lines.ts";
import type { ConsumerScenario } from "./scenario.ts";

/** The instances of all consumers, numbered through: what each holds, and which of a consumer's can take a message. */
export interface Instances {
  /** Per consumer its first instance; the next entry is the end of them. */
  readonly first: Int32Array;
  readonly consumers: Int32Array;
  readonly prefetch: Int32Array;
  readonly concurrency: Int32Array;
  /** Per instance: what it holds, from `firstHeld` on, and how many of them a handler has begun with. */
  readonly firstHeld: Int32Array;
  readonly held: Int32Array;
  readonly slots: Int32Array;
  readonly begun: Int32Array;
  /** What an instance holds and has not begun with, in the order of the deliveries. */
  readonly waiting: Lines;
  /** 1 while it restarts after a crash. */
  readonly isAway: Uint8Array;
  /** Per consumer a ring of those that can take one: the broker gives each its turn. */
  readonly ring: Int32Array;
  readonly ringStart: Int32Array;
  readonly ringSize: Int32Array;
  readonly isInRing: Uint8Array;
}

export function createInstances(consumers: readonly ConsumerScenario[]): Instances {
  const first = new Int32Array(consumers.length + 1);
  for (const [index, { instances }] of consumers.entries()) first[index + 1] = (first[index] as number) + instances;
  const count = first[consumers.length] as number;
  const owners = consumers.flatMap(({ instances }, index) => Array.from({ length: instances }, () => index));
  const of = (read: (consumer: ConsumerScenario) => number): Int32Array =>
    Int32Array.from(owners, (owner) => read(consumers[owner] as ConsumerScenario));
  const prefetch = of((each) => each.prefetch);
  const firstHeld = new Int32Array(count + 1);
  for (let index = 0; index < count; index++) {
    firstHeld[index + 1] = (firstHeld[index] as number) + (prefetch[index] as number);
  }
  const instances: Instances = {
    first,
    consumers: Int32Array.from(owners),
    prefetch,
    concurrency: of((each) => each.concurrency),
    firstHeld,
    held: new Int32Array(count),
    slots: new Int32Array(firstHeld[count] as number),
    begun: new Int32Array(count),
    waiting: createLines(count),
    isAway: new Uint8Array(count),
    ring: new Int32Array(count),
    ringStart: new Int32Array(consumers.length),
    ringSize: new Int32Array(consumers.length),
    isInRing: new Uint8Array(count),
  };
  for (let instance = 0; instance < count; instance++) offer(instances, instance);
  return instances;
}

/** Puts an instance at the end of the ring if it can take a message and is not there yet. */
export function offer(instances: Instances, instance: number): void {
  const { consumers, first, held, prefetch, isAway, isInRing, ring, ringStart, ringSize } = instances;
  if (isInRing[instance] === 1 || isAway[instance] === 1) return;
  if ((held[instance] as number) >= (prefetch[instance] as number)) return;
  const consumer = consumers[instance] as number;
  const start = first[consumer] as number;
  const length = (first[consumer + 1] as number) - start;
  const size = ringSize[consumer] as number;
  ring[start + (((ringStart[consumer] as number) + size) % length)] = instance;
  ringSize[consumer] = size + 1;
  isInRing[instance] = 1;
}

/** Takes the next instance that can take a message out of the ring; −1 where there is none. */
export function takeInstance(instances: Instances, consumer: number): number {
  const { first, isAway, isInRing, ring, ringStart, ringSize } = instances;
  const start = first[consumer] as number;
  const length = (first[consumer + 1] as number) - start;
  while ((ringSize[consumer] as number) > 0) {
    const position = ringStart[consumer] as number;
    const instance = ring[start + position] as number;
    ringStart[consumer] = position + 1 === length ? 0 : position + 1;
    ringSize[consumer] = (ringSize[consumer] as number) - 1;
    isInRing[instance] = 0;
    // It may have crashed since it was put there.
    if (isAway[instance] === 0) return instance;
  }
  return -1;
}

/** Gives a message to an instance. */
export function hold(instances: Instances, instance: number, slot: number, positions: Int32Array): void {
  const { firstHeld, held, slots } = instances;
  const position = held[instance] as number;
  slots[(firstHeld[instance] as number) + position] = slot;
  positions[slot] = position;
  held[instance] = position + 1;
}

/** Takes a message from an instance: the last one that it holds moves into its place. */
export function release(instances: Instances, instance: number, slot: number, positions: Int32Array): void {
  const { firstHeld, held, slots } = instances;
  const start = firstHeld[instance] as number;
  const last = (held[instance] as number) - 1;
  const moved = slots[start + last] as number;
  const position = positions[slot] as number;
  slots[start + position] = moved;
  positions[moved] = position;
  held[instance] = last;
}
