import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { nextArrivalUs } from "../../src/simulate/arrivals.ts";
import { addToQueue, advanceDepths, createDepths, depthsOf, takeFromQueue } from "../../src/simulate/depths.ts";
import { drawBits } from "../../src/simulate/draw.ts";
import { addSample, createSamples, keptSamples, percentilesOf } from "../../src/simulate/samples.ts";
import { createTimers, removeFirst, setTimer } from "../../src/simulate/timers.ts";
import { forAll } from "../support/for-all.ts";
import { scenarioFor } from "../support/simulation.ts";

test.for([
  // The vectors that the authors of Random123 publish, in kat_vectors.
  [0x0000_0000, 0x0000_0000, 0x0000_0000, 0xff1d_ae59],
  [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0x2c3f_628b],
  [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0xdd7c_e038],
])("random numbers equal those of Philox2x32-10: %j", ([message = 0, position = 0, key = 0, bits]) => {
  expect(drawBits(key, message, position)).toBe(bits);
});

test("timers come in order of time, and those of one time in the order of setting", () => {
  forAll(50, [fc.array(fc.nat(50), { maxLength: 3_000 })], (times) => {
    const timers = createTimers();
    for (const [index, atUs] of times.entries()) setTimer(timers, atUs, index % 4, index);
    const sorted = times.map((atUs, index) => [atUs, index % 4, index]).toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
    const taken = times.map(() => {
      const first = [timers.atUs[0], timers.kinds[0], timers.subjects[0]];
      removeFirst(timers);
      return first;
    });
    expect(taken).toEqual(sorted);
    expect(timers.size).toBe(0);
  });
});

test("depths are the maximum of each stretch, however often the stretches are doubled", () => {
  const change = fc.record({ afterUs: fc.nat(40_000_000), isArrival: fc.boolean(), queue: fc.nat(1) });
  forAll(50, [fc.array(change, { maxLength: 2_000 })], (changes) => {
    const depths = createDepths(["one", "two"], 1_000_000);
    const history: { atUs: number; depth: [number, number] }[] = [{ atUs: 0, depth: [0, 0] }];
    let atUs = 0;
    for (const { afterUs, isArrival, queue } of changes) {
      atUs += afterUs;
      const depth: [number, number] = [...(history.at(-1) as (typeof history)[number]).depth];
      advanceDepths(depths, atUs);
      if (isArrival) {
        addToQueue(depths, queue, atUs);
        depth[queue as 0 | 1]++;
      } else if (depth[queue as 0 | 1] > 0) {
        takeFromQueue(depths, queue);
        depth[queue as 0 | 1]--;
      }
      history.push({ atUs, depth });
    }
    for (const [queue, { most, atEnd, mostPerStretch }] of depthsOf(depths).entries()) {
      const depthAt = ({ depth }: (typeof history)[number]): number => depth[queue as 0 | 1];
      expect(atEnd).toBe(depthAt(history.at(-1) as (typeof history)[number]));
      expect(most).toBe(Math.max(...history.map(depthAt)));
      expect(mostPerStretch.length).toBeLessThanOrEqual(512);
      const expected = mostPerStretch.map(() => 0);
      for (const [index, each] of history.entries()) {
        const toUs = history[index + 1]?.atUs ?? atUs;
        const last = Math.floor(toUs / depths.stretchUs);
        for (let stretch = Math.floor(each.atUs / depths.stretchUs); stretch <= last; stretch++) {
          expected[stretch] = Math.max(expected[stretch] ?? 0, depthAt(each));
        }
      }
      expect(mostPerStretch).toEqual(expected);
    }
  });
});

describe("percentiles", () => {
  test("of few values are exact, by the nearest rank", () => {
    const samples = createSamples(1);
    expect(percentilesOf(samples)).toBeNull();
    for (let value = 200; value > 0; value--) addSample(samples, value * 1_000);
    expect(percentilesOf(samples)).toEqual({ isExact: true, p50Ms: 100, p90Ms: 180, p99Ms: 198, maxMs: 200 });
  });

  test("of more than a million come from an even sample, except the largest", () => {
    const samples = createSamples(1);
    const count = 3 * keptSamples;
    for (let value = 1; value <= count; value++) addSample(samples, value * 1_000);
    const percentiles = percentilesOf(samples);
    expect(samples.values.length).toBe(keptSamples);
    expect(percentiles).toMatchObject({ isExact: false, maxMs: count });
    expect((percentiles?.p50Ms ?? 0) / count).toBeCloseTo(0.5, 2);
    expect((percentiles?.p99Ms ?? 0) / count).toBeCloseTo(0.99, 3);
  });
});

test("gaps between arrivals follow the rate, across the phases of a burst", () => {
  const scenario = scenarioFor([{ consumer: "billing" }], {
    duration: "10s",
    everyConsumer: { arrivals: { every: "1s" } },
    events: [
      { kind: "burst", from: "2s", to: "4s", factor: 4 },
      { kind: "burst", from: "6s", to: "8s", factor: 0 },
    ],
  });
  const [billing] = scenario.consumers;
  const next = (fromMs: number, gap = 1): number =>
    billing === undefined ? Number.NaN : nextArrivalUs(billing, 10_000_000, fromMs * 1_000, 0, gap) / 1_000;
  expect([next(0, 0), next(0), next(2_000), next(1_500), next(3_900), next(5_500), next(9_500)]).toEqual([
    0,
    1_000,
    2_250,
    2_125,
    4_600,
    8_500,
    Number.POSITIVE_INFINITY,
  ]);
});
