import { describe, expect, test } from "vitest";

import type { Model, Situation, Subject } from "../../src/explore/model.ts";
import { simulate, simulateSteps } from "../../src/simulate/simulate.ts";
import { oneConsumer } from "../support/examples.ts";
import { only, scenarioFor, subjectsFor } from "../support/simulation.ts";

const always = { outcomes: { transient: "100%" } };
const never = { outcomes: {} };
const alone = { arrivals: { every: "1h" }, handlingTime: { from: "7ms", to: "7ms" } };

/** Every strategy on RabbitMQ, with a schedule that it can keep. */
const strategies = [
  ["staged", { kind: "exponential", first: "1s", factor: 2, max: "10s" }],
  ["waits", { kind: "exponential", first: "1s", factor: 2, max: "10s" }],
  ["native", { kind: "linear", first: "3s", step: "3s" }],
  ["staged", { kind: "immediate" }],
] as const;

describe("a single message", () => {
  test.for(strategies)("fails on the plan's schedule: %s, %j", ([strategy, backoff]) => {
    const system = oneConsumer({ retry: { attempts: 5, backoff } });
    const { subjects, retry } = subjectsFor(system, "rabbitmq@4.3", strategy);
    const scenario = scenarioFor(subjects, { duration: "1s", everyConsumer: { ...alone, ...always } });
    const { consumers, timeline, isSettled } = simulate(subjects, scenario);
    const begun = timeline?.steps.filter(({ happened }) => happened === "begun");
    expect(begun?.map(({ attempt, atMs }) => [attempt, atMs])).toEqual(
      retry.attempts.map(({ attempt, dueMs }, index) => [attempt, dueMs + 7 * index]),
    );
    expect([timeline?.steps.at(-1)?.queue, isSettled]).toEqual(["shop.billing.dead", true]);
    const result = only(consumers);
    expect(result.deadLettered).toEqual({
      total: 1,
      byAttempt: [{ number: 5, messages: 1 }],
      byCause: [{ cause: "transient", messages: 1 }],
    });
    // Without a declared handler timeout, the plan's worst case leaves the handlers out.
    expect(result.timeToDeadLetter?.maxMs).toBe(retry.worstCaseToDeadLetterMs + 5 * 7);
  });

  test("is dead at once after a permanent failure, and after its crashes", () => {
    const { subjects } = subjectsFor(oneConsumer({ crash: { deliveries: 3 } }), "rabbitmq@4.3", "staged");
    const play = (outcomes: object): ReturnType<typeof only> =>
      only(
        simulate(subjects, scenarioFor(subjects, { duration: "1s", everyConsumer: { ...alone, outcomes } })).consumers,
      );
    const permanent = play({ permanent: "100%" });
    expect([permanent.deliveries, permanent.timeToDeadLetter?.maxMs]).toEqual([1, 7]);
    const crash = play({ crash: "100%" });
    expect([crash.deliveries, crash.crashes, crash.deadLettered.byCause]).toEqual([
      3,
      3,
      [{ cause: "crash", messages: 1 }],
    ]);
    // The only instance is away for ten seconds after each crash.
    expect(crash.timeToDeadLetter?.maxMs).toBe(3 * 7 + 2 * 10_000);
  });

  test("that asks for a delay waits as long as the contract says", () => {
    const retry = { attempts: 2, backoff: { kind: "constant", delay: "1s" }, retryAfter: { max: "1m" } };
    const { subjects } = subjectsFor(oneConsumer({ retry }), "rabbitmq@4.3");
    const input = { duration: "1s", everyConsumer: { ...alone, outcomes: { retryAfter: "100%" } } };
    const { timeline } = simulate(subjects, scenarioFor(subjects, input, true));
    const [first, second] = timeline?.steps.filter(({ happened }) => happened === "begun") ?? [];
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(1_000);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeLessThanOrEqual(60_007);
  });
});

