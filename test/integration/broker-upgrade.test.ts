import { randomUUID } from "node:crypto";

import { expect, inject, test } from "vitest";

import type { Contract } from "../../src/index.ts";
import { startBroker } from "../support/broker-containers.ts";
import { docker } from "../support/broker-images.ts";
import { modelledEngine } from "../support/change/engines.ts";
import { compiledOf, fill } from "../support/change/live-change.ts";
import type { Deployment } from "../support/change/registered.ts";
import { drive } from "../support/drive.ts";
import { checked, shopWith } from "../support/examples.ts";
import { until } from "../support/deployed-system.ts";
import { type Broker, createVhost } from "../support/live.ts";

// RabbitMQ 4.3 takes over the data of RabbitMQ 4.0, while messages wait in every queue and have had any number of
// attempts. In the end consumers fail every attempt. Each message must then be in its consumer's dead queue. Those that
// move when the broker stops may be there twice, because it dead-letters at least once.
// RabbitMQ 4.0 does not start on the data of 3.10, because it needs the versions between.

const perQueue = 200;
const retry = { attempts: 4, backoff: { kind: "constant", delay: "2s" } };
const system = checked(
  shopWith({
    billing: { from: { orders: ["order.placed"] }, retry },
    mail: {
      from: { orders: "all" },
      retry: { ...retry, attempts: 2 },
      queueSettings: "policy",
      deadLetter: { queueSettings: "policy" },
    },
  }),
);

/** The target before and after the upgrade of the broker. */
const cases = [
  ["staged", "4.0"],
  ["staged", "4.3"],
  ["waits", "4.0"],
  ["waits", "4.3"],
] as const;

// The images of both versions are there if the run has both brokers.
const versions = new Set(inject("brokers").map(({ version }) => version));
const hasBoth = versions.has("4.0") && versions.has("4.3");
if (!hasBoth) console.log("[broker-upgrade] did not run: it needs RabbitMQ 4.0 and 4.3");

test.skipIf(!hasBoth)("RabbitMQ 4.3 takes over the messages of 4.0", { timeout: 600_000 }, async () => {
  const volume = `redeliver-upgrade-${randomUUID()}`;
  const older = await startBroker("4.0", undefined, { takeOver: { volume, ports: null } });
  let newer = older;
  try {
    const systems = await Promise.all(
      cases.map(async ([strategy, target]) => {
        const { vhost, amqpUrl: url } = await createVhost(older.broker);
        const before: Deployment = { component: "shop", vhost, system, version: "4.0", strategy };
        const engine = await modelledEngine(older.broker);
        expect(await engine.up(before, { skipPreview: true })).toBeNull();
        const waiting = await fill(older.broker, before, perQueue);
        await waiting.publish();
        const contracts = compiledOf(before).contracts;
        const consumers = await Promise.all(
          contracts.map(async (contract) => drive({ url, contract, decide: () => "transient", instances: 5 })),
        );
        await until(120_000, async () =>
          consumers.every(({ seen }) => seen.filter(({ attempt }) => attempt > 1).length > 50),
        );
        await Promise.all(consumers.map(async ({ stop }) => stop()));
        await waiting.dispose();
        const earlier = new Map(contracts.map(({ workQueue }, index) => [workQueue, consumers[index]?.seen ?? []]));
        return { engine, waiting, before, after: { ...before, version: target }, earlier };
      }),
    );
    await docker("stop", "--time", "60", older.broker.containerId);
    await older.stop();
    newer = await startBroker("4.3", undefined, { takeOver: { volume, ports: older.ports } });
    const unsettled = systems.map(async ({ engine, waiting, before, after, earlier }) => {
      if (after.version !== before.version) expect(await engine.up(after, { skipPreview: true })).toBeNull();
      const found = await waiting.unsettled(after, [before, after], earlier);
      await engine.dispose();
      return found;
    });
    expect(await Promise.all(unsettled)).toEqual(cases.map(() => []));
    expect(await attemptsUnderNative(newer.broker)).toEqual({ attempts: [1, 2, 3, 4], early: 0 });
  } finally {
    // A broker that could not start leaves the older one, which has stopped.
    await newer.stop().catch(() => undefined);
    await docker("volume", "rm", "--force", volume);
  }
});

/** The feature flags of the new version are still disabled after an upgrade. The broker delays retries all the same. */
async function attemptsUnderNative(broker: Broker) {
  const { vhost, amqpUrl: url } = await createVhost(broker);
  const deployment: Deployment = { component: "shop", vhost, system, version: "4.3", strategy: "native" };
  const engine = await modelledEngine(broker);
  expect(await engine.up(deployment, { skipPreview: true })).toBeNull();
  const waiting = await fill(broker, deployment, 20);
  const contract = compiledOf(deployment).contracts.find(({ consumer }) => consumer === "billing") as Contract;
  const { seen, stop } = await drive({ url, contract, decide: () => "transient", instances: 5 });
  await until(60_000, async () => seen.filter(({ attempt }) => attempt === 4).length >= 20);
  await stop();
  await Promise.all([waiting.dispose(), engine.dispose()]);
  const early = [...Map.groupBy(seen, ({ id }) => id).values()].flatMap((each) =>
    each.filter(({ atMs }, index) => index > 0 && atMs - (each[index - 1]?.atMs ?? 0) < 2_000),
  );
  return { attempts: [...new Set(seen.map(({ attempt }) => attempt))].toSorted(), early: early.length };
}
