import { drawBits } from "./draw.ts";
import type { Percentiles } from "./result.ts";

/**
 * The values for percentiles. Up to a million are kept, and the percentiles are exact. Of more values an even sample of
 * a million is kept (Vitter's algorithm R). Its 99th percentile lies between the exact 98.97th and 99.03th. The largest
 * value is always exact.
 */
export type Samples = ReturnType<typeof createSamples>;

export const keptSamples = 1_000_000;

export function createSamples(key: number) {
  return { key, count: 0, most: 0, values: new Float64Array(64) };
}

export function addSample(samples: Samples, value: number): void {
  const index = samples.count++;
  if (value > samples.most) samples.most = value;
  if (index < keptSamples) {
    if (index === samples.values.length) {
      const wider = new Float64Array(Math.min(keptSamples, index * 2));
      wider.set(samples.values);
      samples.values = wider;
    }
    samples.values[index] = value;
    return;
  }
  const place = Math.floor((drawBits(samples.key, index, 0) / 0x1_0000_0000) * samples.count);
  if (place < keptSamples) samples.values[place] = value;
}

/** The percentiles of durations given in microseconds; null without any value. */
export function percentilesOf({ values, count, most }: Samples): Percentiles | null {
  const kept = Math.min(count, keptSamples);
  if (kept === 0) return null;
  const sorted = values.slice(0, kept).sort();
  // The nearest rank: the least value that this percentage of all values does not exceed.
  const at = (percent: number): number => (sorted[Math.ceil((percent / 100) * kept) - 1] as number) / 1_000;
  return { isExact: count === kept, p50Ms: at(50), p90Ms: at(90), p99Ms: at(99), maxMs: most / 1_000 };
}