describe("many messages, compared with queueing theory", () => {
  const { subjects } = subjectsFor(oneConsumer(), "rabbitmq@4.3", "staged");

  test.for([
    { instances: 1, concurrency: 1, perSecond: 10 },
    { instances: 2, concurrency: 2, perSecond: 60 },
    { instances: 4, concurrency: 1, perSecond: 30 },
  ])("handlers are busy for arrivals times handling time: %j", ({ instances, concurrency, perSecond }) => {
    const everyConsumer = { arrivals: { perSecond }, instances, concurrency, ...never };
    const { published, utilisation, succeeded } = only(
      simulate(subjects, scenarioFor(subjects, { duration: "1h", everyConsumer })).consumers,
    );
    const expected = perSecond * 3_600;
    expect(Math.abs(published - expected)).toBeLessThan(4 * Math.sqrt(expected));
    expect(succeeded).toBe(published);
    expect(utilisation).toBeCloseTo((perSecond * 0.05) / (instances * concurrency), 2);
  });

  test("the mean time in an M/D/1 queue is that of Pollaczek and Khinchine", () => {
    const everyConsumer = {
      arrivals: { perSecond: 14 },
      prefetch: 1,
      handlingTime: { from: "50ms", to: "50ms" },
      ...never,
    };
    const steps = simulateSteps(subjects, scenarioFor(subjects, { duration: "4h", everyConsumer }));
    const published = steps.filter(({ happened }) => happened === "published");
    const succeeded = steps.filter(({ happened }) => happened === "success");
    const total = (each: typeof steps): number => each.reduce((sum, { atMs }) => sum + atMs, 0);
    const meanMs = (total(succeeded) - total(published)) / published.length;
    const load = 0.7;
    expect(meanMs / (50 + (50 * load) / (2 * (1 - load)))).toBeCloseTo(1, 1);
  });

  test("outcomes come as often as their shares say, and a poison message fails every time", () => {
    const everyConsumer = {
      arrivals: { perSecond: 100 },
      instances: 20,
      outcomes: { transient: "10%", return: "5%" },
      poison: { permanent: "2%", transient: "1%" },
    };
    const { published, runs, outcomes, deadLettered } = only(
      simulate(subjects, scenarioFor(subjects, { duration: "30m", everyConsumer })).consumers,
    );
    const poisoned = 0.03 * published;
    const healthyRuns = runs - 0.02 * published - 5 * 0.01 * published;
    expect((outcomes.transient - 5 * 0.01 * published) / (0.1 * healthyRuns)).toBeCloseTo(1, 1);
    expect(outcomes.return / (0.05 * healthyRuns)).toBeCloseTo(1, 1);
    expect(deadLettered.total / poisoned).toBeCloseTo(1, 1);
  });

  test("another seed gives another course, and more instances give each message the same fate", () => {
    const play = (seed: number, instances: number): ReturnType<typeof only> => {
      const input = {
        duration: "10m",
        seed,
        everyConsumer: { instances, outcomes: { transient: "20%", permanent: "1%" } },
      };
      return only(simulate(subjects, scenarioFor(subjects, input)).consumers);
    };
    expect(play(1, 1).published).not.toBe(play(2, 1).published);
    const [one, five] = [play(1, 1), play(1, 5)];
    expect(five.timeToSuccess?.p99Ms).toBeLessThan(one.timeToSuccess?.p99Ms ?? 0);
    const { published, succeeded, outcomes, deadLettered } = one;
    expect(five).toMatchObject({ published, succeeded, outcomes, deadLettered });
  });
});

describe("events", () => {
  const { subjects } = subjectsFor(oneConsumer({ crash: { deliveries: 3 } }), "rabbitmq@4.3", "staged");
  const play = (events: readonly object[], everyConsumer: object = {}): ReturnType<typeof simulateSteps> =>
    simulateSteps(
      subjects,
      scenarioFor(subjects, { duration: "2m", events, everyConsumer: { ...never, instances: 4, ...everyConsumer } }),
    );
  const minute = { from: "30s", to: "90s" };
  const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs > 30_000 && atMs < 90_000;

  test("in an outage every handling that begins fails, after its own time", () => {
    const steps = play([{ kind: "outage", ...minute, failsAfter: "5s" }]);
    for (const begun of steps.filter((step) => step.happened === "begun")) {
      const end = steps.find(
        (step) => step.message === begun.message && step.atMs > begun.atMs && step.attempt !== null,
      );
      expect(end?.happened).toBe(isIn(begun) ? "transient" : "success");
      if (isIn(begun)) expect((end?.atMs ?? 0) - begun.atMs).toBeCloseTo(5_000, 6);
    }
  });

  test("an outage may crash: the instance comes back after its restart, and its messages come back before", () => {
    const steps = play([{ kind: "outage", ...minute, outcome: "crash" }], { instances: 1, restart: "20s" });
    const crashedAtMs = [...new Set(steps.filter(({ happened }) => happened === "crash").map(({ atMs }) => atMs))];
    expect(crashedAtMs.length).toBe(3);
    for (const atMs of crashedAtMs) {
      const next = steps.find((step) => step.happened === "delivery" && step.atMs > atMs);
      expect((next?.atMs ?? 0) - atMs).toBeCloseTo(20_000, 6);
      expect(steps.filter((step) => step.happened === "crash" && step.atMs === atMs).length).toBeGreaterThan(1);
    }
  });

  test("a stopped instance takes nothing, finishes running handlers, and returns the rest", () => {
    const steps = play([{ kind: "stopped", ...minute }], { arrivals: { perSecond: 100 } });
    const inside = steps.filter((step) => isIn(step) && step.happened !== "published");
    expect(inside.map(({ happened }) => happened)).toEqual(["success", "success", "success", "success"]);
    const returned = steps.filter(({ happened }) => happened === "return");
    expect(returned.length).toBeGreaterThan(0);
    expect(new Set(returned.map(({ atMs }) => atMs))).toEqual(new Set([30_000]));
    // Returned messages keep their place at the head of the queue.
    const again = steps.filter((step) => step.happened === "delivery" && step.atMs === 90_000);
    expect(again.slice(0, returned.length).map(({ message }) => message)).toEqual(
      returned.map(({ message }) => message),
    );
  });

  test("a burst multiplies arrivals, also evenly spaced ones", () => {
    const publishedIn = (arrivals: object): number =>
      play([{ kind: "burst", ...minute, factor: 7 }], { arrivals }).filter(
        (step) => step.happened === "published" && isIn(step),
      ).length;
    expect(publishedIn({ every: "1s" })).toBe(60 * 7 - 1);
    expect(Math.abs(publishedIn({ perSecond: 10 }) - 4_200)).toBeLessThan(4 * Math.sqrt(4_200));
  });

  test("after the longest drain, the remaining messages count as left", () => {
    const input = { duration: "10s", drain: "2s", everyConsumer: { ...alone, arrivals: { every: "1s" }, ...always } };
    const { isSettled, endedAtMs, consumers } = simulate(subjects, scenarioFor(subjects, input));
    const { published, left } = only(consumers);
    expect([isSettled, endedAtMs, published]).toEqual([false, 12_000, 10]);
    expect(left.waiting).toBeGreaterThan(0);
    expect(left.waiting + left.inWorkQueue + left.withHandlers).toBe(published);
  });
});

