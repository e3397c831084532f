import { permanent } from "redeliver/consume";
import { describe, expect, inject, test } from "vitest";

import { startBroker } from "../support/broker-containers.ts";
import type { BrokerVersion } from "../support/broker-images.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, until } from "../support/deployed-system.ts";

const failing = 5;
const ids = Array.from({ length: 200 }, (_, index) => `m${index}`);

// The test starts its own broker, because an alarm blocks every publisher.
describe.for(inject("brokers").filter(({ version }) => version !== "3.10"))(
  "a memory alarm on RabbitMQ $fullVersion",
  ({ version }) => {
    test.for(["staged", "waits"] as const)(
      "%s: a consumer starts without a management API, drains its queue, and dead-letters failed messages after the alarm",
      async (strategy) => {
        const { broker, exec, stop } = await startBroker(version as BrokerVersion);
        try {
          const declaration = billingUnder(strategy);
          const system = await deploy(broker, declaration, strategy);
          await system.publish(ids);
          await exec(["rabbitmqctl", "set_vm_memory_high_watermark", "0.00001"]);
          const options = { connection: { url: system.url } };
          const billing = await consumeFrom({ ...system, options }, ({ id }) => {
            if (ids.indexOf(id) < failing) throw permanent("NEVER");
          });
          // The failed messages stay in hand until their copies are confirmed. All others are settled.
          await until(60_000, () => billing.count("settled") === ids.length - failing);
          await until(60_000, () => billing.running.health().state === "blocked");
          expect(billing.running.health()).toMatchObject({ isTaking: true, handling: failing });
          expect(billing.count("blocked")).toBe(1);
          await exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "2GB"]);
          await until(60_000, () => billing.count("settled") === ids.length);
          await until(60_000, () => billing.running.health().state === "running");
          expect(billing.count("unblocked")).toBe(1);
          await billing.running.stop();
          expect(billing.count("lost")).toBe(0);
          expect(billing.runs).toHaveLength(ids.length);
          expect(await system.drain("shop.billing.dead")).toHaveLength(failing);
          await system.dispose();
        } finally {
          await stop();
        }
      },
    );
  },
);
