import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Message } from "@aws-sdk/client-sqs";
import { ListSubscriptionsByTopicCommand, PublishCommand, UnsubscribeCommand } from "@aws-sdk/client-sns";
import { expect, test } from "vitest";

import type { System, TargetInput } from "../../src/index.ts";
import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { goingIn, readLock } from "../../src/migrate/lock.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { type Said, runSeparately } from "../support/run-command.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { region } from "../support/sqs/clients.ts";
import { type Handle, consuming } from "../support/sqs/consuming.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import type { Queue } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { registerSqs } from "../support/sqs/register.ts";

// A consumer gets another queue on an emulator. A deployment makes each step. `migrate --next` names the changes
// that are left, then the messages in the old queue. It moves on when they are gone.

// ElasticMQ has no topics, so `--next` cannot read it. The steps of a plan run there, with the test as the gate.
const withTopics = sqsEmulators().filter(({ name }) => name !== "elasticmq");

const cases = withTopics.flatMap((emulator) =>
  [
    { order: "none", dead: "own", own: { queue: "invoices" } },
    { order: "per-key", dead: "own", own: { queue: "invoices" } },
    { order: "none", dead: "shared", own: {} },
  ].map((each) => ({ name: emulator.name, emulator, ...each })),
);
const title = "on $name --next follows the steps of a migration, with the order $order and $dead dead queues";

