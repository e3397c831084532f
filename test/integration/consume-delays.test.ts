import { afterAll, describe, expect, test } from "vitest";

import type { AmqpProxy } from "../support/consume/amqp-proxy.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import type { ConsumedSystem, Run } from "../support/consume/consumed.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { namedDelays } from "../support/consume/named-delays.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
const messages = Array.from({ length: 40 }, (_, index) => `m${index}`);

/** What is declared, and the shortest and longest delay of each retry that is to come of it. */
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
      .filter((strategy) => broker.version === "4.3" || strategy === "staged" || strategy === "waits")
      .map((strategy) => ({ name: `${name}: ${strategy} on ${broker.version}`, broker, strategy, backoff, delaysMs })),
  ),
);

/** How long after the failure of the attempt before each attempt began. Both are times of one clock, in whole milliseconds. */
function gapsMs(runs: readonly Run[]): readonly number[] {
  return runs.slice(1).map((run, index) => run.atMs - (runs[index]?.atMs ?? 0));
}

describe.concurrent.each(cases)("delays: $name", ({ broker, strategy, backoff, delaysMs }) => {
  const held: { system?: DeployedSystem; proxy?: AmqpProxy; billing?: ConsumedSystem } = {};
  afterAll(async () => {
    await held.billing?.running.stop();
    await held.proxy?.close();
    await held.system?.dispose();
  });

  test("each attempt begins no earlier than declared, and jitter is spread over all that is declared", async () => {
    const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
    const declaration = {
      name: "shop",
      sources: { orders: { kind: "topic" } },
      consumers: { billing: { from: { orders: "all" }, protocol, retry: { attempts: 4, backoff } } },
    };
    const system = await deploy(broker, declaration, strategy);
    held.system = system;
    const proxy = await startAmqpProxy(system.url);
    held.proxy = proxy;
    const options = { breaker: false, concurrency: messages.length } as const;
    const input = { broker, declaration, consumer: "billing", strategy, options };
    const billing = await consumeFrom({ ...system, url: proxy.url }, input, () => {
      throw new Error("always");
    });
    held.billing = billing;
    await system.publish(messages, source);
    await until(60_000, () => billing.runs.length >= messages.length * 4);
    const isDead = new Set<unknown>();
    await until(60_000, async () => {
      for (const { properties } of await system.drain("shop.billing.dead")) isDead.add(properties.messageId);
      return isDead.size === messages.length;
    });
    for (const id of messages) {
      const runs = billing.runsOf(id);
      expect(
        runs.map(({ attempt }) => attempt),
        id,
      ).toEqual([1, 2, 3, 4]);
      // The broker's clock and ours cut off what is less than a millisecond.
      for (const [index, gapMs] of gapsMs(runs).entries())
        expect(gapMs, `${id}, attempt ${index + 2}`).toBeGreaterThanOrEqual((delaysMs[index]?.[0] ?? 0) - 1);
    }
    const named = namedDelays(proxy.frames);
    // Of a strategy whose broker delays by itself there are none.
    expect(named).toHaveLength(strategy === "waits" || strategy === "deferred" ? messages.length * 3 : 0);
    for (const [index, [fromMs, toMs]] of delaysMs.entries()) {
      const delays = named.filter(({ retry }) => retry === index + 1);
      for (const { messageId, atMs, dueAtMs } of delays) {
        const [failed, next] = billing.runsOf(messageId).slice(index);
        expect(dueAtMs, messageId).toBeGreaterThanOrEqual((failed?.atMs ?? 0) + fromMs);
        expect(dueAtMs, messageId).toBeLessThanOrEqual(atMs + toMs);
        expect(next?.atMs, messageId).toBeGreaterThanOrEqual(dueAtMs - 1);
      }
      const lengths = delays.map(({ atMs, dueAtMs }) => dueAtMs - atMs);
      // That so many random delays stay within a half of their range happens less than once in a thousand million times.
      if (fromMs !== toMs && delays.length > 0)
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeGreaterThan((toMs - fromMs) / 2);
    }
  });
});
