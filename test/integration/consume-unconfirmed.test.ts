import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import { startBroker } from "../support/broker-containers.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { brokers, strategyCases } from "../support/live.ts";
import { publishesCopies, strategiesOn } from "../support/strategies.ts";
import { oneConsumer } from "../support/examples.ts";

const declaration = oneConsumer({
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "constant", delay: "200ms" } },
});

const source = { exchange: "shop.orders", routingKey: "order.placed" };

const newest = brokers().find(({ version }) => version === "4.3");

const cases = strategyCases((version) => strategiesOn(version).filter(publishesCopies));

describe.concurrent.each(cases)("$name", { timeout: 240_000 }, ({ broker, strategy }) => {
  test("the confirm never comes: the copy is sent again on another channel, and its confirm counts", async (context) => {
    const system = await deploy(broker, declaration, strategy);
    context.onTestFinished(() => system.dispose());
    const proxy = await startAmqpProxy(system.url);
    context.onTestFinished(() => proxy.close());
    let swallowed = 0;
    proxy.onFrame = ({ kind }) => {
      if (kind !== "confirmed" || swallowed > 0) return "pass";
      swallowed += 1;
      return Buffer.alloc(0);
    };
    const options = { concurrency: 1, breaker: false } as const;
    const input = { broker, declaration, consumer: "billing", strategy, options } as const;
    const billing = await consumeFrom({ ...system, url: proxy.url }, input, () => {
      throw permanent("NEVER");
    });
    context.onTestFinished(() => billing.running.stop("1s"));
    await system.publish(["a", "b"], source);
    await until(120_000, () => billing.events.filter(({ kind }) => kind === "settled").length === 2);
    expect(swallowed).toBe(1);
    expect(billing.runs.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(billing.events.map(({ kind }) => kind)).toEqual(["started", "settle-failed", "settled", "settled"]);
    const letters = await system.drain("shop.billing.dead");
    expect(letters.map(({ properties }) => String(properties.messageId))).toEqual(["a", "a", "b"]);
    expect(await system.drain("shop.billing")).toEqual([]);
  });
});

// An alarm on a shared broker would stop other tests too, and without containers the test has no broker of its own.
test.runIf(newest?.containerId !== undefined)(
  "a broker that is short of memory reads nothing for longer than a copy waits: each copy is sent once",
  { timeout: 240_000, concurrent: true },
  async ({ onTestFinished }) => {
    const { broker, exec, stop } = await startBroker("4.3");
    onTestFinished(stop);
    const system = await deploy(broker, declaration, "waits");
    onTestFinished(() => system.dispose());
    const ids = ["a", "b", "c", "d"];
    await system.publish(ids, source);
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
