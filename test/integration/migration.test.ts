import { describe, expect, inject, test } from "vitest";

import type { System, TargetInput } from "../../src/index.ts";
import type { Target } from "../../src/brokers/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { type MigrationStep, planMigration } from "../../src/migrate/plan-migration.ts";
import { modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import { fill } from "../support/change/live-change.ts";
import type { Deployment } from "../support/change/registered.ts";
import { until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { type Strategy, strategiesOn } from "../support/strategies.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

// The steps of a migration, while messages wait in every place. In the end consumers fail every attempt. Each message
// must then be in the dead queue of the contract that it began with, once.

/** `REDELIVER_MESSAGES=2000` takes about a quarter of an hour. */
const perQueue = Number(process.env["REDELIVER_MESSAGES"] ?? 50);

function systemOf({ source = "orders", kind = "topic", ...settings }: Change): System {
  const { deadQueue: _, ...own } = settings;
  return checked({
    name: "shop",
    sources: { [source]: { kind } },
    consumers: {
      billing: {
        from: { [source]: ["order.placed"] },
        retry: { attempts: 4, backoff: { kind: "constant", delay: "1s" } },
        ...own,
      },
      mail: {
        from: { [source]: kind === "topic" ? "all" : ["order.placed"] },
        retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } },
      },
    },
  });
}

/** Settings of a consumer, of the source, and of the target. */
interface Change extends Readonly<Record<string, unknown>> {
  readonly source?: string;
  readonly kind?: string;
  readonly deadQueue?: "shared";
}

const attempting = (attempts: number) => ({ retry: { attempts, backoff: { kind: "constant", delay: "1s" } } });
const jitter = { retry: { attempts: 4, backoff: { kind: "constant", delay: "1s", jitter: "20%" } } };

type Row = readonly [change: string, before: Change, after: Change, from: Strategy | "auto", to: Strategy | "auto"];

/** A consumer has one protocol, and each strategy is for one. */
const protocolOf = (strategy: Strategy): Change => (strategy === "deferred" ? { protocol: "amqp-1.0" } : {});

const rowsOn = ({ version }: Broker): readonly Row[] => {
  const strategies = strategiesOn(version);
  const pairs = strategies.flatMap((from) =>
    strategies
      .filter((to) => to !== from)
      .map((to): Row => [`${from} to ${to}`, protocolOf(from), protocolOf(to), from, to]),
  );
  return [
    ["another strategy, because jitter comes", {}, jitter, "auto", "auto"],
    ["another name for the work queue", {}, { queue: "invoices" }, "auto", "auto"],
    ["a source of another kind", {}, { kind: "direct" }, "auto", "auto"],
    ["another source, and another work queue", {}, { source: "sales", queue: "invoices" }, "auto", "auto"],
    ["one dead queue for all consumers", {}, { deadQueue: "shared" }, "auto", "auto"],
    ["a dead queue for each consumer", { deadQueue: "shared" }, {}, "auto", "auto"],
    ["the settings of the queue into a policy", {}, { queueSettings: "policy" }, "auto", "auto"],
    ["the settings of the queue out of a policy", { queueSettings: "policy" }, {}, "auto", "auto"],
    // One deployment would give messages that wait up to 14 attempts.
    ...(strategies.includes("staged")
      ? [["3 attempts in place of 12", attempting(12), attempting(3), "staged", "staged"] satisfies Row]
      : []),
    ...pairs,
  ];
};

describe.each(inject("brokers"))("on RabbitMQ $fullVersion", (broker) => {
  test.concurrent.each(rowsOn(broker))("%s", { timeout: 1_800_000 }, async (_, first, then, from, to) => {
    const { vhost, dispose } = await createVhost(broker);
    const engine = await (hasPulumiCli ? pulumiEngine(broker) : modelledEngine(broker));
    try {
      const before: Deployment = {
        component: "shop",
        vhost,
        system: systemOf(first),
        version: broker.version,
        strategy: "auto",
        strategies: { billing: from },
        deadQueue: first.deadQueue,
      };
      const { version, strategies, deadQueue } = before;
      const old = readDeployed(before.system, { broker: "rabbitmq", version, strategies, deadQueue } as TargetInput);
      const wanted = { ...old?.target, strategies: { billing: to }, deadQueue: then.deadQueue } as Target;
      const planned = old === null ? null : planMigration(old, systemOf(then), wanted);
      if (planned?.ok !== true) throw new Error("there is no migration");
      const { steps, moved, sources } = planned.value;
      const [beside, ...others] = steps;
      // Up to 3.12 there is no strategy that jitter would change.
      if (beside === undefined || others.length === 0) {
        expect([broker.version, then]).toEqual(["3.10", jitter]);
        return;
      }
      const as = ({ system, target }: MigrationStep): Deployment => {
        const { strategies, deadQueue } = target as Pick<Deployment, "strategies" | "deadQueue">;
        return { ...before, system, strategies, deadQueue };
      };
      expect(await engine.up(before, { skipPreview: true })).toBeNull();
      const waiting = await fill(broker, before, perQueue);
      await waiting.publish();
      expect(await engine.up(as(beside), { skipPreview: true })).toBeNull();
      await waiting.publish(as(beside));
      expect(await waiting.unsettled(as(beside), [as(beside)])).toEqual([]);
      const management = createManagement(broker.managementUrl);
      for (const { newQueue } of moved) {
        const path = `queues/${encodeURIComponent(vhost)}/${newQueue}`;
        const countOf = async () => (await management.get<{ readonly messages?: number }>(path)).messages;
        // A quorum queue reports its count every five seconds, and each queue at times of its own.
        await until(60_000, async () => (await countOf()) === perQueue * (1 + sources.length));
      }
      for (const step of others) {
        await engine.unprotect();
        expect(await engine.up(as(step), { skipPreview: true })).toBeNull();
        if (moved.length === 0) await waiting.publish(as(step));
      }
      const last = as(others.at(-1) ?? beside);
      if (moved.length === 0) expect(await waiting.unsettled(last, [last])).toEqual([]);
      await waiting.dispose();
    } finally {
      await engine.dispose();
      await dispose();
    }
  });
});
