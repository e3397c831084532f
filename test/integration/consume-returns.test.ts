import { expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const strategies = ["native", "deferred", "staged", "waits"] as const;
const cases = brokers().flatMap((broker) =>
  strategies
    .filter((strategy) => broker.version === "4.3" || strategy === "staged" || strategy === "waits")
    .map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` })),
);
const source = { exchange: "shop.orders", routingKey: "order.placed" };

/** More stops than attempts and crash budget are. */
const manyStops = 5;

test.concurrent.each(cases)("what stops cost a message that is in hand: $name", async ({ broker, strategy }) => {
  const declaration = billingUnder(strategy, { crash: { deliveries: 3 } });
  const system = await deploy(broker, declaration, strategy);
  try {
    await system.publish(["a"], source);
    const attempts: number[] = [];
    const stopInHand = async (): Promise<void> => {
      const { running, runs } = await consumeFrom(
        system,
        { broker, declaration, consumer: "billing", strategy, options: { concurrency: 1 } },
        (_run, _message, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
      );
      await until(60_000, () => runs.length === 1);
      await running.stop("0ms");
      attempts.push(...runs.map(({ attempt }) => attempt));
    };
    // Up to 4.2 a broker counts them towards the crashes.
    const isCounted = broker.version !== "4.3";
    for (let stop = 1; stop <= (isCounted ? 2 : manyStops); stop += 1) await stopInHand();
    expect(new Set(attempts), "each run was the same attempt").toEqual(new Set([1]));
    expect(await system.drain("shop.billing.dead")).toEqual([]);
    await stopInHand();
    expect(attempts.at(-1)).toBe(1);
    if (isCounted) {
      const dead: unknown[] = [];
      await until(60_000, async () => {
        dead.push(...(await system.drain("shop.billing.dead")));
        return dead.length > 0;
      });
      return;
    }
    const last = await consumeFrom(system, { broker, declaration, consumer: "billing", strategy }, () => undefined);
    await until(60_000, () => last.events.some(({ kind }) => kind === "settled"));
    await last.running.stop();
    expect(last.runs.map(({ attempt }) => attempt)).toEqual([1]);
    expect(await system.drain("shop.billing.dead")).toEqual([]);
  } finally {
    await system.dispose();
  }
});
