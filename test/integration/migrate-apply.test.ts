import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, inject, test } from "vitest";

import { readDeployed } from "../../src/migrate/deployed.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import type { Contract } from "../../src/index.ts";
import { seeded } from "../support/dead-journal.ts";
import { stageMigration } from "../support/change/migration-stage.ts";
import { decide, killApply, produce } from "../support/change/carried-out.ts";
import { type DrivenConsumer, drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import type { Broker } from "../support/live.ts";
import type { Said } from "../support/run-command.ts";

// A migration on a live broker by `migrate --apply`, which is killed again and again. Messages lie in every queue, a
// producer publishes throughout, and consumers by the old and the new contract are at work. Then every message has been
// handled, or is in a dead queue, and none had more attempts than declared.

const attempts = 4;
/** On each version. `REDELIVER_KILLS=20` takes about five minutes. */
const kills = Number(process.env["REDELIVER_KILLS"] ?? 10);
/** In each queue. `REDELIVER_MESSAGES=2000` takes about eight minutes beside other suites. */
const messages = Number(process.env["REDELIVER_MESSAGES"] ?? 200);

function declaration(own: object) {
  const consumer = {
    from: { orders: ["order.placed"] },
    retry: { attempts, backoff: { kind: "constant", delay: "1s" } },
  };
  const mail = { from: { orders: "all" }, retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } } };
  return {
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: { ...consumer, ...own }, mail },
  };
}

const jitter = { retry: { attempts, backoff: { kind: "constant", delay: "1s", jitter: "20%" } } };

/** Up to 3.12 there is no strategy that jitter would change. */
const changeFor = ({ version }: Broker): object => (version === "3.10" ? { queue: "invoices" } : jitter);

