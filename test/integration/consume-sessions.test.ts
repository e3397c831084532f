import { afterAll, describe, expect, test } from "vitest";

import { withChannelMax } from "../support/consume/amqp-1-0-frames.ts";
import type { AmqpProxy } from "../support/consume/amqp-proxy.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import type { ConsumedSystem } from "../support/consume/consumed.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
const declaration = {
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: "all" },
      protocol: "amqp-1.0",
      retry: { attempts: 3, backoff: { kind: "constant", delay: "100ms" } },
    },
  },
};
const strategy = "deferred";
/** What the broker is made to say, so three sessions; RabbitMQ says 63. */
const channelMax = 2;
/** So many that each of the long ones is the first of a session. */
const quickAfterEach = 1_100;

for (const broker of brokers())
  describe.runIf(broker.version === "4.3")(`sessions of AMQP 1.0 on ${broker.version}`, () => {
    const held: { system?: DeployedSystem; proxy?: AmqpProxy; billing?: ConsumedSystem } = {};
    afterAll(async () => {
      await held.billing?.running.stop();
      await held.proxy?.close();
      await held.system?.dispose();
    });

    test("more handlers run for long than the broker allows sessions: it gets no session too many, and goes on when one ends", async () => {
      const system = await deploy(broker, declaration, strategy);
      held.system = system;
      const proxy = await startAmqpProxy(system.url);
      held.proxy = proxy;
      proxy.onFrame = ({ kind }, bytes) => (kind === "opened" ? withChannelMax(bytes, channelMax) : "pass");
      const long = ["long 0", "long 1", "long 2", "long 3"];
      const releases = new Map<string, () => void>();
      const options = { concurrency: 20, breaker: false } as const;
      const input = { broker, declaration, consumer: "billing", strategy, options } as const;
      const billing = await consumeFrom({ ...system, url: proxy.url }, input, ({ id }) =>
        long.includes(id) ? new Promise<void>((resolve) => releases.set(id, resolve)) : undefined,
      );
      held.billing = billing;
      for (const id of long)
        await system.publish(
          [id, ...Array.from({ length: quickAfterEach }, (_, index) => `${index} after ${id}`)],
          source,
        );
      const settled = (): number => billing.events.filter(({ kind }) => kind === "settled").length;
      await until(60_000, () => releases.size === long.length);
      releases.get("long 0")?.();
      await until(60_000, () => settled() === long.length * quickAfterEach + 1);
      expect(billing.running.health()).toMatchObject({ state: "running", handling: long.length - 1 });
      for (const release of releases.values()) release();
      await until(30_000, () => settled() === long.length * (quickAfterEach + 1));
      await billing.running.stop();
      expect(billing.runs).toHaveLength(long.length * (quickAfterEach + 1));
      expect(billing.events.map(({ kind }) => kind)).not.toContain("lost");
      const channels = proxy.frames.flatMap((frame) => (frame.kind === "begun" ? [frame.channel] : []));
      expect(channels.length).toBeGreaterThan(channelMax + 1);
      expect(Math.max(...channels)).toBe(channelMax);
      expect(await system.drain("shop.billing")).toEqual([]);
    });
  });
