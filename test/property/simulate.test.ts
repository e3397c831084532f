import fc from "fast-check";
import { expect, test } from "vitest";

import { brokers, compile, parseTarget } from "../../src/index.ts";
import { checkScenario } from "../../src/simulate/check-scenario.ts";
import type { ConsumerResult, SimulationResult, TimelineStep } from "../../src/simulate/result.ts";
import type { Scenario } from "../../src/simulate/scenario.ts";
import { simulate, simulateSteps } from "../../src/simulate/simulate.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { accepted, checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";
import { referenceSteps } from "../support/reference-simulator.ts";
import { scenarioFor, subjectsFor } from "../support/simulation.ts";

const milliseconds = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((durationMs) => `${durationMs}ms`);
const percent = (max: number): fc.Arbitrary<string> => fc.integer({ min: 0, max }).map((share) => `${share}%`);

const settings = fc.record({
  arrivals: fc.oneof(
    fc.record({ perSecond: fc.double({ min: 0.1, max: 4, noNaN: true }) }),
    fc.record({ every: milliseconds(300, 5_000) }),
  ),
  instances: fc.integer({ min: 1, max: 3 }),
  prefetch: fc.integer({ min: 3, max: 5 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  handlingTime: fc
    .tuple(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 0, max: 2_000 }))
    .map(([fromMs, more]) => ({ from: `${fromMs}ms`, to: `${fromMs + more}ms` })),
  restart: milliseconds(1, 5_000),
  outcomes: fc.record({ transient: percent(30), permanent: percent(10), crash: percent(20), return: percent(20) }),
  poison: fc.record({ transient: percent(20), permanent: percent(10), crash: percent(10) }),
});

const time = fc
  .tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 15_000 }))
  .map(([fromMs, lengthMs]) => ({ from: `${fromMs}ms`, to: `${fromMs + lengthMs}ms` }));
const event = fc.oneof(
  fc
    .record({ outcome: fc.constantFrom("transient", "crash"), failsAfter: milliseconds(1, 3_000), time })
    .map(({ time: when, ...rest }) => ({ kind: "outage", ...rest, ...when })),
  time.map((when) => ({ kind: "stopped", ...when })),
  fc
    .record({ factor: fc.integer({ min: 0, max: 5 }), time })
    .map(({ time: when, factor }) => ({ kind: "burst", factor, ...when })),
);

const anyScenario = fc.record({
  duration: milliseconds(1_000, 20_000),
  drain: fc.constantFrom("10s", "1h", "365d"),
  seed: fc.nat(),
  everyConsumer: settings,
  events: fc.array(event, { maxLength: 3 }),
});

interface Simulation {
  readonly subjects: ReturnType<typeof brokers.rabbitmq.subjectsOf>;
  readonly scenario: Scenario;
}

/** Any system on any target, with a scenario of some seconds. */
const anySimulation: fc.Arbitrary<Simulation> = fc
  .tuple(anySystem, anyTarget, anyScenario)
  .map(([input, written, drawn]) => {
    const target = accepted(parseTarget(`rabbitmq@${written.version}`, written.strategy));
    const compiled = compile(checked(input), target);
    if (!compiled.ok) return undefined;
    const subjects = brokers.rabbitmq.subjectsOf(compiled.value, target);
    const simulated = subjects.map(({ consumer }) => ({ consumer, hasRetryAfter: false }));
    const events = drawn.events.filter(({ from }) => Number.parseInt(from, 10) < 11_000);
    const scenario = checkScenario({ ...drawn, events }, simulated);
    if (!scenario.ok) throw new Error(scenario.diagnostics.map(({ message }) => message).join("\n"));
    return { subjects, scenario: scenario.value };
  })
  .filter((simulation) => simulation !== undefined);

test("each message takes the same steps as in a simple simulator on the model itself", () => {
  let steps = 0;
  forAll(150, [anySimulation], ({ subjects, scenario }) => {
    const reference = referenceSteps(
      subjects.map(({ model }) => model()),
      scenario,
    );
    const result = simulate(subjects, scenario);
    expect(simulateSteps(subjects, scenario)).toEqual(reference.steps);
    expect(reference.lost).toBe(0);
    expect(result.consumers.reduce((total, { crashes }) => total + crashes, 0)).toBe(reference.crashes);
    expect(result.isSettled).toBe(reference.left === 0);
    steps += reference.steps.length;
  });
  expect(steps).toBeGreaterThan(5_000);
});

const anyRetry = fc
  .tuple(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 3 }))
  .map(([attempts, seconds]) => ({
    immediate: { attempts, backoff: { kind: "immediate" } },
    constant: { attempts, backoff: { kind: "constant", delay: `${seconds * 20}s` } },
    growing: { attempts, backoff: { kind: "exponential", first: `${seconds}s`, factor: 2, max: "10s" } },
  }));
const elsewhere = [
  { target: "sqs@eu-west-1", strategy: "redrive", backoff: "constant" },
  { target: "sqs@eu-west-1", strategy: "visibility", backoff: "growing" },
  { target: "servicebus@standard", strategy: "immediate", backoff: "immediate" },
  { target: "servicebus@standard", strategy: "scheduled", backoff: "growing" },
] as const;

