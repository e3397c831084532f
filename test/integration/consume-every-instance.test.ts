import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import type { ConsumedSystem, Handle } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type DeployedSystem, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";

const source = { exchange: "shop.prices", routingKey: "price.changed" };
const declaration = {
  name: "shop",
  sources: { prices: { kind: "topic" } },
  consumers: { cache: { from: { prices: ["price.*"] }, delivery: "every-instance" } },
};

describe.concurrent.each(brokers().map((broker) => ({ broker, name: broker.version })))(
  "a consumer with a queue for every instance, on $name",
  ({ broker }) => {
    const { proxied, consumed } = liveStage(broker);
    const deployed = () => proxied(declaration);
    const instance = async (system: DeployedSystem, handler: Handle = () => undefined): Promise<ConsumedSystem> => {
      return consumed({ ...system, consumer: "cache" }, handler);
    };
    const queues = async ({ vhost }: DeployedSystem): Promise<number> =>
      (await createManagement(broker.managementUrl).queues(vhost)).length;

    test("each of two instances gets each message, and a failed message comes to neither again", async () => {
      const { system } = await deployed();
      const [first, second] = await Promise.all([
        instance(system, ({ id }) => {
          if (id === "b") throw new Error("not here");
          if (id === "c") throw permanent("NEVER");
        }),
        instance(system),
      ]);
      await system.publish(["a", "b", "c"], source);
      await system.publish(["elsewhere"], { ...source, routingKey: "stock.changed" });
      await until(30_000, () => first.count("settled") === 3 && second.count("settled") === 3);
      // A message that came again would come at once, before this one.
      await system.publish(["last"], source);
      await until(30_000, () => first.count("settled") === 4 && second.count("settled") === 4);
      for (const { runs } of [first, second]) {
        expect(runs.map(({ id }) => id)).toEqual(["a", "b", "c", "last"]);
        expect(new Set(runs.map(({ attempt }) => attempt))).toEqual(new Set([1]));
      }
      const outcomes = first.events.flatMap((event) =>
        event.kind === "settled" ? [[event.messageId, event.outcome] as const] : [],
      );
      expect(new Map(outcomes)).toEqual(
        new Map([
          ["a", "success"],
          ["b", "transient"],
          ["c", "permanent"],
          ["last", "success"],
        ]),
      );
    });

    test("an instance whose connection is cut gets a new queue, and all later messages", async () => {
      const { system, proxy } = await deployed();
      const cut = await instance({ ...system, url: proxy.url });
      const other = await instance(system);
      await system.publish(["before"], source);
      await until(30_000, () => cut.count("settled") === 1 && other.count("settled") === 1);
      proxy.refuses = true;
      proxy.cutAll();
      await until(30_000, () => cut.count("reconnect-failed") > 0);
      await until(30_000, async () => (await queues(system)) === 1);
      await system.publish(["meanwhile"], source);
      proxy.refuses = false;
      await until(30_000, () => cut.count("reconnected") > 0);
      await system.publish(["after"], source);
      await until(30_000, () => cut.count("settled") === 2 && other.count("settled") === 3);
      expect(cut.runs.map(({ id }) => id)).toEqual(["before", "after"]);
      expect(other.runs.map(({ id }) => id)).toEqual(["before", "meanwhile", "after"]);
    });

    test("nothing stays after a stop, not even from a handler that does not end", async () => {
      const { system, proxy } = await deployed();
      const busy = await instance({ ...system, url: proxy.url }, () => sleep(60_000));
      const other = await instance(system);
      expect(await queues(system)).toBe(2);
      await system.publish(["a"], source);
      await until(30_000, () => busy.runs.length === 1 && other.count("settled") === 1);
      await Promise.all([busy.running.stop("50ms"), other.running.stop()]);
      await until(30_000, async () => (await queues(system)) === 0);
      await until(30_000, () => proxy.connections() === 0);
      // The next instance gets no message that an older one left.
      const next = await instance(system);
      await system.publish(["b"], source);
      await until(30_000, () => next.count("settled") === 1);
      expect(next.runs.map(({ id }) => id)).toEqual(["b"]);
    });
  },
);
