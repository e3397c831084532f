import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import type { AmqpProxy } from "../support/consume/amqp-proxy.ts";
import type { Handle } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { oneConsumer } from "../support/examples.ts";

const declaration = oneConsumer({
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "50ms" } },
  crash: { deliveries: 20 },
});
const strategy = "waits";

describe.concurrent.each(brokers().map((broker) => ({ broker, name: broker.version })))(
  "messages without an id on $name",
  ({ broker }) => {
    const { proxied, consumed } = liveStage(broker);
    const started = async (handler: Handle) => {
      const { system, proxy } = await proxied(declaration, strategy);
      const billing = await consumed({ ...system, url: proxy.url, options: { concurrency: 1 } }, handler);
      // Drops the frames of the start, so that only copies remain.
      proxy.frames.length = 0;
      return { system, proxy, billing };
    };
    const publish = async ({ channel }: DeployedSystem, count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent++)
        channel.publish("shop.orders", "order.placed", Buffer.from('"x"'), { persistent: true });
      await channel.waitForConfirms();
    };
    const copiesIn = ({ frames }: AmqpProxy): readonly (string | null)[] =>
      frames.flatMap((frame) => (frame.kind === "properties" ? [frame.messageId] : []));
    const anyId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

    test("a copy that the broker does not take is sent again with the same id", async () => {
      const { system, proxy, billing } = await started(() => {
        throw permanent("NEVER");
      });
      await system.channel.unbindQueue("shop.billing.dead", "shop.dead", "shop.billing");
      await publish(system, 1);
      await until(30_000, () => billing.count("settle-failed") >= 2);
      await system.channel.bindQueue("shop.billing.dead", "shop.dead", "shop.billing");
      const [id, ...more] = await system.deadIds(1);
      expect(id).toMatch(anyId);
      expect(more).toEqual([]);
      expect(copiesIn(proxy).length).toBeGreaterThanOrEqual(3);
      expect(new Set(copiesIn(proxy))).toEqual(new Set([id]));
    });

    test("two messages with equal content get different ids, and keep them through their attempts", async () => {
      const { system, billing } = await started(() => {
        throw new Error("always");
      });
      await publish(system, 2);
      const ids = await system.deadIds(2);
      expect(new Set(ids).size).toBe(2);
      // The handler sees the message's own id, which is null at first.
      expect(billing.runs.filter(({ attempt }) => attempt === 1).map(({ id }) => id)).toEqual(["null", "null"]);
      for (const id of ids) expect(billing.runsOf(id).map(({ attempt }) => attempt)).toEqual([2, 3]);
    });

    test("a message that is doubled between copy and acknowledgement has two ids, which nothing connects", async () => {
      const { system, proxy } = await started(() => {
        throw permanent("NEVER");
      });
      let isCut = false;
      proxy.onFrame = ({ kind }) => {
        if (isCut || kind !== "ack") return "pass";
        isCut = true;
        return "cut";
      };
      await publish(system, 1);
      const ids = await system.deadIds(2);
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(2);
    });
  },
);
