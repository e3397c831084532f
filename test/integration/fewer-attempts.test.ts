import { expect, inject, test } from "vitest";

import type { System } from "../../src/index.ts";
import { modelledEngine } from "../support/change/engines.ts";
import { compiledOf } from "../support/change/live-change.ts";
import type { Deployment } from "../support/change/registered.ts";
import { drive } from "../support/drive.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";

// Messages are at any of five attempts when a new declaration allows only two. Each must be dead after two attempts, or
// after one more than it already had.

const messages = 60;
const strategies = { "4.3": ["native", "deferred", "staged", "waits"], "4.0": ["staged", "waits"], "3.10": ["waits"] };

const systemOf = (attempts: number, strategy: string): System =>
  checked(
    oneConsumer({
      from: { orders: ["order.placed"] },
      retry: { attempts, backoff: { kind: "constant", delay: "400ms" } },
      ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
    }),
  );

const cases = inject("brokers").flatMap((broker) =>
  strategies[broker.version as keyof typeof strategies].map((strategy) => ({
    broker,
    strategy,
    name: `${strategy} on ${broker.fullVersion}`,
  })),
);

test.each(cases)("$name", { timeout: 400_000 }, async ({ broker, strategy }) => {
  const { vhost, amqpUrl: url, dispose } = await createVhost(broker);
  const management = createManagement(broker.managementUrl);
  const engine = await modelledEngine(broker);
  const place = { component: "shop", vhost, version: broker.version, strategy: strategy as Deployment["strategy"] };
  const [five, two] = [5, 2].map((attempts) => ({ ...place, system: systemOf(attempts, strategy) })) as [
    Deployment,
    Deployment,
  ];
  const contractOf = (deployment: Deployment) => {
    const [contract] = compiledOf(deployment).contracts;
    if (contract === undefined) throw new Error("there is no contract");
    return contract;
  };
  try {
    expect(await engine.up(five)).toBeNull();
    for (let index = 0; index < messages; index++) {
      await management.post(`exchanges/${encodeURIComponent(vhost)}/shop.orders/publish`, {
        properties: { message_id: String(index), delivery_mode: 2 },
        routing_key: "order.placed",
        payload: "an order",
        payload_encoding: "string",
      });
    }
    const before = await drive({ url, contract: contractOf(five), decide: () => "transient", instances: 3 });
    await expect.poll(() => before.seen.some(({ attempt }) => attempt === 4), { timeout: 120_000 }).toBe(true);
    await before.stop();
    expect(await engine.up(two)).toBeNull();
    const after = await drive({ url, contract: contractOf(two), decide: () => "transient", instances: 10 });
    // A consumer that is stopped between a copy and its acknowledgement doubles that message: at most one for each
    // instance.
    const publishes = "byAttempt" in contractOf(five).outcomes.transient && strategy !== "deferred";
    const most = messages + (publishes ? 3 : 0);
    const counts = async (): Promise<{ readonly dead: number; readonly elsewhere: number }> => {
      const queues = await management.queues(vhost);
      // A queue without statistics may hold a message.
      const elsewhere = queues.filter(({ name }) => name !== "shop.billing.dead").map((queue) => queue.messages ?? 1);
      const dead = queues.find(({ name }) => name === "shop.billing.dead")?.messages ?? 0;
      return { dead, elsewhere: elsewhere.reduce((sum, each) => sum + each, 0) };
    };
    const isOver = async (): Promise<boolean> => {
      const { dead, elsewhere } = await counts();
      return dead >= messages && elsewhere === 0;
    };
    await expect.poll(isOver, { timeout: 180_000, interval: 500 }).toBe(true);
    await after.stop();
    expect((await counts()).dead).toBeLessThanOrEqual(most);
    const runs = Map.groupBy(before.seen, ({ id }) => id);
    const later = Map.groupBy(after.seen, ({ id }) => id);
    const tooOften = Array.from({ length: messages }, (_, index) => String(index)).filter((id) => {
      const [first, second] = [runs.get(id)?.length ?? 0, later.get(id)?.length ?? 0];
      return first + second > Math.max(2, first + 1);
    });
    expect(tooOften.length, tooOften.join(", ")).toBeLessThanOrEqual(most - messages);
    expect(
      [...runs.values()].some((each) => each.length > 2),
      "some were beyond the second attempt",
    ).toBe(true);
  } finally {
    await engine.dispose();
    await dispose();
  }
});
