import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import amqplib from "amqplib";
import { expect, inject, test } from "vitest";

import type { Contract, TargetInput } from "../../src/index.ts";
import { checkTarget } from "../../src/brokers/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { keepStrategies } from "../../src/migrate/keep-strategies.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { decide, killApply, produce } from "../support/change/carried-out.ts";
import { stageMigration } from "../support/change/migration-stage.ts";
import { type DrivenConsumer, drive } from "../support/drive.ts";
import { until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import type { Said } from "../support/run-command.ts";

// The topology for RabbitMQ 3.x on a newer broker, as after an upgrade, and the change to the target 4.x. Messages lie in
// every queue, a producer publishes, and consumers work throughout. RabbitMQ 4.x does not start on the data of 3.10, so
// the topology is made on the newer broker.

const attempts = 4;
const consumer = (most: number) => ({
  from: { orders: ["order.placed"] },
  retry: { attempts: most, backoff: { kind: "constant", delay: "1s" } },
});
const declaration = (own: object) => ({
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: { billing: { ...consumer(attempts), ...own }, mail: consumer(2) },
});
const targetOf = (version: string, strategy: string): TargetInput =>
  ({ broker: "rabbitmq", version, strategies: { billing: strategy } }) as TargetInput;

/** The deployed target and strategy, and the new ones. */
const rows = [
  { older: "3.10", from: "waits", newer: "4.0", to: "staged" },
  { older: "3.10", from: "waits", newer: "4.3", to: "native" },
  { older: "3.13", from: "staged", newer: "4.3", to: "native" },
];

const brokers = inject("brokers");
const brokerOf = (wanted: string) => brokers.find(({ version }) => version === wanted);

test.concurrent.each(rows.filter(({ newer }) => brokerOf(newer) !== undefined))(
  "from $older under $from to $newer under $to",
  { timeout: 1_800_000 },
  async ({ older, from, newer, to }) => {
    const broker = brokerOf(newer);
    const before = readDeployed(checked(declaration({})), targetOf(older, from));
    const wanted = checkTarget(targetOf(newer, to));
    // As with the lock, the other consumer keeps its strategy.
    const kept = before === null || !wanted.ok ? null : keepStrategies(before, before.system, wanted.value);
    const planned = before === null || kept === null ? null : planMigration(before, before.system, kept.value);
    if (broker === undefined || before === null || planned?.ok !== true || planned.value.steps[0] === undefined)
      throw new Error("there is no plan");
    const { system, target } = planned.value.steps[0];
    const contracts = (readDeployed(system, target)?.compiled.contracts ?? []) as readonly Contract[];
    const oldContracts = before.compiled.contracts as readonly Contract[];
    const stage = await stageMigration(broker, declaration, targetOf(older, from));
    const { vhost, url, management, project, environment, redeliver } = stage;
    const world = await produce(url, contracts);
    const started: { readonly contract: Contract; readonly driven: DrivenConsumer }[] = [];
    const start = async (among: readonly Contract[], name: string): Promise<DrivenConsumer> => {
      const contract = among.find((each) => each.consumer === name) as Contract;
      const driven = await drive({ url, contract, decide, instances: 10 });
      started.push({ contract, driven });
      return driven;
    };
    try {
      await world.fill(200);
      await lookAt(url, "shop.mail.dead");
      const old = await start(oldContracts, "billing");
      const mail = await start(oldContracts, "mail");
      await sleep(2_000);
      stage.aim(targetOf(newer, to));
      const next = async (): Promise<Said> => redeliver("migrate", "--apply", "--wait", "1m");
      for (const changes of [1, 4, 7]) await killApply(["--project", project], environment, changes, 0.5);
      const path = `bindings/${encodeURIComponent(vhost)}/e/shop.orders/q/shop.billing.2`;
      let said = await next();
      expect(said.code, said.error).toBe(3);
      expect(await management.get<readonly object[]>(path)).not.toEqual([]);
      await start(contracts, "billing");
      // The code of the other consumer works by its old contract until it is deployed again.
      await mail.stop();
      await start(contracts, "mail");
      while (!said.out.includes("stop the code that drains")) {
        expect(said.code, said.error).toBe(3);
        said = await next();
      }
      await old.stop();
      do said = await next();
      while (said.code === 3);
      expect(said, said.error).toMatchObject({ code: 0 });
      await lookAt(url, "shop.mail.dead");
      world.stop();
      expect(await world.unsettled(broker, vhost, started)).toEqual([]);
    } finally {
      await Promise.all(started.map(async ({ driven }) => driven.stop().catch(() => undefined)));
      await world.end();
      await stage.remove();
    }
  },
);

/** The default delivery limit from 4.0 on would delete a letter after 21 looks. */
async function lookAt(url: string, queue: string): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createChannel();
  await channel.prefetch(0);
  const { messageCount } = await channel.checkQueue(queue);
  for (let looks = 0; looks < 25; looks++) {
    const found: amqplib.GetMessage[] = [];
    await until(60_000, async () => {
      const letter = await channel.get(queue);
      if (letter !== false) found.push(letter);
      return found.length >= messageCount;
    });
    for (const letter of found) channel.reject(letter, true);
  }
  await connection.close();
}

const oldest = brokerOf("3.10");

test.skipIf(oldest === undefined)("a step waits for the broker's upgrade", { timeout: 600_000 }, async () => {
  if (oldest === undefined) return;
  const stage = await stageMigration(oldest, declaration, targetOf("3.10", "waits"));
  const { vhost, management, lock, redeliver, remove } = stage;
  try {
    const exported = async () => {
      const { queues, bindings, policies } = await management.get<Record<string, readonly object[]>>(
        `definitions/${encodeURIComponent(vhost)}`,
      );
      return JSON.stringify([queues, bindings, policies]);
    };
    const found = await exported();
    for (const [version, strategy] of [
      ["4.3", "native"],
      ["4.0", "waits"],
    ] as const) {
      stage.aim(targetOf(version, strategy));
      const said = await redeliver("migrate", "--apply", "--json");
      expect(said, said.error).toMatchObject({ code: 3 });
      expect(JSON.parse(said.out)).toMatchObject({
        state: "wait",
        inTheWay: [expect.stringMatching(new RegExp(`^the broker is rabbitmq@3\\.10\\.\\d+, .* rabbitmq@${version}$`))],
      });
      expect(await redeliver("migrate", "--next")).toMatchObject({ code: 3 });
      expect(await exported()).toBe(found);
    }
    expect(readFileSync(lock, "utf8")).toContain('"migration"');
    expect(await redeliver("migrate", "--apply", "--back")).toMatchObject({ code: 0 });
    expect(readFileSync(lock, "utf8")).not.toContain('"migration"');
  } finally {
    await remove();
  }
});
