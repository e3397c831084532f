import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import { startBroker } from "../support/broker-containers.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { brokers, strategyCases } from "../support/live.ts";
import { publishesCopies, strategiesOn } from "../support/strategies.ts";
import { oneConsumer } from "../support/examples.ts";

const declaration = oneConsumer({
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "constant", delay: "200ms" } },
});

const newest = brokers().find(({ version }) => version === "4.3");

const cases = strategyCases((version) => strategiesOn(version).filter(publishesCopies));

describe.concurrent.each(cases)("$name", { timeout: 240_000 }, ({ broker, strategy }) => {
  const { proxied, consumed } = liveStage(broker);

  test("the confirm never comes: the copy is sent again on another channel, and its confirm counts", async () => {
    const { system, proxy } = await proxied(declaration, strategy);
    let swallowed = 0;
    proxy.onFrame = ({ kind }) => {
      if (kind !== "confirmed" || swallowed > 0) return "pass";
      swallowed += 1;
      return Buffer.alloc(0);
    };
    const options = { concurrency: 1, breaker: false } as const;
    const billing = await consumed({ ...system, url: proxy.url, options }, () => {
      throw permanent("NEVER");
    });
    await system.publish(["a", "b"]);
    await until(120_000, () => billing.count("settled") === 2);
    expect(swallowed).toBe(1);
    expect(billing.runs.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(billing.kinds()).toEqual(["started", "settle-failed", "settled", "settled"]);
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
    await system.publish(ids);
    await exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "1"]);
    const options = { concurrency: 2, breaker: false } as const;
    const billing = await consumeFrom({ ...system, options }, () => {
      throw permanent("NEVER");
    });
    onTestFinished(() => billing.running.stop("1s"));
    await until(30_000, () => billing.running.health().handling === 2);
    await sleep(33_000);
    expect(billing.running.health()).toMatchObject({ handling: 2 });
    expect(billing.kinds()).not.toContain("settle-failed");
    await exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "2GB"]);
    await until(60_000, () => billing.count("settled") === ids.length);
    expect(billing.kinds()).not.toContain("settle-failed");
    const letters = await system.drain("shop.billing.dead");
    expect(letters.map(({ properties }) => String(properties.messageId)).toSorted()).toEqual(ids);
    expect(await system.drain("shop.billing")).toEqual([]);
  },
);