test.each(cases)(title, { timeout: 900_000 }, async ({ emulator, order, dead: deadQueue, own: changed }) => {
  const isKeyed = order === "per-key";
  const suffix = isKeyed ? ".fifo" : "";
  const inGroup = { MessageGroupId: "A", MessageDeduplicationId: "1" };
  const billing = {
    order,
    from: { orders: "all" },
    retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
    handlerTimeout: "20s",
  };
  const system = await deploy(emulator, { billing });
  const folder = mkdtempSync(join(tmpdir(), "redeliver-sqs-migrate-"));
  const [shop, project, lock] = ["shop.json", "redeliver.config.yaml", "redeliver.lock.json"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const environment = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test", SQS_ENDPOINT: emulator.endpoint };
  const redeliver = async (...words: readonly string[]): Promise<Said> =>
    runSeparately([...words, "--project", project], environment);
  const next = async (...words: readonly string[]) => {
    const { code, out, error } = await redeliver("migrate", "--next", "--json", ...words);
    return {
      code,
      error,
      ...(JSON.parse(out || "{}") as { state?: string; inTheWay?: readonly string[]; lines?: readonly string[] }),
    };
  };
  const { lab, declared, applied } = system;
  try {
    const aim = (target: object): void => {
      const prod = { target: { broker: "sqs", region, ...target }, managementUrl: `sqs:${region}` };
      writeFileSync(project, JSON.stringify({ declaration: "shop.json", environments: { prod } }));
    };
    aim({});
    const declare = (own: object): void =>
      writeFileSync(shop, JSON.stringify({ ...declared, consumers: { billing: { ...billing, ...own } } }));
    declare({});
    expect(await redeliver("lock")).toMatchObject({ code: 0 });
    const [old, fresh] = [system.work("billing"), `${declared.name}-${"queue" in changed ? "invoices" : "billing-2"}`];
    await lab.send(old, "an order", isKeyed ? inGroup : {});
    declare("queue" in changed ? { queue: fresh } : {});
    aim({ deadQueue });
    expect((await redeliver("migrate", "--apply")).error).toContain("--apply does not work on Amazon SQS");
    expect(await next()).toMatchObject({ code: 3, state: "deploy" });
    const going = (): { readonly system: System; readonly target: TargetInput<"sqs">; readonly phase: number } => {
      const read = readLock(readFileSync(lock, "utf8"));
      const found = read.ok ? goingIn(read.value, "prod") : read;
      if (!found.ok || found.value === null) throw new Error("there is no migration");
      const { steps, phase } = found.value;
      const { system: declaration, target } = steps[phase] as { readonly system: System; readonly target: object };
      return { system: declaration, target: target as TargetInput<"sqs">, phase };
    };
    const beside = going();
    const { resources } = await inTurn(async () => registerSqs(beside.system, beside.target));
    const made = await applyToEmulator(emulator, resources);
    const dead = deadQueue === "shared" ? `${declared.name}-dead` : `${fresh}-dead`;
    expect([...made.queues.keys()].filter((each) => each.startsWith(dead))).toEqual([`${dead}${suffix}`]);
    expect((await next()).inTheWay).toEqual([
      `delete the subscription ${declared.name}-orders${suffix} to ${declared.name}-billing${suffix}`,
    ]);
    const [TopicArn] = applied.topics.values();
    const { Subscriptions = [] } = await lab.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    const given = Subscriptions.find(({ Endpoint }) => Endpoint === old.arn)?.SubscriptionArn;
    await lab.sns.send(new UnsubscribeCommand({ SubscriptionArn: given }));
    expect(await next()).toMatchObject({ code: 3, state: "wait", inTheWay: [`1 message in ${old.name} (1 visible)`] });
    const [message] = await lab.receive(old, { waitSeconds: 2 });
    if (message === undefined) throw new Error("the message is gone");
    // A slow machine looks later than its timeout.
    await lab.changeVisibility(old, message, 3_600);
    expect((await next()).inTheWay).toEqual([`1 message in ${old.name} (1 in flight)`]);
    await lab.deleteMessage(old, message);
    if (isKeyed) {
      // Somebody has started the new code too early.
      const held = made.queues.get(`${fresh}${suffix}`) as Queue;
      await lab.send(held, "a later order", inGroup);
      const [early] = await lab.receive(held, { waitSeconds: 2 });
      await lab.changeVisibility(held, early as Message, 3_600);
      const stop = `a consumer takes from ${held.name}, where messages have to wait for earlier ones: stop it`;
      expect(await next()).toMatchObject({ code: 3, state: "wait", inTheWay: [stop] });
      await lab.changeVisibility(held, early as Message, 0);
    }
    const { code, state, lines = [] } = await next("--wait", "3m");
    expect([code, state]).toEqual([0, "deploy"]);
    expect(lines.some((line) => line.startsWith("start the code that takes from"))).toBe(isKeyed);
    expect(going().phase).toBe(1);
    // The last step only gives up the old queue, which stays.
    expect(await next()).toMatchObject({ code: 0, state: "done" });
    // The last declaration of the steps names the new queue.
    declare({ queue: fresh });
    expect((await redeliver("check")).out).toContain("none: this is deployed");
  } finally {
    rmSync(folder, { recursive: true });
    await system.dispose();
  }
});

// A consumer in order gets another queue while a program publishes and consumers work. Messages of a key wait for their
// retries in the old queue, and later ones in the new queue. The new code starts behind the gate.

const keyed = {
  order: "per-key",
  retry: { attempts: 4, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "2s",
};

test.each(sqsEmulators())(
  "on $name a migration keeps the order of each key",
  { timeout: 600_000 },
  async (emulator) => {
    const hasTopics = emulator.name !== "elasticmq";
    const billing = { ...keyed, ...(hasTopics && { from: { orders: "all" } }) };
    await using system = await deploy(emulator, { billing });
    const { lab, declared, applied } = system;
    const fresh = `${declared.name}-invoices`;
    const wanted = checked({ ...declared, consumers: { billing: { ...billing, queue: fresh } } });
    const from = readDeployed(declared, system.target) as Deployed;
    const planned = planMigration(from, wanted, from.target);
    if (!planned.ok) throw new Error(planned.diagnostics[0]?.message);
    const { steps, held, drained } = planned.value;
    expect([steps.length, drained, held.map(({ newQueue }) => newQueue)]).toEqual([
      2,
      [`${declared.name}-billing.fifo`],
      [`${fresh}.fifo`],
    ]);

    let place: Queue = system.work("billing");
    const old = place;
    const [topic = ""] = applied.topics.values();
    const published: string[] = [];
    const publish = async (): Promise<void> => {
      const [key, body] = ["A", "B"].map((each) => [each, `${each}${published.length}`])[published.length % 2] as [
        string,
        string,
      ];
      const own = { MessageGroupId: key, MessageDeduplicationId: body };
      if (hasTopics) await lab.sns.send(new PublishCommand({ TopicArn: topic, Message: body, ...own }));
      else await lab.send(place, body, own);
      published.push(body);
    };
    const handled: string[] = [];
    // The first attempt of some messages fails, so later ones of their key wait behind them.
    const handle: Handle = ({ body }, { number }) => {
      if (number === 1 && Number(body.slice(1)) % 10 < 2) throw new Error("no");
      handled.push(body);
    };
    const isHandled = (body: string | undefined): boolean => body !== undefined && handled.includes(body);
    const runStep = async (index: number, consumer: string) =>
      consuming(
        { ...system, declared: steps[index]?.system as System, target: steps[index]?.target as never },
        consumer,
        handle,
      );

    for (let count = 0; count < 24; count++) await publish();
    await using first = await consuming(system, "billing", handle);
    await until(60_000, () => handled.length > 0);
    const { resources } = await inTurn(async () => registerSqs(steps[0]?.system as System, { broker: "sqs", region }));
    const there = new Set([...applied.queues.keys()].map((name) => `aws:sqs/queue:Queue shop-${name}`));
    const made = await applyToEmulator(emulator, resources, undefined, there);
    const next = made.queues.get(`${fresh}.fifo`) as Queue;
    for (let count = 0; count < 6; count++) await publish();
    if (hasTopics) {
      const { Subscriptions = [] } = await lab.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: topic }));
      const given = Subscriptions.find(({ Endpoint }) => Endpoint === old.arn)?.SubscriptionArn;
      await lab.sns.send(new UnsubscribeCommand({ SubscriptionArn: given }));
    }
    await first.stop();
    place = next;
    for (let count = 0; count < 24; count++) await publish();
    // Later messages wait in the new queue, while earlier ones are in the old one.
    expect([await lab.count(old), await lab.count(next)].every((count) => count > 0)).toBe(true);
    await using drains = await runStep(0, "billing-before");
    await until(180_000, async () => (await lab.count(old)) === 0);
    expect(isHandled(published.at(-1))).toBe(false);
    await drains.stop();
    await publish();
    await using last = await runStep(1, "billing");
    await publish();
    await until(180_000, async () => (await lab.count(next)) === 0 && isHandled(published.at(-1)));
    await last.stop();
    for (const key of ["A", "B"]) {
      const own = (bodies: readonly string[]): readonly string[] =>
        [...new Set(bodies)].filter((body) => body.startsWith(key));
      expect(own(handled)).toEqual(own(published));
    }
    expect(await lab.count(system.dead("billing"))).toBe(0);
    await made.dispose();
  },
);
