import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import amqplib from "amqplib";
import { expect, inject, test } from "vitest";

import type { Contract } from "../../src/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { stageMigration } from "../support/change/migration-stage.ts";
import { type Started, decide, killApply, produce } from "../support/change/carried-out.ts";
import { seeded } from "../support/dead-journal.ts";
import { drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import type { Broker } from "../support/live.ts";
import { strategiesOn } from "../support/strategies.ts";

// A migration on a live broker begins, is killed half-way, and goes back by `migrate --back --apply`, which is killed
// again and again. Messages wait in the old queue and in the new one, and a producer publishes throughout. Then every
// message has been handled, or is in a dead queue, and none had more attempts than declared.

const attempts = 4;
const kills = Number(process.env["REDELIVER_KILLS"] ?? 8);

function declaration(own: object) {
  const retry = { attempts, backoff: { kind: "constant", delay: "1s" } };
  const mail = { from: { orders: "all" }, retry: { ...retry, attempts: 2 } };
  const billing = { from: { orders: ["order.placed"] }, retry, ...own };
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing, mail } };
}

test.concurrent.each(inject("brokers"))(
  "on RabbitMQ $fullVersion no kill on the way back from a migration loses a message",
  { timeout: 1_200_000 },
  async (broker) => {
    const stage = await stageMigration(broker, declaration);
    const { vhost, url, project, lock, environment, declare, redeliver } = stage;
    const locked = readFileSync(lock, "utf8");
    const change = { queue: "invoices" };
    const before = readDeployed(checked(declaration({})), { broker: "rabbitmq", version: broker.version });
    const planned = before === null ? null : planMigration(before, checked(declaration(change)), before.target);
    if (planned?.ok !== true || planned.value.steps[0] === undefined) throw new Error("there is no plan");
    const { system, target: between } = planned.value.steps[0];
    const contracts = (readDeployed(system, between)?.compiled.contracts ?? []) as readonly Contract[];
    const world = await produce(url, contracts);
    const started: Started[] = [];
    const start = async (consumer: string) => {
      const contract = contracts.find((each) => each.consumer === consumer) as Contract;
      const driven = await drive({ url, contract, decide, instances: 10 });
      started.push({ contract, driven });
      return driven;
    };
    try {
      declare(change);
      // Nothing is changed yet, so the way back is to forget the migration.
      expect(await redeliver("migrate", "--next")).toMatchObject({ code: 3 });
      expect(await redeliver("migrate", "--back")).toMatchObject({ code: 0 });
      expect(readFileSync(lock, "utf8")).toBe(locked);

      await world.fill(200);
      const random = seeded(Number(process.env["MIGRATE_SEED"] ?? 22) + Number(broker.version.replace(".", "")));
      let killed = await killApply(["--project", project], environment, 2, random());
      for (let index = 0; index < kills / 2; index++) {
        const changes = index % 3 === 2 ? null : 1 + Math.floor(random() * 4);
        killed += await killApply(["--back", "--project", project], environment, changes, random());
      }
      const isBack = (): boolean => readFileSync(lock, "utf8").includes('"back": true');
      while (!isBack()) await redeliver("migrate", "--back", "--apply");
      // The new declaration does not go on with the way back.
      const other = await redeliver("migrate", "--apply");
      expect([other.code, other.error.match(/error\[RD\d+\]/g)]).toEqual([1, ["error[RD307]"]]);
      const fresh = await start("billing");
      await start("billing-before");
      await start("mail");
      let said = await redeliver("migrate", "--back", "--apply", "--json");
      while (!said.out.includes("stop the code that drains")) {
        killed += await killApply(["--back", "--project", project], environment, null, random());
        said = await redeliver("migrate", "--back", "--apply", "--wait", "30s", "--json");
      }
      expect(said.out).toMatch(/the consumer .+ takes from invoices/);
      await fresh.stop();
      expect(fresh.seen.length).toBeGreaterThan(0);
      declare({});
      for (let index = 0; index < kills / 2 - 1; index++)
        killed += await killApply(["--project", project], environment, 1 + Math.floor(random() * 3), random());
      do said = await redeliver("migrate", "--apply", "--wait", "1m");
      while (said.code === 3);
      expect(said).toMatchObject({ code: 0 });
      expect(killed).toBeGreaterThan(kills / 2);
      expect((await redeliver("check")).out).toContain("none: this is deployed");
      world.stop();
      await sleep(2_000);
      expect(await world.unsettled(broker, vhost, started)).toEqual([]);
    } finally {
      await Promise.all(started.map(async ({ driven }) => driven.stop().catch(() => undefined)));
      await world.end();
      await stage.remove();
    }
  },
);

// Under `deferred` a consumer by the old contract may wait too long for an attempt that only the new one has.
test("a way back that weakens a promise begins only with a word of consent", { timeout: 300_000 }, async (context) => {
  const broker = inject("brokers").find(({ version }) => strategiesOn(version).includes("deferred")) as Broker;
  const own = (attempts: number, queue: object) => ({
    protocol: "amqp-1.0",
    retry: { attempts, backoff: { kind: "constant", delay: "1s" } },
    ...queue,
  });
  const both = ({ attempts = 4, ...queue }: { readonly attempts?: number }) => ({
    name: "shop",
    sources: {},
    consumers: { billing: own(attempts, {}), mail: own(2, queue) },
  });
  const { url, lock, declare, redeliver, remove } = await stageMigration(broker, both);
  context.onTestFinished(remove);
  const connection = await amqplib.connect(url);
  context.onTestFinished(async () => connection.close());
  const channel = await connection.createConfirmChannel();
  channel.sendToQueue("shop.mail", Buffer.from("a mail"), { persistent: true });
  await channel.waitForConfirms();
  declare({ attempts: 3, queue: "mails" });
  const said = await redeliver("migrate", "--apply");
  expect(said, said.error).toMatchObject({ code: 3 });
  const before = readFileSync(lock, "utf8");
  const refused = await redeliver("migrate", "--apply", "--back");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.error).toMatch(/^warning\[RD304\]: after the failure of attempt/);
  expect(refused.error).toContain(", with --accept-weaker");
  expect(readFileSync(lock, "utf8")).toBe(before);
  for (let code = 3; code === 3;)
    ({ code } = await redeliver("migrate", "--apply", "--back", "--accept-weaker", "--wait", "1m"));
  expect(await channel.checkQueue("shop.mail")).toMatchObject({ messageCount: 1 });
  declare({});
  expect(await redeliver("migrate", "--apply")).toMatchObject({ code: 0, out: expect.stringContaining("nothing to") });
});