test("jitter spreads a wait evenly between its shortest and its longest: over queues with one time each", () => {
  const retry = { attempts: 2, backoff: { kind: "constant", delay: "10s", jitter: "50%" } };
  const { subjects } = subjectsFor(oneConsumer({ retry }), "rabbitmq@4.3", "waits");
  const everyConsumer = { arrivals: { perSecond: 5 }, ...always };
  const steps = simulateSteps(subjects, scenarioFor(subjects, { duration: "10m", everyConsumer }));
  const failedAtMs = new Map<number, number>();
  const waits: number[] = [];
  for (const { message, happened, atMs, attempt } of steps) {
    if (happened === "transient" && attempt === 1) failedAtMs.set(message, atMs);
    // Times count in microseconds. Smaller parts are noise of the division.
    if (happened === "time") waits.push(Math.round((atMs - (failedAtMs.get(message) ?? 0)) * 1_000) / 1_000);
  }
  expect(waits.length).toBeGreaterThan(2_000);
  const places = Map.groupBy(waits, (wait) => wait);
  expect([...places.keys()].toSorted((a, b) => a - b)).toEqual([10_000, 11_250, 12_500, 13_750, 15_000]);
  for (const [wait, each] of places) expect((each.length / waits.length) * 5, `${wait} ms`).toBeCloseTo(1, 0);
  expect(waits.reduce((sum, wait) => sum + wait, 0) / waits.length / 12_500).toBeCloseTo(1, 1);
});

test("the simulation plays a model that doubles and loses messages as it is", () => {
  const situations: Readonly<Record<string, Situation>> = {
    ready: { kind: "work", attempt: 1 },
    handled: { kind: "handling", attempt: 1 },
    gone: { kind: "lost", why: "no route" },
    kept: { kind: "dead" },
    done: { kind: "done" },
  };
  const move = (cause: "delivery" | "transient" | "permanent" | "success", ...outcomes: string[][]) =>
    ({ cause, label: cause, waitedMs: 0, waitedLatestMs: 0, outcomes }) as const;
  const model: Model<string> = {
    consumer: "billing",
    starts: [{ key: "all", states: ["ready", "ready"] }],
    keyOf: (state) => state,
    placeOf: (state) => (state === "done" || state === "gone" ? null : state === "kept" ? "dead" : "work"),
    situationOf: (state) => situations[state] as Situation,
    movesOf: (state) =>
      state === "ready"
        ? [move("delivery", ["handled"])]
        : [
            move("success", ["done"]),
            move("transient", ["kept", "kept", "done"]),
            move("permanent", ["gone"], ["kept"]),
          ],
    describe: (state) => state,
    wanted: { attempts: [], crashDeliveries: 1, maxDeliveries: 1, returnsCost: true, waitGrainMs: 1 },
  };
  const subjects: Subject<string>[] = [{ consumer: "billing", shape: () => "", model: () => model }];
  const everyConsumer = { arrivals: { every: "10ms" }, instances: 2, outcomes: { transient: "20%", permanent: "40%" } };
  const { consumers, queues } = simulate(subjects, scenarioFor(subjects, { duration: "10s", everyConsumer }));
  const { published, duplicated, succeeded, deadLettered, lost, outcomes } = only(consumers);
  expect(published).toBe(1_000);
  expect(duplicated).toBe(1_000 + outcomes.transient);
  expect(succeeded + deadLettered.total + lost).toBe(published + duplicated);
  // A permanent failure can end in two ways, and chance takes each about as often.
  expect(lost / outcomes.permanent).toBeCloseTo(0.5, 1);
  expect(queues.map(({ queue, atEnd }) => `${queue}: ${atEnd}`)).toEqual(["work: 0", `dead: ${deadLettered.total}`]);
});
