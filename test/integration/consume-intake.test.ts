import { setImmediate as setImmediatePromise } from "node:timers/promises";
import type { Connection, Delivery } from "rhea";
import { afterAll, describe, expect, test, vi } from "vitest";

import { connectByAmqp10, endConnection } from "../../src/brokers/rabbitmq/run/amqp-1-0/connect.ts";
import { createIntake, type Intake } from "../../src/brokers/rabbitmq/run/amqp-1-0/intake.ts";
import { deploy, type DeployedSystem, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { oneConsumer } from "../support/examples.ts";
import { standStill } from "../support/stand-still.ts";

const declaration = oneConsumer({
  from: { orders: "all" },
  protocol: "amqp-1.0",
  retry: { attempts: 3, backoff: { kind: "immediate" } },
});

for (const broker of brokers())
  describe.runIf(broker.version === "4.3")(`taking by AMQP 1.0 on ${broker.version}`, () => {
    const systems: DeployedSystem[] = [];
    const connections: Connection[] = [];
    afterAll(async () => {
      await Promise.all(connections.map((connection) => endConnection(connection, 2_000)));
      await Promise.all(systems.map((system) => system.dispose()));
    });

    /** Accepts each message a moment after it came. */
    const started = async (
      concurrency: number,
    ): Promise<{ system: DeployedSystem; intake: Intake; taken: string[]; most: () => number }> => {
      const system = await deploy(broker, declaration, "deferred");
      systems.push(system);
      const connection = await connectByAmqp10({ url: system.url, withinMs: 30_000 }, null, () => undefined);
      connections.push(connection);
      const taken: string[] = [];
      const inHand = new Set<Delivery>();
      let most = 0;
      const intake = await createIntake(connection, "shop.billing", concurrency, {
        delivered: ({ message, delivery }) => {
          if (delivery === undefined) return;
          taken.push(String(message?.message_id));
          inHand.add(delivery);
          most = Math.max(most, inHand.size);
          setTimeout(() => {
            inHand.delete(delivery);
            intake.dispose(delivery, "accepted", () => delivery.accept());
          }, 2);
        },
        lost: () => undefined,
      });
      return { system, intake, taken, most: () => most };
    };

    test("a pause that ends before the broker has confirmed it blocks nothing", async () => {
      const { system, intake, taken } = await started(5);
      intake.resume(5);
      await system.publish(["a"]);
      await until(30_000, () => taken.length === 1);
      // No message is in hand whose settlement would ask for more.
      await sleep(100);
      void intake.pause();
      intake.resume(5);
      await system.publish(["b", "c"]);
      await until(30_000, () => taken.length === 3);
      expect(taken).toEqual(["a", "b", "c"]);
    });

    test.runIf(broker.containerId !== undefined)(
      "a session that another one replaces forgets no settlement",
      async () => {
        const system = await deploy(broker, declaration, "deferred");
        systems.push(system);
        const connection = await connectByAmqp10({ url: system.url, withinMs: 30_000 }, null, () => undefined);
        connections.push(connection);
        const taken: string[] = [];
        const sessions = new Set<unknown>();
        const held: (() => void)[] = [];
        const intake = await createIntake(connection, "shop.billing", 400, {
          delivered: ({ message, delivery, session }) => {
            if (delivery === undefined) return;
            taken.push(String(message?.message_id));
            sessions.add(session);
            const settle = (): void => intake.dispose(delivery, "accepted", () => delivery.accept());
            // The first session keeps some in hand when the next one has begun.
            if (sessions.size === 1 && taken.length > 900 && held.length < 200) held.push(settle);
            else setImmediate(settle);
          },
          lost: () => undefined,
        });
        const ids = Array.from({ length: 1_600 }, (_, index) => `m${index}`);
        await system.publish(ids);
        intake.resume(400);
        await until(60_000, () => taken.length === ids.length);
        await sleep(500);
        expect([sessions.size, held.length > 100]).toEqual([2, true]);
        const goOn = await standStill(broker, system, "shop.billing");
        for (const settle of held) {
          settle();
          await setImmediatePromise();
        }
        await sleep(1_000);
        await goOn();
        await sleep(3_000);
        expect(taken.length).toBe(ids.length);
        expect(await system.drain("shop.billing")).toEqual([]);
      },
    );

    // Not concurrent, because it listens to the console.
    test("pauses and resumptions in any order: each message comes once, never more than requested, and none in a pause", async () => {
      const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
      try {
        const concurrency = 4;
        const { system, intake, taken, most } = await started(concurrency);
        const ids = Array.from({ length: 300 }, (_, index) => `m${index}`);
        await system.publish(ids);
        for (let round = 0; round < 40; round++) {
          intake.resume(concurrency);
          if (round % 3 !== 0) await sleep(round % 5);
          const paused = intake.pause();
          if (round % 4 === 0) void intake.pause();
          if (round % 2 === 0) continue;
          await paused;
          const before = taken.length;
          await sleep(10);
          expect(taken.length, `round ${round}`).toBe(before);
        }
        intake.resume(concurrency);
        await until(30_000, () => taken.length >= ids.length);
        await intake.pause();
        expect(taken.toSorted()).toEqual(ids.toSorted());
        expect(most()).toBeLessThanOrEqual(concurrency);
        expect(written).not.toHaveBeenCalled();
      } finally {
        written.mockRestore();
      }
    });
  });
