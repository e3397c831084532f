import { type Line, createLine } from "./lines.ts";
import type { ConsumerScenario } from "./scenario.ts";

export interface Instance {
  /** Its number among the instances of all consumers, and that of its consumer. */
  readonly number: number;
  readonly consumer: number;
  /** The messages that it holds, in the order of their deliveries, and the number that a handler has begun with. */
  readonly held: Set<number>;
  begun: number;
  /** The messages that it has not begun with, in the same order. */
  readonly waiting: Line;
  /** True during the restart after a crash. */
  isAway: boolean;
  isInRing: boolean;
}

/** The instances of a consumer. Those that can take a message form a ring, and the broker serves them in turn. */
type Instances = ReturnType<typeof createInstances>;

/** @param first the number of the first instance */
export function createInstances(consumer: number, first: number, { instances: count, prefetch }: ConsumerScenario) {
  const all = Array.from({ length: count }, (_, index): Instance => {
    const waiting = createLine();
    return { number: first + index, consumer, held: new Set(), begun: 0, waiting, isAway: false, isInRing: true };
  });
  return { all, prefetch, ring: [...all], start: 0, size: count };
}

/** Puts an instance at the end of the ring, if it can take a message and is not there yet. */
export function offer(instances: Instances, instance: Instance): void {
  const { prefetch, ring, start, size } = instances;
  if (instance.isInRing || instance.isAway || instance.held.size >= prefetch) return;
  ring[(start + size) % ring.length] = instance;
  instances.size++;
  instance.isInRing = true;
}

/** Takes the next instance that can take a message out of the ring; null if there is none. */
export function takeInstance(instances: Instances): Instance | null {
  while (instances.size > 0) {
    const instance = instances.ring[instances.start] as Instance;
    instances.start = (instances.start + 1) % instances.ring.length;
    instances.size--;
    instance.isInRing = false;
    // It may have crashed after it entered the ring.
    if (!instance.isAway) return instance;
  }
  return null;
}
