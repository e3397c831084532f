import { describe, expect, test } from "vitest";

import { withChannelMax } from "../support/consume/amqp-1-0-frames.ts";
import { settles } from "../support/consume/judge-wire-1-0.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { oneConsumer } from "../support/examples.ts";

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
    const { proxied, consumed } = liveStage(broker);

    test("more long handlers than a connection has sessions: the consumer opens more connections, and quick messages pass", async () => {
      const { system, proxy } = await proxied(declaration, strategy);
      proxy.onFrame = ({ kind }, bytes) => (kind === "opened" ? withChannelMax(bytes, channelMax) : "pass");
      const long = quickAfterEach.map((_, index) => `long ${index}`);
      const releases = new Map<string, () => void>();
      const options = { concurrency: long.length + 1, breaker: false } as const;
      const billing = await consumed({ ...system, url: proxy.url, options }, ({ id }) =>
        long.includes(id) ? new Promise<void>((resolve) => releases.set(id, resolve)) : undefined,
      );
      // Each connection takes two handlers, one fewer than it has sessions for deliveries.
      await until(30_000, () => proxy.connections() === 2);
      for (const [index, count] of quickAfterEach.entries()) {
        const quick = Array.from({ length: count }, (_, number) => `${number} after ${index}`);
        await system.publish([`long ${index}`, ...quick]);
      }
      const quick = quickAfterEach.reduce((sum, count) => sum + count, 0);
      await until(100_000, () => billing.count("settled") === quick);
      expect(billing.running.health()).toMatchObject({ state: "running", handling: long.length });
      for (const release of releases.values()) release();
      await until(30_000, () => billing.count("settled") === quick + long.length);
      await billing.running.stop();
      expect(billing.runs).toHaveLength(quick + long.length);
      expect(billing.kinds()).not.toContain("lost");
      const channels = proxy.frames.flatMap((frame) => (frame.kind === "begun" ? [frame.channel] : []));
      // Sessions ended and others began. The consumer used every session that the limit allows, and none beyond it.
      expect(channels.length).toBeGreaterThan(2 * channelMax);
      expect(Math.max(...channels)).toBe(channelMax - 1);
      expect(await system.drain("shop.billing")).toEqual([]);
    });

    test("one of several connections is lost: the consumer reopens all, and each message ends once", async () => {
      const { system, proxy } = await proxied(declaration, strategy);
      proxy.onFrame = ({ kind }, bytes) => (kind === "opened" ? withChannelMax(bytes, channelMax) : "pass");
      const options = { concurrency: 5, breaker: false } as const;
      const billing = await consumed({ ...system, url: proxy.url, options }, () => undefined);
      let isCut = false;
      proxy.onFrame = ({ kind }, bytes) => {
        if (kind === "opened") return withChannelMax(bytes, channelMax);
        if (isCut || kind !== "disposition") return "pass";
        isCut = true;
        return "cut";
      };
      const ids = Array.from({ length: 50 }, (_, index) => `m${index}`);
      await system.publish(ids);
      await until(30_000, () => billing.count("reconnected") === 1);
      const succeeded = (): Set<unknown> =>
        new Set(billing.events.flatMap((event) => (event.kind === "settled" ? [event.messageId] : [])));
      await until(30_000, () => succeeded().size === ids.length);
      expect(billing.count("lost")).toBe(1);
      // The consumer does not learn that its outcome was cut. The message comes again when the broker has noticed it.
      const ended = (): Set<string> =>
        new Set(
          proxy.frames.flatMap((frame) =>
            frame.kind === "transfer" && proxy.frames.some((each) => settles(each, frame)) ? [frame.messageId] : [],
          ),
        );
      await until(30_000, () => ended().size === ids.length);
      await until(30_000, () => proxy.connections() === 3);
      await billing.running.stop();
      await until(30_000, () => proxy.connections() === 0);
      for (const queue of ["shop.billing", "shop.billing.dead"]) expect(await system.drain(queue)).toEqual([]);
    });

    test("one of several connections is lost: the messages of the others lose no attempt", async () => {
      const { system, proxy } = await proxied(declaration, strategy);
      const ids = Array.from({ length: 5 }, (_, index) => `m${index}`);
      let cut = -1;
      proxy.onFrame = (frame, bytes) => {
        if (frame.kind === "opened") return withChannelMax(bytes, channelMax);
        if (cut !== -1 || frame.kind !== "transfer" || frame.messageId !== ids.at(-1)) return "pass";
        cut = frame.session;
        return "cut";
      };
      const options = { concurrency: ids.length, breaker: false } as const;
      const billing = await consumed({ ...system, url: proxy.url, options }, () =>
        cut === -1 || billing.count("reconnected") === 0 ? sleep(1_000) : undefined,
      );
      await system.publish(ids);
      await until(30_000, () => billing.count("settled") === ids.length);
      const onCut = new Set(
        proxy.frames.flatMap((each) => (each.kind === "transfer" && each.session === cut ? [each.messageId] : [])),
      );
      for (const id of ids) {
        const attempt = billing.runs.findLast((run) => run.id === id)?.attempt;
        expect(attempt, id).toBe(onCut.has(id) || id === ids.at(-1) ? 2 : 1);
      }
      await billing.running.stop();
    });
  });
