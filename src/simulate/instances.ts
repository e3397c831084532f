import { createLines } from "./lines.ts";
import { startsOf } from "./message-graph.ts";
import type { ConsumerScenario } from "./scenario.ts";

/**
 * The instances of all consumers, numbered through: the messages that each holds, and the instances that can take one.
 */
export type Instances = Readonly<ReturnType<typeof emptyInstances>>;

function emptyInstances(consumers: readonly ConsumerScenario[]) {
  const owners = consumers.flatMap(({ instances }, index) => Array.from({ length: instances }, () => index));
  const count = owners.length;
  const of = (read: (consumer: ConsumerScenario) => number): Int32Array =>
    Int32Array.from(owners, (owner) => read(consumers[owner] as ConsumerScenario));
  const prefetch = of((each) => each.prefetch);
  const firstHeld = startsOf(prefetch);
  return {
    /** For each consumer, its first instance. The next entry is the end of its instances. */
    first: startsOf(consumers.map(({ instances }) => instances)),
    consumers: Int32Array.from(owners),
    prefetch,
    concurrency: of((each) => each.concurrency),
    /** For each instance: its messages, from `firstHeld` on, and the number that a handler has begun with. */
    firstHeld,
    held: new Int32Array(count),
    slots: new Int32Array(firstHeld[count] as number),
    begun: new Int32Array(count),
    /** The messages that an instance holds and has not begun with, in the order of their deliveries. */
    waiting: createLines(count),
    /** 1 during the restart after a crash. */
    isAway: new Uint8Array(count),
    /** For each consumer, a ring of instances that can take a message. The broker serves them in turn. */
    ring: new Int32Array(count),
    ringStart: new Int32Array(consumers.length),
    ringSize: new Int32Array(consumers.length),
    isInRing: new Uint8Array(count),
  };
}

export function createInstances(consumers: readonly ConsumerScenario[]): Instances {
  const instances = emptyInstances(consumers);
  for (const instance of instances.consumers.keys()) offer(instances, instance);
  return instances;
}

/** Puts an instance at the end of the ring, if it can take a message and is not there yet. */
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

/** Takes the next instance that can take a message out of the ring; −1 if there is none. */
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
    // It may have crashed after it entered the ring.
    if (isAway[instance] === 0) return instance;
  }
  return -1;
}

export function hold(instances: Instances, instance: number, slot: number, positions: Int32Array): void {
  const { firstHeld, held, slots } = instances;
  const position = held[instance] as number;
  slots[(firstHeld[instance] as number) + position] = slot;
  positions[slot] = position;
  held[instance] = position + 1;
}

/** Takes a message from an instance. The last message that it holds moves into the gap. */
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