test.concurrent.each(inject("brokers"))(
  "on RabbitMQ $fullVersion no kill of a migration loses a message",
  { timeout: 1_800_000 },
  async (broker) => {
    const stage = await stageMigration(broker, declaration);
    const { vhost, url, management, project, lock, environment, declare, redeliver } = stage;
    const next = async (): Promise<Said> => redeliver("migrate", "--apply");
    const before = readDeployed(checked(declaration({})), { broker: "rabbitmq", version: broker.version });
    const planned =
      before === null ? null : planMigration(before, checked(declaration(changeFor(broker))), before.target);
    if (before === null || planned?.ok !== true || planned.value.steps[0] === undefined)
      throw new Error("there is no plan");
    const { system, target: between } = planned.value.steps[0];
    const contracts = (readDeployed(system, between)?.compiled.contracts ?? []) as readonly Contract[];
    const contractOf = (consumer: string): Contract => contracts.find((each) => each.consumer === consumer) as Contract;

    const world = await produce(url, contracts);
    const started: { readonly contract: Contract; readonly driven: DrivenConsumer }[] = [];
    const start = async (consumer: string): Promise<DrivenConsumer> => {
      const contract = contractOf(consumer);
      const driven = await drive({ url, contract, decide, instances: 10, connectionName: `the old ${consumer}` });
      started.push({ contract, driven });
      return driven;
    };
    try {
      await world.fill(messages);
      const old = await start("billing-before");
      await start("mail");
      await sleep(2_000);
      declare(changeFor(broker));
      const fresh = contractOf("billing").workQueue;
      const isBound = async (): Promise<boolean> => {
        const path = `bindings/${encodeURIComponent(vhost)}/e/shop.orders/q/${fresh}`;
        return (await management.get<readonly object[]>(path).catch(() => [])).length > 0;
      };
      const claimed = "shop.redeliver.migrating";
      const vhostQueues = `queues/${encodeURIComponent(vhost)}`;
      const queues = async (): Promise<readonly string[]> =>
        (await management.get<readonly { name: string }[]>(vhostQueues)).map((each) => each.name);
      const asBefore = await queues();
      const hold = async (holder: unknown): Promise<void> => {
        const own = { "x-queue-type": "classic", "x-expires": 300_000, "x-max-length": holder };
        await management.declareQueue(vhost, claimed, { durable: true, arguments: own });
      };
      await hold(7);
      expect(await next()).toMatchObject({ code: 1, error: expect.stringContaining("another machine carries out") });
      expect(await queues()).toEqual([...asBefore, claimed].toSorted());
      await management.delete(`queues/${encodeURIComponent(vhost)}/${claimed}`);
      const seed = Number(process.env["MIGRATE_SEED"] ?? 21);
      const random = seeded(seed + Number(broker.version.replace(".", "")));
      let hasNewCode = false;
      // A run that is killed leaves its claim, and the claim names its holder.
      let holder: unknown;
      const holderOf = async (): Promise<unknown> =>
        (await management.get<readonly { name: string; arguments: Record<string, unknown> }[]>(vhostQueues)).find(
          ({ name }) => name === claimed,
        )?.arguments["x-max-length"];
      let killed = 0;
      const killOnce = async (isEarly: boolean): Promise<void> => {
        const changes = 1 + Math.floor(random() * 5);
        killed += await killApply(["--project", project], environment, isEarly ? null : changes, random());
        holder ??= await holderOf();
        if (!hasNewCode && (await isBound())) {
          hasNewCode = true;
          await start("billing");
        }
      };
      for (let index = 0; index < kills - 2; index++) await killOnce(index % 3 === 2);
      const waiting = await next();
      expect(waiting, waiting.error).toMatchObject({ code: 3 });
      expect(waiting.out).toMatch(/messages? in shop\.billing|the consumer .+ takes from shop\.billing/);
      // So does a run that is killed behind its last change. The next one has nothing to change, and ends the claim.
      expect(holder).toBeTypeOf("number");
      await hold(holder);
      expect(await next()).toMatchObject({ code: 3 });
      expect(await queues()).not.toContain(claimed);
      await refusals();
      world.stop();
      let said = await redeliver("migrate", "--apply", "--wait", "1m", "--json");
      while (!said.out.includes("stop the code that drains")) said = await next();
      expect(said.out).toMatch(/the consumer the old billing-before \(.+ -> .+\) takes from shop\.billing/);
      await old.stop();
      for (let index = 0; index < 2; index++) await killOnce(false);
      do said = await next();
      while (said.code === 3);
      expect(said).toMatchObject({ code: 0 });
      expect(killed).toBeGreaterThan(kills / 2);
      if (!hasNewCode) await start("billing");
      expect(await redeliver("migrate", "--apply")).toMatchObject({
        code: 0,
        out: expect.stringContaining("nothing to"),
      });
      expect(await world.unsettled(broker, vhost, started)).toEqual([]);
      expect(await queues()).not.toContain(claimed);
    } finally {
      await Promise.all(started.map(async ({ driven }) => driven.stop().catch(() => undefined)));
      await world.end();
      await stage.remove();
    }

    async function refusals(): Promise<void> {
      const going = readFileSync(lock, "utf8");
      const codesOf = async (): Promise<readonly unknown[]> => {
        const { code, error } = await next();
        return [code, error.match(/error\[RD\d+\]/g)];
      };
      declare({ ...changeFor(broker), crash: { deliveries: 7 } });
      expect(await codesOf()).toEqual([1, ["error[RD307]"]]);
      expect(await redeliver("lock")).toMatchObject({ code: 1 });
      declare(changeFor(broker));
      for (const edit of [`<<<<<<< HEAD\n${going}`, going.replace(/"queue": "[^"]+"/, '"queue": "stolen"')]) {
        writeFileSync(lock, edit);
        expect(await codesOf()).toEqual([1, ["error[RD323]"]]);
      }
      writeFileSync(lock, going);
      // A dead letter of the consumer that drains would have no way on.
      const { workQueue = "", deadQueue = "" } = contractOf("billing-before");
      const way = `bindings/${encodeURIComponent(vhost)}/e/shop.dead/q/${deadQueue}`;
      await management.delete(`${way}/${workQueue}`);
      expect(await codesOf()).toEqual([1, ["error[RD311]"]]);
      await management.post(way, { routing_key: String(workQueue), arguments: {} });
      const [one, other] = await Promise.all([next(), next()]);
      expect([one, other].flatMap(({ error }) => error.match(/error\[RD\d+\]/g) ?? [])).toEqual(["error[RD307]"]);
    }
  },
);
