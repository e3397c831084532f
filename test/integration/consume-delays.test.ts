import { describe, expect, test } from "vitest";

import type { Run } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { namedDelays } from "../support/consume/named-delays.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { strategiesOn } from "../support/strategies.ts";
import { shopWith } from "../support/examples.ts";

const messages = Array.from({ length: 40 }, (_, index) => `m${index}`);

/** Declared backoffs, each with the shortest and longest delay of each retry. */
const declarations = [
  {
    name: "exponential growth",
    backoff: { kind: "exponential", first: "60ms", factor: 3, max: "400ms" },
    delaysMs: [
      [60, 60],
      [180, 180],
      [400, 400],
    ],
    strategies: ["deferred", "staged", "waits"],
  },
  {
    name: "steps, up and down",
    backoff: { kind: "steps", delays: ["150ms", "40ms", "300ms"] },
    delaysMs: [
      [150, 150],
      [40, 40],
      [300, 300],
    ],
    strategies: ["deferred", "staged", "waits"],
  },
  {
    name: "full jitter",
    backoff: { kind: "exponential", first: "100ms", factor: 2, max: "10s", jitter: "100%" },
    delaysMs: [
      [100, 200],
      [200, 400],
      [400, 800],
    ],
    strategies: ["deferred", "waits"],
  },
  {
    name: "linear growth",
    backoff: { kind: "linear", first: "100ms", max: "200ms" },
    delaysMs: [
      [100, 100],
      [200, 200],
      [200, 200],
    ],
    strategies: ["native", "deferred", "staged", "waits"],
  },
] as const;

const cases = brokers().flatMap((broker) =>
  declarations.flatMap(({ name, backoff, delaysMs, strategies }) =>
    strategies
      .filter((strategy) => strategiesOn(broker.version).includes(strategy))
      .map((strategy) => ({ name: `${name}: ${strategy} on ${broker.version}`, broker, strategy, backoff, delaysMs })),
  ),
);

/** The time from each failed attempt to the start of the next one. One clock measures both, in whole milliseconds. */
function gapsMs(runs: readonly Run[]): readonly number[] {
  return runs.slice(1).map((run, index) => run.atMs - (runs[index]?.atMs ?? 0));
}

describe.concurrent.each(cases)("delays: $name", ({ broker, strategy, backoff, delaysMs }) => {
  const { proxied, consumed } = liveStage(broker);

  test("each attempt begins no earlier than declared, and jitter covers its whole range", async () => {
    const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
    const declaration = shopWith({ billing: { from: { orders: "all" }, protocol, retry: { attempts: 4, backoff } } });
    const { system, proxy } = await proxied(declaration, strategy);
    const options = { breaker: false, concurrency: messages.length } as const;
    const billing = await consumed({ ...system, url: proxy.url, options }, () => {
      throw new Error("always");
    });
    await system.publish(messages);
    await until(60_000, () => billing.runs.length >= messages.length * 4);
    await system.deadIds(messages.length);
    for (const id of messages) {
      const runs = billing.runsOf(id);
      expect(
        runs.map(({ attempt }) => attempt),
        id,
      ).toEqual([1, 2, 3, 4]);
      // Both clocks cut off fractions of a millisecond.
      for (const [index, gapMs] of gapsMs(runs).entries())
        expect(gapMs, `${id}, attempt ${index + 2}`).toBeGreaterThanOrEqual((delaysMs[index]?.[0] ?? 0) - 1);
    }
    const named = namedDelays(proxy.frames);
    // Where the broker itself delays, the consumer names no delays.
    expect(named).toHaveLength(strategy === "waits" || strategy === "deferred" ? messages.length * 3 : 0);
    for (const [index, [fromMs, toMs]] of delaysMs.entries()) {
      const delays = named.filter(({ retry }) => retry === index + 1);
      for (const { messageId, atMs, dueAtMs } of delays) {
        const [failed, next] = billing.runsOf(messageId).slice(index);
        expect(dueAtMs, messageId).toBeGreaterThanOrEqual((failed?.atMs ?? 0) + fromMs);
        // The consumer rounds up, and the clock rounds down.
        expect(dueAtMs, messageId).toBeLessThanOrEqual(atMs + toMs + 1);
        expect(next?.atMs, messageId).toBeGreaterThanOrEqual(dueAtMs - 1);
      }
      const lengths = delays.map(({ atMs, dueAtMs }) => dueAtMs - atMs);
      // The chance that all these random delays stay within half of their range is below 1 in 10^9.
      if (fromMs !== toMs && delays.length > 0)
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeGreaterThan((toMs - fromMs) / 2);
    }
  });
});
