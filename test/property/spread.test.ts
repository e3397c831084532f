import fc from "fast-check";
import { expect, test } from "vitest";

import { mostWaits, spreadWaits } from "../../src/brokers/rabbitmq/compile/spread.ts";
import { forAll } from "../support/for-all.ts";

const anyRange = fc.tuple(fc.nat(31_536_000_000), fc.nat(100)).map(([delayMs, percent]) => ({
  delayMs,
  delayLatestMs: delayMs + Math.floor((delayMs * percent) / 100),
}));
const shortRange = fc
  .tuple(fc.nat(1_000), fc.nat(300))
  .map(([delayMs, rangeMs]) => ({ delayMs, delayLatestMs: delayMs + rangeMs }));

test("the waits of jitter go in equal steps from the delay to the delay with all of its jitter", () => {
  forAll(2_000, [fc.oneof(anyRange, shortRange)], ({ delayMs, delayLatestMs }) => {
    const waits = spreadWaits({ delayMs, delayLatestMs });
    expect([waits[0], waits.at(-1)]).toEqual([delayMs, delayLatestMs]);
    expect(waits.length).toBeLessThanOrEqual(mostWaits);
    if (delayLatestMs === delayMs) return;
    const steps = waits.slice(1).map((wait, index) => wait - (waits[index] ?? 0));
    const evenMs = (delayLatestMs - delayMs) / steps.length;
    for (const stepMs of steps) {
      expect(stepMs).toBeGreaterThan(0);
      expect(Math.abs(stepMs - evenMs)).toBeLessThanOrEqual(1);
    }
    // There are fewer only if they would be closer together than 10 ms.
    expect(waits.length === mostWaits || (delayLatestMs - delayMs) / waits.length < 10).toBe(true);
  });
});
