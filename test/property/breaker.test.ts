import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { ConsumeEvent } from "redeliver/consume";

import { type Breaker, createBreaker } from "../../src/consume/breaker.ts";
import { prepare } from "../../src/consume/consume.ts";
import { runConsumer } from "../../src/consume/run-consumer.ts";
import { rules } from "../support/breaker/rules.ts";
import { simulate } from "../support/breaker/simulate.ts";
import { createScriptedBroker } from "../support/consume/scripted-adapter.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

interface Outcome {
  readonly attempt: number;
  readonly isFailure: boolean;
}

const outcome: fc.Arbitrary<Outcome> = fc.record({
  attempt: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 1_000 })),
  isFailure: fc.boolean(),
});
const history = fc.array(outcome, { maxLength: 60 });
const failuresOption = fc.integer({ min: 1, max: 30 });

function breakerOf(failures: number): Breaker {
  return createBreaker({ failures, firstPauseMs: 100, longestPauseMs: 1_000 });
}

function heard(breaker: Breaker, { attempt, isFailure }: Outcome): number | null {
  if (isFailure) return breaker.failed(attempt);
  breaker.succeeded(attempt);
  return null;
}

const first = (isFailure: boolean): Outcome => ({ attempt: 1, isFailure });

describe("the breaker", () => {
  test("finds an outage after this many first attempts, with any history and any later success of their messages", () => {
    forAll(100, [history, failuresOption], (before, failures) => {
      const breaker = breakerOf(failures);
      const wasFound = before.some((each) => heard(breaker, each) !== null);
      const isFound = Array.from({ length: failures }, () => breaker.failed(1)).some((pause) => pause !== null);
      expect(wasFound || isFound).toBe(true);
    });
  });

  test("needs at least eight times as many failures if they are retries, with any number of their messages", () => {
    forAll(100, [failuresOption, fc.infiniteStream(fc.constantFrom(2, 2, 2, 3, 9))], (failures, attempts) => {
      const breaker = breakerOf(failures);
      const pauses = [...attempts.take(8 * failures - 1)].map((attempt) => breaker.failed(attempt));
      expect(pauses.filter((pause) => pause !== null)).toEqual([]);
    });
  });

  test("finds no outage if one of any five first attempts in a row succeeds", () => {
    forAll(100, [fc.array(fc.integer({ min: 0, max: 4 })), fc.integer({ min: 5, max: 30 })], (rows, failures) => {
      const breaker = breakerOf(failures);
      const outcomes = rows.flatMap((row) => [...Array.from({ length: row }, () => first(true)), first(false)]);
      expect(outcomes.every((each) => heard(breaker, each) === null)).toBe(true);
    });
  });

  test("finds an outage if nine of ten attempts fail, a failure first", () => {
    const breaker = breakerOf(10);
    const outcomes = Array.from({ length: 30 }, (_, index) => first(index % 10 !== 9));
    expect(outcomes.findIndex((each) => heard(breaker, each) !== null)).toBeLessThan(20);
  });

  test("has a suspicion of at most 1, pauses at 1, and tries at most three messages before the next, longer pause", () => {
    forAll(100, [history, failuresOption], (outcomes, failures) => {
      const breaker = breakerOf(failures);
      /** The failures since the last pause, and the length of that pause. Null while there is no outage. */
      let trying = null as { readonly inVain: readonly number[]; readonly lastMs: number } | null;
      for (const each of outcomes) {
        const pause = heard(breaker, each);
        expect(breaker.suspicion()).toBeGreaterThanOrEqual(0);
        expect(breaker.suspicion()).toBeLessThanOrEqual(1);
        if (breaker.suspicion() > 0) expect(breaker.failures()).toBeGreaterThan(0);
        if (pause !== null) expect(breaker.suspicion()).toBe(1);
        if (!each.isFailure) trying = null;
        else if (trying === null) {
          if (pause !== null) expect(pause).toBe(100);
          trying = pause === null ? null : { inVain: [], lastMs: pause };
        } else {
          const inVain = [...trying.inVain, each.attempt];
          const weights = inVain.map((attempt) => 1 / 8 ** (attempt - 1));
          expect(pause !== null).toBe(inVain.length === 3 || weights.some((weight) => weight === 1));
          if (pause !== null) expect(pause).toBe(Math.min(1_000, 2 * trying.lastMs));
          trying = pause === null ? { ...trying, inVain } : { inVain: [], lastMs: pause };
        }
      }
    });
  });

  test("is as sure after a success in a trial as after any other, so it finds half an outage again soon", () => {
    const breaker = breakerOf(10);
    for (let count = 0; count < 10; count++) breaker.failed(1);
    breaker.succeeded(1);
    expect([breaker.suspicion(), breaker.failures()]).toEqual([0.6, 10]);
    expect([1, 1, 1, 1].map((attempt) => breaker.failed(attempt))).toEqual([null, null, null, 100]);
    for (let count = 0; count < 3; count++) breaker.succeeded(1);
    expect([breaker.suspicion(), breaker.failures()]).toEqual([0, 0]);
  });

  test("finds nothing without limits", () => {
    const breaker = createBreaker(null);
    expect(Array.from({ length: 100 }, () => breaker.failed(1)).every((pause) => pause === null)).toBe(true);
    expect([breaker.suspicion(), breaker.failures()]).toEqual([0, 0]);
  });
});

