import type { QueueDepth } from "./result.ts";

/**
 * The number of messages in each queue, and the largest number in each stretch of time. A run has a limited number of
 * stretches. When it gets longer, two stretches become one, so neither memory nor output grows with the length of a
 * run.
 */
export type Depths = ReturnType<typeof createDepths>;

/** The samples of all queues together. This bounds the memory and the output. */
const mostSamples = 4_000_000;

export function createDepths(queues: readonly string[], durationUs: number) {
  let stretches = 512;
  while (stretches > 32 && stretches * queues.length > mostSamples) stretches /= 2;
  const stretchUs = Math.max(1_000, Math.ceil(durationUs / (stretches / 2) / 1_000_000) * 1_000_000);
  return {
    queues,
    now: new Int32Array(queues.length),
    most: new Int32Array(queues.length),
    mostAtUs: new Float64Array(queues.length),
    /** For each queue, a row with the largest number of each stretch. */
    rows: new Int32Array(queues.length * stretches),
    stretches,
    stretchUs,
    /** The current stretch, and its end. */
    current: 0,
    endUs: stretchUs,
  };
}

/** Sets the clock. Each stretch up to then starts with the present depth of the queues. */
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

/** Merges each two stretches into one. The clock is then in the first stretch of the free half. */
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
