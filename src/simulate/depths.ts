import type { QueueDepth } from "./result.ts";

/**
 * How many messages are in each queue, and the most of them in each of at most so many stretches of time. Where the run gets
 * longer than they reach, two stretches become one, so that neither memory nor output grows with the length of a run.
 */
export interface Depths {
  readonly queues: readonly string[];
  readonly now: Int32Array;
  readonly most: Int32Array;
  readonly mostAtUs: Float64Array;
  /** Per queue a row of stretches with the most of each. */
  readonly rows: Int32Array;
  readonly stretches: number;
  stretchUs: number;
  /** The stretch that the clock is in, and where it ends. */
  current: number;
  endUs: number;
}

/** The samples of all queues together, which bounds the memory and the output. */
const mostSamples = 4_000_000;

export function createDepths(queues: readonly string[], durationUs: number): Depths {
  let stretches = 512;
  while (stretches > 32 && stretches * queues.length > mostSamples) stretches /= 2;
  const stretchUs = Math.max(1_000, Math.ceil(durationUs / (stretches / 2) / 1_000_000) * 1_000_000);
  return {
    queues,
    now: new Int32Array(queues.length),
    most: new Int32Array(queues.length),
    mostAtUs: new Float64Array(queues.length),
    rows: new Int32Array(queues.length * stretches),
    stretches,
    stretchUs,
    current: 0,
    endUs: stretchUs,
  };
}

/** Sets the clock: the stretches up to then have had at least what is in the queues now. */
export function advanceDepths(depths: Depths, atUs: number): void {
  while (atUs >= depths.endUs) {
    if (depths.current === depths.stretches - 1) halve(depths);
    else depths.current++;
    depths.endUs = (depths.current + 1) * depths.stretchUs;
    for (let queue = 0; queue < depths.now.length; queue++) {
      const cell = queue * depths.stretches + depths.current;
      depths.rows[cell] = Math.max(depths.rows[cell] as number, depths.now[queue] as number);
    }
  }
}

/** Two stretches become one, and the clock is in the first one of the free half, or still in the last one that is taken. */
function halve(depths: Depths): void {
  const { rows, stretches } = depths;
  for (let queue = 0; queue < depths.now.length; queue++) {
    const first = queue * stretches;
    for (let index = 0; index < stretches / 2; index++) {
      const pair = first + 2 * index;
      rows[first + index] = Math.max(rows[pair] as number, rows[pair + 1] as number);
    }
    rows.fill(0, first + stretches / 2, first + stretches);
  }
  depths.stretchUs *= 2;
  depths.current = stretches / 2;
}

export function addToQueue(depths: Depths, queue: number, atUs: number): void {
  const depth = (depths.now[queue] as number) + 1;
  depths.now[queue] = depth;
  const cell = queue * depths.stretches + depths.current;
  if (depth <= (depths.rows[cell] as number)) return;
  depths.rows[cell] = depth;
  if (depth <= (depths.most[queue] as number)) return;
  depths.most[queue] = depth;
  depths.mostAtUs[queue] = atUs;
}

export function takeFromQueue(depths: Depths, queue: number): void {
  depths.now[queue] = (depths.now[queue] as number) - 1;
}

export function depthsOf({ queues, now, most, mostAtUs, rows, stretches, current }: Depths): QueueDepth[] {
  return queues.map((queue, index) => ({
    queue,
    most: most[index] as number,
    mostAtMs: (mostAtUs[index] as number) / 1_000,
    atEnd: now[index] as number,
    mostPerStretch: Array.from(rows.subarray(index * stretches, index * stretches + current + 1)),
  }));
}
