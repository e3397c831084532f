import { afterAll, describe, expect, test } from "vitest";

import { withChannelMax } from "../support/consume/amqp-1-0-frames.ts";
import { type AmqpProxy, startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import { type ConsumedSystem, consumeFrom } from "../support/consume/consumed.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { oneConsumer } from "../support/examples.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
const declaration = oneConsumer({
  from: { orders: "all" },
  protocol: "amqp-1.0",
  retry: { attempts: 3, backoff: { kind: "constant", delay: "100ms" } },
});
const strategy = "deferred";
/** The proxy makes the broker announce this limit: four sessions, one of them for a token. RabbitMQ announces 63. */
const channelMax = 3;
/**
 * Each long handler keeps a full session, and in the end they fill more than two. The broker chooses how it spreads
 * messages over sessions. Four handlers in two pairs always leave one free beside the three long ones. All the last
 * messages go through its connection while its long neighbour keeps a session.
 */
const quickAfterEach = [1_030, 1_030, 4_200];

for (const broker of brokers())
  describe.runIf(broker.version === "4.3")(`sessions of AMQP 1.0 on ${broker.version}`, () => {
    const held: { system?: DeployedSystem; proxy?: AmqpProxy; billing?: ConsumedSystem } = {};
    afterAll(async () => {
      await held.billing?.running.stop();
      await held.proxy?.close();
      await held.system?.dispose();
    });

    test("more long handlers than a connection has sessions: the consumer opens more connections, and quick messages pass", async () => {
      const system = await deploy(broker, declaration, strategy);
      held.system = system;
      const proxy = await startAmqpProxy(system.url);
      held.proxy = proxy;
      proxy.onFrame = ({ kind }, bytes) => (kind === "opened" ? withChannelMax(bytes, channelMax) : "pass");
      const long = quickAfterEach.map((_, index) => `long ${index}`);
      const releases = new Map<string, () => void>();
      const options = { concurrency: long.length + 1, breaker: false } as const;
      const input = { broker, declaration, consumer: "billing", strategy, options } as const;
      const billing = await consumeFrom({ ...system, url: proxy.url }, input, ({ id }) =>
        long.includes(id) ? new Promise<void>((resolve) => releases.set(id, resolve)) : undefined,
      );
      held.billing = billing;
      // Each connection takes two handlers, one fewer than it has sessions for deliveries.
      await until(30_000, () => proxy.connections() === 2);
      for (const [index, count] of quickAfterEach.entries()) {
        const quick = Array.from({ length: count }, (_, number) => `${number} after ${index}`);
        await system.publish([`long ${index}`, ...quick], source);
      }
      const settled = (): number => billing.events.filter(({ kind }) => kind === "settled").length;
      const quick = quickAfterEach.reduce((sum, count) => sum + count, 0);
      await until(100_000, () => settled() === quick);
      expect(billing.running.health()).toMatchObject({ state: "running", handling: long.length });
      for (const release of releases.values()) release();
      await until(30_000, () => settled() === quick + long.length);
      await billing.running.stop();
      expect(billing.runs).toHaveLength(quick + long.length);
      expect(billing.events.map(({ kind }) => kind)).not.toContain("lost");
      const channels = proxy.frames.flatMap((frame) => (frame.kind === "begun" ? [frame.channel] : []));
      // Sessions ended and others began. The consumer used every session that the limit allows, and none beyond it.
      expect(channels.length).toBeGreaterThan(2 * channelMax);
      expect(Math.max(...channels)).toBe(channelMax - 1);
      expect(await system.drain("shop.billing")).toEqual([]);
    });

    test("one of several connections is lost: the consumer reopens all, and each message ends once", async () => {
      const system = await deploy(broker, declaration, strategy);
      const proxy = await startAmqpProxy(system.url);
      proxy.onFrame = ({ kind }, bytes) => (kind === "opened" ? withChannelMax(bytes, channelMax) : "pass");
      const options = { concurrency: 5, breaker: false } as const;
      const input = { broker, declaration, consumer: "billing", strategy, options } as const;
      const billing = await consumeFrom({ ...system, url: proxy.url }, input, () => undefined);
      const count = (kind: string): number => billing.events.filter((event) => event.kind === kind).length;
      let isCut = false;
      proxy.onFrame = ({ kind }, bytes) => {
        if (kind === "opened") return withChannelMax(bytes, channelMax);
        if (isCut || kind !== "disposition") return "pass";
        isCut = true;
        return "cut";
      };
      const ids = Array.from({ length: 50 }, (_, index) => `m${index}`);
      await system.publish(ids, source);
      await until(30_000, () => count("reconnected") === 1);
      const succeeded = (): Set<unknown> =>
        new Set(billing.events.flatMap((event) => (event.kind === "settled" ? [event.messageId] : [])));
      await until(30_000, () => succeeded().size === ids.length);
      expect(count("lost")).toBe(1);
      await until(30_000, () => proxy.connections() === 3);
      await billing.running.stop();
      await until(30_000, () => proxy.connections() === 0);
      for (const queue of ["shop.billing", "shop.billing.dead"]) expect(await system.drain(queue)).toEqual([]);
      await proxy.close();
      await system.dispose();
    });
  });
