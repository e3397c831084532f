import { describe, expect, inject, test } from "vitest";

import type { System, TargetInput } from "../../src/index.ts";
import type { Target } from "../../src/brokers/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { type MigrationStep, planMigration } from "../../src/migrate/plan-migration.ts";
import { modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import { fill } from "../support/change/live-change.ts";
import type { Deployment } from "../support/change/registered.ts";
import { until } from "../support/deployed-system.ts";
import { checked, shopWith } from "../support/examples.ts";
import { createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

// The steps of a migration, while messages wait in every place. In the end consumers fail every attempt. Each message
// must then be in the dead queue of the contract that it began with, once.

const perQueue = 100;

function systemOf(own: object): System {
  return checked(
    shopWith({
      billing: {
        from: { orders: ["order.placed"] },
        retry: { attempts: 4, backoff: { kind: "constant", delay: "1s" } },
        ...own,
      },
      mail: { from: { orders: "all" }, retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } } },
    }),
  );
}

const jitter = { retry: { attempts: 4, backoff: { kind: "constant", delay: "1s", jitter: "20%" } } };

describe.each(inject("brokers"))("on RabbitMQ $fullVersion", (broker) => {
  test.concurrent.each([
    ["another strategy, because jitter comes", jitter, "auto"],
    ["another strategy, which the target names", {}, "waits"],
    ["another name for the work queue", { queue: "invoices" }, "auto"],
  ] as const)("%s", { timeout: 600_000 }, async (_, own, strategy) => {
    const { vhost, dispose } = await createVhost(broker);
    const engine = await (hasPulumiCli ? pulumiEngine(broker) : modelledEngine(broker));
    try {
      const target = { broker: "rabbitmq", version: broker.version } as TargetInput;
      const before: Deployment = {
        component: "shop",
        vhost,
        system: systemOf({}),
        version: broker.version,
        strategy: "auto",
      };
      const old = readDeployed(before.system, target);
      const planned = old === null ? null : planMigration(old, systemOf(own), { ...old.target, strategy } as Target);
      if (planned?.ok !== true) throw new Error("there is no migration");
      const { beside, last, moved } = planned.value;
      // Up to 3.12 there is no strategy that jitter would change.
      if (beside === null) {
        expect([broker.version, "queue" in own]).toEqual(["3.10", false]);
        return;
      }
      const as = ({ system, target: { strategies } }: MigrationStep): Deployment => {
        return { ...before, system, strategy, strategies: strategies as Deployment["strategies"] };
      };
      expect(await engine.up(before, { skipPreview: true })).toBeNull();
      const waiting = await fill(broker, before, perQueue);
      await waiting.publish();
      expect(await engine.up(as(beside), { skipPreview: true })).toBeNull();
      await waiting.publish(as(beside));
      expect(await waiting.unsettled(as(beside), [as(beside)])).toEqual([]);
      const queue = moved[0]?.newQueue ?? "";
      const path = `queues/${encodeURIComponent(vhost)}/${queue}`;
      const management = createManagement(broker.managementUrl);
      const countOf = async () => (await management.get<{ readonly messages?: number }>(path)).messages;
      // A quorum queue reports its count every five seconds, and each queue at times of its own.
      await until(60_000, async () => (await countOf()) === perQueue);
      await engine.unprotect();
      expect(await engine.up(as(last), { skipPreview: true })).toBeNull();
      await waiting.dispose();
    } finally {
      await engine.dispose();
      await dispose();
    }
  });
});
