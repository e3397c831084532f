import { expect, onTestFinished, test } from "vitest";
import { permanent } from "redeliver/consume";

import { startBroker } from "../support/broker-containers.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const declaration = {
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: { from: { orders: "all" }, retry: { attempts: 2, backoff: { kind: "constant", delay: "200ms" } } },
  },
};

/** An alarm of a broker that serves other tests would stop them too, and there may be no Docker to start one of our own. */
const hasContainers = brokers().some((broker) => broker.version === "4.3" && broker.containerId !== undefined);

test.runIf(hasContainers)(
  "a broker that reads nothing for longer than a copy waits, because it is short of memory: each copy is sent once",
  { timeout: 240_000 },
  async () => {
    const { broker, exec, stop } = await startBroker("4.3");
    onTestFinished(stop);
    const system = await deploy(broker, declaration, "waits");
    onTestFinished(() => system.dispose());
    const ids = ["a", "b", "c", "d"];
    await system.publish(ids, { exchange: "shop.orders", routingKey: "order.placed" });
    await exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "1"]);
    const options = { concurrency: 2, breaker: false } as const;
    const input = { broker, declaration, consumer: "billing", strategy: "waits", options } as const;
    const billing = await consumeFrom(system, input, () => {
      throw permanent("NEVER");
    });
    onTestFinished(() => billing.running.stop("1s"));
    await until(30_000, () => billing.running.health().handling === 2);
    await sleep(33_000);
    expect(billing.running.health()).toMatchObject({ handling: 2 });
    expect(billing.events.map(({ kind }) => kind)).not.toContain("settle-failed");
    await exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "2GB"]);
    await until(60_000, () => billing.events.filter(({ kind }) => kind === "settled").length === ids.length);
    expect(billing.events.map(({ kind }) => kind)).not.toContain("settle-failed");
    const letters = await system.drain("shop.billing.dead");
    expect(letters.map(({ properties }) => String(properties.messageId)).toSorted()).toEqual(ids);
    expect(await system.drain("shop.billing")).toEqual([]);
  },
);
