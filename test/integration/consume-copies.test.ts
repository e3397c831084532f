import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import { billingUnder } from "../support/consume/billing-under.ts";
import type { Handle } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type DeployedSystem, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { publishesCopies, strategiesOn, type Strategy } from "../support/strategies.ts";

describe.concurrent.each(brokers().map((broker) => ({ broker, name: broker.version })))("on $name", ({ broker }) => {
  const { deployed, consumed } = liveStage(broker);
  const started = async (strategy: Strategy, concurrency: number, handler: Handle) => {
    const system = await deployed(billingUnder(strategy), strategy);
    const billing = await consumed({ ...system, options: { concurrency, breaker: false } }, handler);
    return { system, billing };
  };
  test.for(strategiesOn(broker.version))(
    "a dead letter that is sent again begins with its first attempt: %s",
    async (strategy) => {
      const { system, billing } = await started(strategy, 1, () => {
        throw new Error("always");
      });
      await system.publish(["a"]);
      const letters = async (): Promise<Awaited<ReturnType<DeployedSystem["drain"]>>> => {
        const found: Awaited<ReturnType<DeployedSystem["drain"]>> = [];
        await until(30_000, async () => {
          found.push(...(await system.drain("shop.billing.dead")));
          return found.length > 0;
        });
        return found;
      };
      const [letter] = await letters();
      if (letter === undefined) throw new Error("there is no dead letter");
      // An operator who does not know about retries sends it again with all its headers.
      system.channel.publish("", "shop.billing", letter.content, letter.properties);
      await system.channel.waitForConfirms();
      await letters();
      expect(billing.runs.map((run) => run.attempt)).toEqual([1, 2, 3, 1, 2, 3]);
    },
  );

  test.for(strategiesOn(broker.version).filter(publishesCopies))(
    "a copy goes to one queue, with any CC of its message, and has no user-id: %s",
    async (strategy) => {
      const { system, billing } = await started(strategy, 1, ({ id, attempt }) => {
        if (id === "dies") throw permanent("NEVER");
        if (attempt < 3) throw new Error("again");
      });
      await system.channel.assertQueue("stray", { durable: true });
      for (const messageId of ["dies", "succeeds"]) {
        system.channel.publish("shop.orders", "order.placed", Buffer.from("1"), {
          messageId,
          persistent: true,
          userId: "guest",
          CC: ["stray"],
          headers: { kept: "yes" },
        });
      }
      await system.channel.waitForConfirms();
      await until(30_000, () => billing.count("settled") === 4);
      const [letter] = await system.drain("shop.billing.dead");
      expect(letter?.properties.headers).toMatchObject({ kept: "yes", "dlq-failure-reason": "NEVER" });
      expect(letter?.properties.headers).not.toHaveProperty("CC");
      expect(letter?.properties.userId).toBeUndefined();
      expect(await system.drain("stray")).toEqual([]);
    },
  );

  test.runIf(broker.version === "4.3")(
    "AMQP 1.0: outcomes of neighbouring messages in one turn are not confused",
    async () => {
      let waiting: (() => void)[] = [];
      const { system, billing } = await started("deferred", 50, async ({ id }) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        if (Number(id) % 2 === 1) throw permanent("ODD");
      });
      const ids = Array.from({ length: 50 }, (_, index) => String(index));
      await system.publish(ids);
      await until(30_000, () => waiting.length === 50);
      for (const end of waiting) end();
      waiting = [];
      await until(30_000, () => billing.count("settled") === 50);
      const dead = new Set(await system.deadIds(25));
      expect([...dead].toSorted()).toEqual(ids.filter((id) => Number(id) % 2 === 1).toSorted());
    },
  );

  test.runIf(broker.version === "4.3")(
    "AMQP 1.0: a long handler does not stop thousands of other messages",
    async () => {
      let release = (): void => undefined;
      const long = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { system, billing } = await started("deferred", 20, ({ id }) => (id === "long" ? long : undefined));
      await system.publish(["long", ...Array.from({ length: 5_000 }, (_, index) => `m${index}`)]);
      await until(60_000, () => billing.count("settled") === 5_000);
      expect(billing.running.health()).toMatchObject({ handling: 1, waiting: 0 });
      release();
      await until(30_000, () => billing.count("settled") === 5_001);
      await sleep(100);
      await billing.running.stop();
      expect(billing.runs).toHaveLength(5_001);
      expect(await system.drain("shop.billing")).toEqual([]);
    },
  );
});