describe("the simulation of docs/breaker.md", () => {
  const calm = { arrivalsPerSecond: 20, poison: 0.2, flaky: 0, outage: null, cutOffForMs: 0, backlog: 0 };

  test("retries that are due together are a row of failures, and no evidence of an outage", () => {
    const [row, evidence] = [rules.row(), rules.evidence()].map((rule) =>
      simulate({ ...calm, cutOffForMs: 60_000 }, rule, 7),
    );
    expect(row?.longestForNothingMs).toBeGreaterThan(60_000);
    expect(evidence?.longestForNothingMs).toBe(0);
  });

  test("an outage that would kill thousands of messages kills none", () => {
    const outage = { share: 1, forMs: 600_000 };
    const [none, evidence] = [rules.none(), rules.evidence()].map((rule) => simulate({ ...calm, outage }, rule, 7));
    expect(none?.diedWell).toBeGreaterThan(1_000);
    expect(evidence?.diedWell).toBe(0);
    expect(evidence?.foundAfterMs).toBeLessThan(2_000);
  });
});

describe("a consumer in an outage", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("tries the lowest attempt in hand, and after failures up to three messages", async () => {
    const script = { opens: [], settles: [], resumes: [], pauses: [], closes: [], unstarted: "hold" as const };
    const broker = createScriptedBroker(script);
    const events: ConsumeEvent[] = [];
    const runs: string[] = [];
    let isOut = true;
    const { settings, compiled, contract } = accepted(
      prepare(checked(oneConsumer()), "billing", {
        target: { broker: "rabbitmq", version: "4.3" },
        connection: { url: "amqp://localhost" },
        concurrency: 4,
        breaker: { failures: 1, firstPause: "1s", longestPause: "1m" },
        log: (event: ConsumeEvent) => void events.push(event),
      }),
    );
    const opening = { compiled, contract, connection: { url: "amqp://localhost" } } as never;
    const starting = runConsumer({
      adapter: broker.adapter,
      opening,
      settings,
      handler: async ({ id }) => {
        runs.push(String(id));
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (isOut) throw new Error("the database is away");
      },
    });
    await vi.advanceTimersByTimeAsync(10);
    const running = await starting;
    broker.deliver("a1", 1);
    await vi.advanceTimersByTimeAsync(500);
    expect(running.health()).toMatchObject({ state: "paused", suspicion: 1 });
    await vi.advanceTimersByTimeAsync(600);
    for (const [id, attempt] of Object.entries({ b1: 1, b4: 4, b3: 3, b2: 2 })) broker.deliver(id, attempt);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toEqual(["a1", "b1"]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(runs).toEqual(["a1", "b1", "b2", "b3", "b4"]);
    isOut = false;
    await vi.advanceTimersByTimeAsync(4_000);
    broker.deliver("c1", 1);
    await vi.advanceTimersByTimeAsync(100);
    expect(running.health()).toMatchObject({ state: "running", suspicion: 0 });
    const pauses = events.flatMap((event) => (event.kind === "paused" ? [[event.forMs, event.failures]] : []));
    expect(pauses).toEqual([
      [1_000, 1],
      [2_000, 2],
      [4_000, 5],
    ]);
    const stopping = running.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    await stopping;
    expect(broker.breaches).toEqual([]);
  });
});
