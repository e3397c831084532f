import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import amqplib from "amqplib";
import { expect, inject, test } from "vitest";

import { readDeployed } from "../../src/migrate/deployed.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import type { Contract } from "../../src/index.ts";
import { seeded } from "../support/dead-journal.ts";
import { type DrivenConsumer, drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { createManagement, credentialsOf } from "../support/management.ts";
import { type Said, runSeparately } from "../support/run-command.ts";

// A migration on a live broker by `migrate --apply`, which is killed again and again. Messages lie in every queue, a
// producer publishes throughout, and consumers by the old and the new contract are at work. Then every message has been
// handled, or is in a dead queue, and none had more attempts than declared.

const attempts = 4;
/** On each version. `REDELIVER_KILLS=20` takes about five minutes. */
const kills = Number(process.env["REDELIVER_KILLS"] ?? 10);
const main = resolve(import.meta.dirname, "../../src/cli/main.ts");

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
    const { vhost, amqpUrl: url, dispose } = await createVhost(broker);
    const management = createManagement(broker.managementUrl);
    const folder = mkdtempSync(join(tmpdir(), "redeliver-apply-"));
    const [shop, project, lock] = ["shop.json", "redeliver.config.yaml", "redeliver.lock.json"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const { origin } = new URL(broker.managementUrl);
    const { user, password } = credentialsOf(broker.managementUrl);
    const environment = { RABBITMQ_USERNAME: user, RABBITMQ_PASSWORD: password };
    const target = `{ target: rabbitmq@${broker.version}, managementUrl: "${origin}/${vhost}" }`;
    writeFileSync(project, `declaration: shop.json\nenvironments: { prod: ${target} }\n`);
    const declare = (own: object): void => writeFileSync(shop, JSON.stringify(declaration(own)));
    const redeliver = async (...words: readonly string[]): Promise<Said> =>
      runSeparately([...words, "--project", project], environment);
    const next = async (): Promise<Said> => redeliver("migrate", "--apply");

    declare({});
    const { out } = await redeliver("compile", "--format", "definitions", "--vhost", vhost);
    await management.importDefinitions(JSON.parse(out) as Record<string, unknown>);
    expect(await redeliver("lock")).toMatchObject({ code: 0 });
    const before = readDeployed(checked(declaration({})), { broker: "rabbitmq", version: broker.version });
    const planned =
      before === null ? null : planMigration(before, checked(declaration(changeFor(broker))), before.target);
    if (before === null || planned?.ok !== true || planned.value.beside === null) throw new Error("there is no plan");
    const { system, target: between } = planned.value.beside;
    const contracts = (readDeployed(system, between)?.compiled.contracts ?? []) as readonly Contract[];
    const contractOf = (consumer: string): Contract => contracts.find((each) => each.consumer === consumer) as Contract;

    const world = await produce(url, contracts);
    const started: { readonly contract: Contract; readonly driven: DrivenConsumer }[] = [];
    const start = async (consumer: string): Promise<DrivenConsumer> => {
      const contract = contractOf(consumer);
      const driven = await drive({ url, contract, decide, instances: 10 });
      started.push({ contract, driven });
      return driven;
    };
    try {
      await world.fill(200);
      const old = await start("billing-before");
      await start("mail");
      await sleep(2_000);
      declare(changeFor(broker));
      const fresh = contractOf("billing").workQueue;
      const isBound = async (): Promise<boolean> => {
        const path = `bindings/${encodeURIComponent(vhost)}/e/shop.orders/q/${fresh}`;
        return (await management.get<readonly object[]>(path).catch(() => [])).length > 0;
      };
      const seed = Number(process.env["MIGRATE_SEED"] ?? 21);
      const random = seeded(seed + Number(broker.version.replace(".", "")));
      let hasNewCode = false;
      let killed = 0;
      const killOnce = async (isEarly: boolean): Promise<void> => {
        const changes = 1 + Math.floor(random() * 5);
        killed += await killApply(project, environment, isEarly ? null : changes, random());
        if (!hasNewCode && (await isBound())) {
          hasNewCode = true;
          await start("billing");
        }
      };
      for (let index = 0; index < kills - 2; index++) await killOnce(index % 3 === 2);
      const waiting = await next();
      expect(waiting).toMatchObject({ code: 3 });
      expect(waiting.out).toMatch(/messages? in shop\.billing|the consumer .+ takes from shop\.billing/);
      await refusals();
      world.stop();
      let said = await redeliver("migrate", "--apply", "--wait", "1m", "--json");
      while (!said.out.includes("stop the code that drains")) said = await next();
      expect(said.out).toMatch(/the consumer .+ takes from shop\.billing/);
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
    } finally {
      await Promise.all(started.map(async ({ driven }) => driven.stop().catch(() => undefined)));
      await world.end();
      rmSync(folder, { recursive: true });
      await dispose();
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

/** A tenth of the messages fails every attempt, and half of the others fail the first. */
function decide({ id, attempt }: { readonly id: string; readonly attempt: number }) {
  const kind = parseInt(id.slice(0, 4), 16) % 10;
  return kind === 0 || (kind < 6 && attempt === 1) ? "transient" : "success";
}

/**
 * Runs the command until it has made a number of changes or waits, or until a random time has passed.
 *
 * @param changes null for a random time
 * @returns 1 if it was killed
 */
async function killApply(
  project: string,
  environment: Record<string, string>,
  changes: number | null,
  random: number,
): Promise<number> {
  const words = ["migrate", "--apply", "--wait", "1m", "--project", project];
  const child = spawn(process.execPath, [main, ...words], { env: { ...process.env, ...environment } });
  const kill = (afterMs: number): void => void setTimeout(() => child.kill("SIGKILL"), afterMs).unref();
  if (changes === null) kill(1_000 + 4_000 * random);
  let text = "";
  child.stderr.on("data", (data: Buffer) => {
    text += data.toString();
    if (changes !== null && (text.includes(": waiting") || text.split(": step ").length > changes)) kill(20 * random);
  });
  child.stdout.resume();
  const signal = await new Promise<string | null>((done) => child.on("close", (_, by) => done(by)));
  return signal === "SIGKILL" ? 1 : 0;
}

interface Started {
  readonly contract: Contract;
  readonly driven: DrivenConsumer;
}

/** A producer that publishes until it is stopped, and knows the messages that the broker has confirmed. */
async function produce(url: string, contracts: readonly Contract[]) {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  const confirmed = new Set<string>();
  const returned: string[] = [];
  channel.on("return", ({ properties }: amqplib.Message) => returned.push(String(properties.messageId)));
  const publish = async (): Promise<void> => {
    const messageId = randomUUID();
    await new Promise<void>((done, fail) => {
      channel.publish("shop.orders", "order.placed", Buffer.from("an order"), { messageId, mandatory: true }, (error) =>
        error === null || error === undefined ? done() : fail(error as Error),
      );
    });
    confirmed.add(messageId);
  };
  const oldLetters = 20;
  let running: Promise<void> | null = null;
  let isStopped = false;
  return {
    /** Puts messages into the work queues and the dead queues, and goes on publishing. */
    fill: async (count: number): Promise<void> => {
      for (const { deadQueue, consumer } of contracts) {
        if (consumer === "billing") continue;
        for (let index = 0; index < oldLetters; index++)
          channel.sendToQueue(String(deadQueue), Buffer.from("a letter"));
      }
      await Promise.all(Array.from({ length: count }, publish));
      const run = async (): Promise<void> => {
        while (!isStopped) {
          await publish();
          await sleep(100);
        }
      };
      running = run();
    },
    stop: () => {
      isStopped = true;
    },
    /** Waits until no message moves, and lists the messages that are lost, and those with too many attempts. */
    unsettled: async (broker: Broker, vhost: string, started: readonly Started[]): Promise<readonly string[]> => {
      isStopped = true;
      await running;
      const dead = new Set(contracts.map(({ deadQueue }) => String(deadQueue)));
      const management = createManagement(broker.managementUrl);
      const busy = async (): Promise<readonly string[]> => {
        const queues = await management.get<readonly Record<string, unknown>[]>(`queues/${encodeURIComponent(vhost)}`);
        return queues.flatMap(({ name, messages, messages_dlx: kept, messages_delayed: delayed }) => {
          const own = dead.has(String(name)) ? 0 : Number(messages ?? 0) + Number(delayed ?? 0);
          return own + Number(kept ?? 0) > 0 ? [`${String(name)} holds ${own} messages`] : [];
        });
      };
      for (let quiet = 0, tries = 0; quiet < 8 && tries < 120; tries++) {
        quiet = (await busy()).length === 0 ? quiet + 1 : 0;
        await sleep(1_000);
      }
      const letters = new Map<string, string[]>();
      for (const queue of dead) {
        const ids: string[] = [];
        for (let got = await channel.get(queue); got !== false; got = await channel.get(queue)) {
          channel.ack(got);
          ids.push(String(got.properties.messageId));
        }
        letters.set(queue, ids);
      }
      const fates = (consumers: readonly string[]): ReadonlySet<string> => {
        const own = started.filter(({ contract }) => consumers.includes(contract.consumer));
        return new Set([
          ...own.flatMap(({ driven }) => driven.seen.flatMap(({ id, ending }) => (ending === "success" ? [id] : []))),
          ...own.flatMap(({ contract }) => letters.get(String(contract.deadQueue)) ?? []),
        ]);
      };
      const lost = [["billing", "billing-before"], ["mail"]].flatMap((consumers) => {
        const ended = fates(consumers);
        const missing = [...confirmed].filter((id) => !ended.has(id));
        return missing.length === 0 ? [] : [`${consumers[0]} lost ${missing.length} of ${confirmed.size}`];
      });
      const tooOften = started.flatMap(({ contract, driven }) => {
        const most = contract.attempts.length;
        const above = [...Map.groupBy(driven.seen, ({ id }) => id).values()].filter(({ length }) => length > most);
        return above.length === 0 ? [] : [`${above.length} messages of ${contract.consumer} had more than ${most}`];
      });
      const old = [...letters.values()].flat().filter((id) => id === "undefined").length;
      return [
        ...(await busy()),
        ...lost,
        ...tooOften,
        ...(old === 2 * oldLetters ? [] : [`${old} of ${2 * oldLetters} earlier dead letters are there`]),
        ...(returned.length === 0 ? [] : [`${returned.length} messages came back to their publisher`]),
      ];
    },
    end: async (): Promise<void> => {
      isStopped = true;
      await running?.catch(() => undefined);
      await connection.close();
    },
  };
}
