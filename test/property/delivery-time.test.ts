import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createDeliveryTimes } from "../../src/brokers/rabbitmq/run/amqp-1-0/delivery-time.ts";
import { type Jumps, playRetries } from "../support/delivery-world.ts";
import { drawBy } from "../support/bad-inputs/draw.ts";
import { forAll } from "../support/for-all.ts";

const offsetMs = fc.double({ min: -7_000, max: 7_000, noNaN: true });
const steady = offsetMs.map((offset): Jumps => [{ fromMs: 0, offsetMs: offset }]);
const jumping = fc
  .tuple(offsetMs, fc.array(fc.record({ fromMs: fc.integer({ min: 1, max: 60_000 }), offsetMs }), { maxLength: 3 }))
  .map(([first, later]): Jumps => [
    { fromMs: 0, offsetMs: first },
    ...later.toSorted((one, other) => one.fromMs - other.fromMs),
  ]);
const delayMs = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 50, max: 20_000 }));
const delaysMs = fc.array(delayMs, { minLength: 1, maxLength: 12 });
const latencyMs = fc.double({ min: 0.2, max: 60, noNaN: true });
const seed = fc.integer({ min: 1, max: 2 ** 31 });

describe("times of delivery", () => {
  test("one process: no retry is early, even if the clocks of consumer and broker jump", () => {
    forAll(100, [jumping, jumping, delaysMs, latencyMs, seed], (broker, wall, delays, latency, from) => {
      const world = { broker, wall, processes: 1, delaysMs: delays, latencyMs: latency, draw: drawBy(from) };
      const jumpsMs = [...broker, ...wall].reduce((sum, { offsetMs: offset }) => sum + Math.abs(offset), 0);
      const most = 4 * jumpsMs + 4 * latency + 20;
      for (const { lateMs, sentBack } of playRetries(world)) {
        expect(lateMs).toBeGreaterThanOrEqual(0);
        expect(lateMs).toBeLessThanOrEqual(most);
        expect(sentBack).toBeLessThan(60);
      }
    });
  });

  test("several processes with one wall clock: no retry is early, even if another node's clock counts", () => {
    forAll(100, [jumping, steady, delaysMs, latencyMs, seed], (broker, wall, delays, latency, from) => {
      const world = { broker, wall, processes: 3, delaysMs: delays, latencyMs: latency, draw: drawBy(from) };
      for (const { lateMs } of playRetries(world)) expect(lateMs).toBeGreaterThanOrEqual(0);
    });
  });

  test("a clock that is 5 s behind and set right during the delay makes no retry early", () => {
    const broker = [{ fromMs: 0, offsetMs: 0 }];
    const wall = [
      { fromMs: 0, offsetMs: -5_000 },
      { fromMs: 3_000, offsetMs: 0 },
    ];
    const world = { broker, wall, processes: 1, delaysMs: [10_000], latencyMs: 5, draw: drawBy(1) };
    const [retry] = playRetries(world);
    expect(retry?.sentBack).toBe(1);
    expect(retry?.lateMs).toBeGreaterThanOrEqual(0);
  });

  test("a retry that waited and was early is measured exactly, and comes again on time", () => {
    const [broker, wall] = [5_000, 0].map((offset): Jumps => [{ fromMs: 0, offsetMs: offset }]) as [Jumps, Jumps];
    const world = { broker, wall, processes: 1, delaysMs: [10_000], latencyMs: 5, draw: drawBy(1) };
    const [retry] = playRetries(world);
    expect(retry?.sentBack).toBe(1);
    expect(retry?.lateMs).toBeLessThan(20);
  });

  test("many retries that come too early at once show no more than one of them", () => {
    const clock = { nowMs: 0 };
    const wallMs = (): number => Math.floor(1_800_000_000_000 + clock.nowMs);
    const times = createDeliveryTimes({ monotonicMs: () => clock.nowMs, wallMs, self: "p" });
    const failed = Array.from({ length: 100 }, () => times.after(1_000));
    clock.nowMs = 2;
    for (const each of failed) expect(times.restMs(each)).toBeCloseTo(998, -1);
    expect(times.after(0)["x-opt-delivery-time"] - wallMs()).toBeLessThan(2_100);
  });

  test("a process whose clock is behind its sibling's holds a retry back for its delay at most", () => {
    const sibling = createDeliveryTimes({ monotonicMs: () => 0, wallMs: () => 1_800_000_005_000, self: "q" });
    const times = createDeliveryTimes({ monotonicMs: () => 0, wallMs: () => 1_800_000_000_000, self: "p" });
    expect(times.restMs(sibling.after(50))).toBe(50);
  });

  test("a retry is on time once its consumer has measured the broker's clock", () => {
    forAll(100, [steady, latencyMs, seed], (broker, latency, from) => {
      const wall = [{ fromMs: 0, offsetMs: 0 }];
      const delays = Array.from({ length: 60 }, () => 1_000);
      const world = { broker, wall, processes: 1, delaysMs: delays, latencyMs: latency, draw: drawBy(from) };
      for (const { lateMs } of playRetries(world).slice(30)) expect(lateMs).toBeLessThan(110 + 2 * latency);
    });
  });

  test("without a delay the time has passed already", () => {
    const times = createDeliveryTimes({ monotonicMs: () => 5.7, wallMs: () => 1_000, self: "p" });
    const immediate = times.after(0);
    expect(immediate["x-opt-delivery-time"]).toBe(1_000);
    expect(times.restMs(immediate)).toBe(0);
  });

  test("delays in fractions of a millisecond are rounded up", () => {
    forAll(
      100,
      [fc.double({ min: 0.001, max: 1e6, noNaN: true }), fc.double({ min: 0, max: 0.999, noNaN: true })],
      (delay, part) => {
        const wallMs = 1_800_000_000_000;
        const times = createDeliveryTimes({ monotonicMs: () => 5 + part, wallMs: () => wallMs, self: "p" });
        const time = times.after(delay)["x-opt-delivery-time"];
        expect(Number.isInteger(time)).toBe(true);
        expect(time).toBeGreaterThanOrEqual(wallMs + part + delay);
        expect(time).toBeLessThan(wallMs + delay + 2);
      },
    );
  });

  test.each([
    ["no annotation of a consumer", {}],
    ["a time of a publisher", { "x-opt-delivery-time": 9e15 }],
    ["a text that is none of ours", { "x-opt-delivery-time": 9e15, "x-opt-redeliver-wait": "soon" }],
    ["a time that is no number", { "x-opt-delivery-time": "later", "x-opt-redeliver-wait": "p 9000000 9e15 5" }],
  ])("%s delays nothing and measures nothing", (_, annotations) => {
    const times = createDeliveryTimes({ monotonicMs: () => 5, wallMs: () => 1_000, self: "p" });
    expect(times.restMs(annotations)).toBe(0);
    expect(times.after(10)["x-opt-delivery-time"]).toBe(1_011);
  });
});