test.each(elsewhere)("the same holds for $strategy on $target", ({ target, strategy, backoff }) => {
  let steps = 0;
  forAll(75, [anyRetry, anyScenario], (retry, drawn) => {
    const billing = { from: { orders: "all" }, retry: retry[backoff], handlerTimeout: "10s" };
    const declared = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
    const { subjects } = subjectsFor(declared, target, strategy);
    const scenario = scenarioFor(subjects, { ...drawn, events: [] });
    const reference = referenceSteps(
      subjects.map(({ model }) => model()),
      scenario,
    );
    expect(simulateSteps(subjects, scenario)).toEqual(reference.steps);
    expect(reference.lost).toBe(0);
    steps += reference.steps.length;
  });
  expect(steps).toBeGreaterThan(500);
});

test("the counts of the result equal the counts of the steps, and no message gets lost", () => {
  forAll(150, [anySimulation], ({ subjects, scenario }) => {
    const result = simulate(subjects, scenario);
    const steps = simulateSteps(subjects, scenario);
    for (const [index, each] of result.consumers.entries()) {
      const own = steps.filter(({ consumer }) => consumer === each.consumer);
      const { left, deadLettered } = each;
      const atEnd = left.inWorkQueue + left.withHandlers + left.waiting;
      expect(each.succeeded + deadLettered.total + atEnd).toBe(each.published);
      expect([each.lost, each.duplicated]).toEqual([0, 0]);
      expect(each.published).toBe(own.filter(({ happened }) => happened === "published").length);
      expect(each.deliveries).toBe(own.filter(({ happened }) => happened === "delivery").length);
      expect(each.runs).toBe(own.filter(({ happened }) => happened === "begun").length);
      const { crash, ...others } = each.outcomes;
      expect(outcomesIn(own)).toEqual(others);
      expect([crash, each.succeeded]).toEqual([each.crashes, others.success]);
      expect(sum(each.messagesByDeliveries)).toBe(each.succeeded + deadLettered.total);
      expect(sum(deadLettered.byAttempt)).toBe(deadLettered.total);
      const model = subjects[index]?.model();
      for (const message of messagesOf(own)) checkMessage(message, model?.wanted.attempts ?? []);
      const mostCounted = each.messagesByDeliveries.at(-1)?.number ?? 0;
      if (returnsIn(own) === 0) {
        expect(mostCounted).toBeLessThanOrEqual(model?.wanted.maxDeliveries ?? 0);
      }
    }
    checkTimeline(result, steps);
    expect(result.queues.every(({ atEnd, most }) => atEnd >= 0 && atEnd <= most)).toBe(true);
    expect(result.isSettled || result.endedAtMs <= scenario.durationMs + scenario.drainMs).toBe(true);
  });
});

test("the same seed gives the same bytes, and another seed gives others", () => {
  forAll(50, [anySimulation], ({ subjects, scenario }) => {
    const text = JSON.stringify(simulate(subjects, scenario));
    expect(JSON.stringify(simulate(subjects, scenario))).toBe(text);
    expect(JSON.stringify(simulate(subjects, { ...scenario, seed: scenario.seed + 1 }))).not.toBe(text);
  });
});

const sum = (counts: readonly { readonly messages: number }[]): number =>
  counts.reduce((total, { messages }) => total + messages, 0);

/**
 * The outcomes of handler runs without crashes: the timeline has one crash for every message that the instance held.
 */
function outcomesIn(steps: readonly TimelineStep[]): Omit<ConsumerResult["outcomes"], "crash"> {
  const begun = new Set<number>();
  const outcomes = { success: 0, transient: 0, "retry-after": 0, permanent: 0, return: 0 };
  for (const { happened, message } of steps) {
    if (happened === "begun") begun.add(message);
    else if (begun.delete(message) && happened in outcomes) outcomes[happened as keyof typeof outcomes]++;
  }
  return outcomes;
}

/** Returns are no failures, and do not count towards the promised maximum of deliveries. */
const returnsIn = (steps: readonly TimelineStep[]): number =>
  steps.filter(({ happened }) => happened === "return").length;

function messagesOf(steps: readonly TimelineStep[]): TimelineStep[][] {
  return [...Map.groupBy(steps, ({ message }) => message).values()];
}

/** After a transient failure the next attempt follows, and not before its delay has passed. */
function checkMessage(steps: readonly TimelineStep[], wanted: readonly { readonly delayMs: number }[]): void {
  let last: TimelineStep | undefined;
  let latest = 0;
  for (const step of steps) {
    if (["transient", "crash", "return"].includes(step.happened)) last = step;
    if (step.happened !== "begun") continue;
    const attempt = step.attempt ?? 0;
    expect(attempt).toBeGreaterThanOrEqual(latest);
    expect(attempt).toBeLessThanOrEqual(wanted.length);
    latest = attempt;
    if (last?.happened !== "transient") continue;
    expect(attempt).toBe((last.attempt ?? 0) + 1);
    expect(step.atMs - last.atMs).toBeGreaterThanOrEqual((wanted[attempt - 1]?.delayMs ?? 0) - 1e-6);
  }
}

/** The timeline shows a message with the most deliveries, and its steps are among all steps. */
function checkTimeline({ timeline }: SimulationResult, steps: readonly TimelineStep[]): void {
  const deliveries = (own: readonly TimelineStep[]): number =>
    own.filter((each) => each.happened === "delivery").length;
  const groups = Object.values(Object.groupBy(steps, ({ consumer, message }) => `${consumer} ${message}`));
  const most = Math.max(0, ...groups.map((own) => deliveries(own ?? [])));
  expect(deliveries(timeline?.steps ?? [])).toBe(most);
  if (timeline === null) return;
  const own = steps.filter(({ consumer, message }) => consumer === timeline.consumer && message === timeline.message);
  expect(timeline.steps).toEqual(own);
}
