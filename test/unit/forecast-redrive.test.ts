import { expect, test } from "vitest";

import { brokerOf, compileAndProve, type SystemInput, type Target } from "../../src/index.ts";
import { stepsOf } from "../../src/operate/redrive.ts";
import { renderPlan } from "../../src/report/dead-redrive.ts";
import { forecastRedrive } from "../../src/simulate/forecast-redrive.ts";
import { accepted, checked } from "../support/examples.ts";
import { redriveCases } from "../support/redrive-cases.ts";

type Retry = (typeof redriveCases)[number]["consumer"];

function subjectOf(target: object, consumer: Retry) {
  const system = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer } };
  const proved = accepted(compileAndProve(checked(system as SystemInput), target as Target));
  const [subject] = brokerOf(proved.target).subjectsOf(proved.compiled, proved.target);
  if (subject === undefined) throw new Error("no consumer");
  return subject;
}

test.each(redriveCases)("$title: all letters die again, at the end of their retries", ({ target, consumer }) => {
  const letters = 120;
  const forecast = forecastRedrive(
    subjectOf(target, consumer),
    { letters, steps: stepsOf(letters, 60_000) },
    { perSecond: 10, waitMs: 60_000 },
  );
  if (typeof forecast === "string") throw new Error(forecast);
  expect(forecast).toMatchObject({ attempts: 3, deadAgain: letters });
  // Three waits of a minute come after 111 copies, and then the other nine, one in 100 ms.
  const lastSentMs = 180_000 + 100 * (letters - 1);
  const retriesMs = consumer.retry.backoff === redriveCases[0]?.consumer.retry.backoff ? 40_000 : 0;
  expect(forecast.deadAgainAfterMs).toBeGreaterThanOrEqual(lastSentMs + retriesMs);
  // On SQS a wait ends with the queue's visibility timeout, which has the handler's time in it.
  expect(forecast.deadAgainAfterMs).toBeLessThan(lastSentMs + retriesMs + 55_000);
  const dead = forecast.queues.at(-1);
  expect(dead).toMatchObject({ most: letters, atEnd: letters });
  expect(dead?.mostPerStretch).toEqual(dead?.mostPerStretch.toSorted((a, b) => a - b));
  // The retries of one step are over before the next one but one begins.
  expect(Math.max(...forecast.queues.slice(0, -1).map(({ most }) => most))).toBeLessThanOrEqual(111);
});

test("the forecast names its reason if there is none", () => {
  const [first] = redriveCases;
  if (first === undefined) throw new Error("no case");
  const speed = { perSecond: null, waitMs: 0 };
  const of = (letters: number, attempts = 3): unknown => {
    const consumer = { ...first.consumer, retry: { ...first.consumer.retry, attempts } };
    return forecastRedrive(subjectOf(first.target, consumer), { letters, steps: stepsOf(letters, 0) }, speed);
  };
  expect(of(0)).toBe("no letter would be sent");
  expect(of(1_000_001)).toBe("it would have more than 1,000,000 letters");
  expect(of(11)).toMatchObject({ deadAgain: 11 });
});

test("the plan shows the forecast in a few lines", () => {
  const [first] = redriveCases;
  if (first === undefined) throw new Error("no case");
  const steps = stepsOf(11, 30_000);
  const speed = { perSecond: 10, waitMs: 30_000 };
  const plan = { queue: "dead", frozen: 11, letters: 11, behind: 0, targets: [], stay: {}, steps, leastMs: 61_100 };
  const forecast = forecastRedrive(subjectOf(first.target, first.consumer), plan, speed);
  const text = renderPlan(plan, speed, null, forecast);
  expect(text).toContain("3 attempts each, 11 dead again after 1m 12s");
  expect(text.split("\n").length).toBeLessThan(12);
  const unknown = renderPlan(plan, speed, null, "no declaration was given");
  expect(renderPlan({ ...plan, letters: 0, steps: [] }, speed, null, "none")).toContain("there is no letter to send");
  expect(unknown).toContain("What happens if they all fail again is unknown: no declaration was given.");
});

test("the plan names each target that no consumer takes from itself", () => {
  const targets = [
    { queue: "wait", letters: 6, consumers: 0 },
    { queue: "work", letters: 4, consumers: 1 },
    { queue: "elsewhere", letters: 1, consumers: "unknown" },
  ] as const;
  const plan = { queue: "dead", frozen: 11, letters: 11, behind: 0, targets, stay: {}, steps: [11], leastMs: null };
  const text = renderPlan(plan, { perSecond: null, waitMs: 30_000 }, null, "none");
  expect(text).toContain("\n  to wait: 6, for 0 consumers\n");
  expect(text.match(/^ +No consumer .*/gm)).toEqual([
    "  No consumer takes from wait itself: deaths may come later than the check after each step.",
  ]);
});
