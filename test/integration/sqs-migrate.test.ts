import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ListSubscriptionsByTopicCommand, UnsubscribeCommand } from "@aws-sdk/client-sns";
import { expect, test } from "vitest";

import type { System } from "../../src/index.ts";
import { goingIn, readLock } from "../../src/migrate/lock.ts";
import { inTurn } from "../support/in-turn.ts";
import { type Said, runSeparately } from "../support/run-command.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { region } from "../support/sqs/clients.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { registerSqs } from "../support/sqs/register.ts";

// A consumer gets another queue on an emulator. A deployment makes each step. `migrate --next` names the changes
// that are left, then the messages in the old queue. It moves on when they are gone.

// ElasticMQ has no topics.
const emulators = sqsEmulators().filter(({ name }) => name !== "elasticmq");

test.each(emulators)("on $name --next follows the steps of a migration", { timeout: 400_000 }, async (emulator) => {
  const billing = {
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
    return { code, error, ...(JSON.parse(out || "{}") as { state?: string; inTheWay?: readonly string[] }) };
  };
  const { lab, declared, applied } = system;
  try {
    const target = `{ target: "sqs@${region}", managementUrl: "sqs:${region}" }`;
    writeFileSync(project, `declaration: shop.json\nenvironments: { prod: ${target} }\n`);
    const declare = (own: object): void =>
      writeFileSync(shop, JSON.stringify({ ...declared, consumers: { billing: { ...billing, ...own } } }));
    declare({});
    expect(await redeliver("lock")).toMatchObject({ code: 0 });
    const [old, fresh] = [system.work("billing"), `${declared.name}-invoices`];
    await lab.send(old, "an order");
    declare({ queue: fresh });
    expect((await redeliver("migrate", "--apply")).error).toContain("--apply does not work on Amazon SQS");
    expect(await next()).toMatchObject({ code: 3, state: "deploy" });
    const going = (): { readonly system: System; readonly phase: number } => {
      const read = readLock(readFileSync(lock, "utf8"));
      const found = read.ok ? goingIn(read.value, "prod") : read;
      if (!found.ok || found.value === null) throw new Error("there is no migration");
      return { system: found.value.steps[found.value.phase]?.system as System, phase: found.value.phase };
    };
    const { resources } = await inTurn(async () => registerSqs(going().system, { broker: "sqs", region }));
    await applyToEmulator(emulator, resources);
    expect((await next()).inTheWay).toEqual([
      `delete the subscription ${declared.name}-orders to ${declared.name}-billing`,
    ]);
    const [TopicArn] = applied.topics.values();
    const { Subscriptions = [] } = await lab.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    const given = Subscriptions.find(({ Endpoint }) => Endpoint === old.arn)?.SubscriptionArn;
    await lab.sns.send(new UnsubscribeCommand({ SubscriptionArn: given }));
    expect(await next()).toMatchObject({
      code: 3,
      state: "wait",
      inTheWay: [`1 message in ${declared.name}-billing (1 visible)`],
    });
    const [message] = await lab.receive(old, { waitSeconds: 2 });
    if (message === undefined) throw new Error("the message is gone");
    expect((await next()).inTheWay).toEqual([`1 message in ${declared.name}-billing (1 in flight)`]);
    await lab.deleteMessage(old, message);
    expect(await next("--wait", "3m")).toMatchObject({ code: 0, state: "deploy" });
    expect(going().phase).toBe(1);
    // The last step only gives up the old queue, which stays.
    expect(await next()).toMatchObject({ code: 0, state: "done" });
    expect((await redeliver("check")).out).toContain("none: this is deployed");
  } finally {
    rmSync(folder, { recursive: true });
    await system.dispose();
  }
});
