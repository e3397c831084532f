import { describe, expect, test } from "vitest";

import { plan } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";

function retryPlan(consumer: Record<string, unknown>) {
  const retry = plan(checked(oneConsumer(consumer))).consumers[0]?.retry;
  if (retry === null || retry === undefined) throw new Error("no retry");
  return retry;
}

describe("the timeline", () => {
  test.each([
    ["immediate", { kind: "immediate" }, [0, 0, 0, 0]],
    ["constant", { kind: "constant", delay: "30s" }, [30_000, 30_000, 30_000, 30_000]],
    ["linear, step like first", { kind: "linear", first: "10s" }, [10_000, 20_000, 30_000, 40_000]],
    ["linear, capped", { kind: "linear", first: "10s", step: "5s", max: "18s" }, [10_000, 15_000, 18_000, 18_000]],
    ["exponential", { kind: "exponential", first: "1s", factor: 2 }, [1_000, 2_000, 4_000, 8_000]],
    ["exponential, capped", { kind: "exponential", first: "1s", factor: 3, max: "10s" }, [1_000, 3_000, 9_000, 10_000]],
    ["a fraction is rounded up", { kind: "exponential", first: "1ms", factor: 1.5 }, [1, 2, 3, 4]],
    ["steps", { kind: "steps", delays: ["1s", "1m", "1h", "1d"] }, [1_000, 60_000, 3_600_000, 86_400_000]],
  ])("%s", (_name, backoff, delays) => {
    const { attempts } = retryPlan({ retry: { attempts: 5, backoff } });
    expect(attempts.map((each) => each.delayMs)).toEqual([0, ...delays]);
    expect(attempts.at(-1)?.dueMs).toBe(delays.reduce((sum, each) => sum + each, 0));
  });

  test("jitter is added, and never subtracted", () => {
    const { attempts } = retryPlan({
      retry: { attempts: 3, backoff: { kind: "constant", delay: "1s", jitter: "20%" } },
    });
    expect(attempts.slice(1)).toEqual([
      { attempt: 2, delayMs: 1_000, delayLatestMs: 1_200, dueMs: 1_000, dueLatestMs: 1_200 },
      { attempt: 3, delayMs: 1_000, delayLatestMs: 1_200, dueMs: 2_000, dueLatestMs: 2_400 },
    ]);
  });
});

test("giveUpAfter leaves out attempts that would start later", () => {
  const retry = retryPlan({
    retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2 }, giveUpAfter: "7s" },
  });
  expect(retry.attempts.map((each) => each.dueMs)).toEqual([0, 1_000, 3_000, 7_000]);
  expect(retry.giveUpAfter).toEqual({ afterMs: 7_000, declaredAttempts: 5 });
});

test("giveUpAfter counts the jitter", () => {
  const backoff = { kind: "constant", delay: "1s", jitter: "50%" };
  expect(retryPlan({ retry: { attempts: 5, backoff, giveUpAfter: "3s" } }).attempts).toHaveLength(3);
});

test("budgets: attempts × crash deliveries, and the worst case with every handler at its limit", () => {
  const retry = retryPlan({ crash: { deliveries: 3 }, handlerTimeout: "30s" });
  expect(retry.maxDeliveries).toBe(15);
  expect(retry.worstCaseToDeadLetterMs).toBe(15_000 + 15 * 30_000);
});

test("the default crash budget is the number of attempts", () => {
  expect(retryPlan({})).toMatchObject({ crashDeliveries: 5, crashDeclared: false });
  expect(retryPlan({ crash: { deliveries: 5 } })).toMatchObject({ crashDeliveries: 5, crashDeclared: true });
});

test("the longest delay that the handler may ask for counts in the worst case", () => {
  const retry = retryPlan({
    retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" }, retryAfter: { max: "1m" } },
  });
  expect(retry.worstCaseToDeadLetterMs).toBe(120_000);
});
