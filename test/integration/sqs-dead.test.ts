import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DeleteQueueCommand, type MessageAttributeValue } from "@aws-sdk/client-sqs";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { ownJournal, start } from "../support/dead-journal.ts";
import { operating } from "../../src/brokers/sqs/operate/index.ts";
import { createExportReader } from "../../src/operate/ndjson.ts";
import { runCommand, type Said } from "../support/run-command.ts";
import { region } from "../support/sqs/clients.ts";
import { attributes, deploy, type DeployedSystem, textsOf } from "../support/sqs/deployed-system.ts";
import type { Queue } from "../support/sqs/lab.ts";
import { type Fate, startRecordingProxy } from "../support/sqs/recording-proxy.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

ownJournal();

const credentials = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };

beforeAll(() => {
  Object.assign(process.env, credentials);
});

/** Two subscribers of one source. A redrive for one of them must not reach the other. */
const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};

async function stage(emulator: Parameters<typeof deploy>[0], more: object = {}): Promise<DeployedSystem> {
  const system = await deploy(emulator, { billing: { ...billing, ...more }, audit: { ...billing, ...more } });
  onTestFinished(system.dispose);
  return system;
}

/** Puts letters into the dead queue: 1, 2, …, whose reasons are ODD and EVEN. */
async function fill(system: DeployedSystem, count: number, first = 1): Promise<string[]> {
  const bodies = Array.from({ length: count }, (_, index) => String(first + index));
  const isFifo = system.dead("billing").name.endsWith(".fifo");
  for (const body of bodies) {
    const reason = Number(body) % 2 === 0 ? "EVEN" : "ODD";
    const texts = { "dlq-failure-reason": reason, "dlq-original-queue": system.work("billing").name, tenant: "acme" };
    const amount: MessageAttributeValue = { DataType: "Number.cents", StringValue: "2.50" };
    const bytes: MessageAttributeValue = { DataType: "Binary", BinaryValue: Buffer.from([0, 255, 1]) };
    const MessageAttributes = { ...attributes(texts), amount, bytes };
    const group = isFifo ? { MessageGroupId: `g${Number(body) % 3}`, MessageDeduplicationId: randomUUID() } : {};
    await system.lab.send(system.dead("billing"), body, { MessageAttributes, ...group });
  }
  return bodies;
}

function wordsFor({ lab, dead }: DeployedSystem, command: string): string[] {
  const { name } = dead("billing");
  const place = ["--queue", name, "--target", `sqs@${region}`, "--url", lab.emulator.endpoint];
  return ["dead", command, ...place, "--json"];
}

const ask = async (system: DeployedSystem, command: string, ...words: readonly string[]): Promise<Said> =>
  runCommand([...wordsFor(system, command), ...words]);

/** Receives and deletes everything, until the queue is empty. */
async function drain({ lab }: DeployedSystem, queue: Queue) {
  const all = [];
  while ((await lab.count(queue)) > 0) {
    const received = await lab.receive(queue, { max: 10, waitSeconds: 1 });
    for (const message of received) await lab.deleteMessage(queue, message);
    all.push(...received);
  }
  return all;
}

const bodiesOf = (messages: readonly { readonly Body?: string | undefined }[]): string[] =>
  messages.map(({ Body = "" }) => Body).toSorted((left, right) => Number(left) - Number(right));

describe.for(sqsEmulators())("dead letters on $name", { timeout: 240_000 }, (emulator) => {
  test("of failing consumers are grouped, listed and exported whole, and stay", async () => {
    const system = await stage(emulator);
    const { lab } = system;
    await lab.send(system.work("billing"), "a", { MessageAttributes: attributes({ tenant: "acme" }) });
    await lab.send(system.work("billing"), "b");
    const consumer = system.drive("billing", ({ body }) => (body === "a" ? "permanent" : "transient"));
    await consumer.pollUntil(async () => (await lab.count(system.dead("billing"))) === 2);
    await fill(system, 30);
    const groups = await ask(system, "groups");
    const found = JSON.parse(groups.out) as { readonly groups: readonly { readonly count: number }[] };
    expect([groups.code, found.groups.map(({ count }) => count).toSorted()]).toEqual([0, [1, 1, 15, 15]]);
    const listed = await ask(system, "list", "--reason", "EVEN", "--limit", "100");
    expect((JSON.parse(listed.out) as { readonly letters: readonly unknown[] }).letters).toHaveLength(15);
    const file = join(tmpdir(), `${randomUUID()}.ndjson`);
    onTestFinished(() => rmSync(file, { force: true }));
    expect((await ask(system, "export", "--output", file)).code).toBe(0);
    const reader = createExportReader();
    const letters = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .flatMap((line) => reader.take(line) ?? []);
    expect([reader.problem(), letters.length]).toEqual([null, 32]);
    const one = letters.find(({ letter }) => Buffer.from(letter.body).toString() === "7");
    expect(one).toMatchObject({
      lost: null,
      letter: {
        headers: { tenant: "acme", amount: { type: "Number.cents", value: "2.50" }, bytes: Buffer.from([0, 255, 1]) },
      },
    });
    expect(await lab.count(system.dead("billing"))).toBe(32);
    expect(await drain(system, system.dead("billing"))).toHaveLength(32);
  });

  test("go to the work queue alone, the chosen ones only, with their attributes and a new count", async () => {
    const system = await stage(emulator);
    const bodies = await fill(system, 60);
    const even = bodies.filter((body) => Number(body) % 2 === 0);
    const plan = await ask(system, "plan", "--reason", "EVEN");
    expect(JSON.parse(plan.out)).toMatchObject({
      frozen: 60,
      letters: 30,
      targets: [{ queue: system.work("billing").name, letters: 30, consumers: "unknown" }],
      stay: { "not chosen": 30 },
    });
    expect([(await ask(system, "redrive", "--reason", "EVEN", "--confirm", "29")).out]).toEqual([
      expect.stringContaining("RD811"),
    ]);
    expect(await system.lab.count(system.work("billing"))).toBe(0);
    const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "30", "--wait", "1ms");
    expect([said.code, JSON.parse(said.out)]).toMatchObject([
      0,
      { sent: 30, diedAgain: 0, mayBeDoubled: 0, stopped: null },
    ]);
    const sent = await drain(system, system.work("billing"));
    expect(bodiesOf(sent)).toEqual(even);
    expect(await system.lab.count(system.work("audit"))).toBe(0);
    const { "redeliver-history": history, ...others } = sent[0]?.MessageAttributes ?? {};
    expect(textsOf(others)).toEqual({ tenant: "acme", amount: "2.50", bytes: "no text" });
    expect([others["amount"]?.DataType, [...(others["bytes"]?.BinaryValue ?? [])]]).toEqual([
      "Number.cents",
      [0, 255, 1],
    ]);
    expect(sent[0]?.Attributes?.ApproximateReceiveCount).toBe("1");
    expect(JSON.parse(history?.StringValue ?? "")).toMatchObject([{ generation: 1, reason: "EVEN" }]);
    expect(bodiesOf(await drain(system, system.dead("billing")))).toEqual(
      bodies.filter((body) => !even.includes(body)),
    );
  });

  test("that die again stop the redrive, and later letters are not touched", async () => {
    const system = await stage(emulator);
    await fill(system, 20);
    const consumer = system.drive("billing", () => "permanent");
    let isOver = false;
    const running = ask(system, "redrive", "--confirm", "20", "--wait", "10s").finally(() => (isOver = true));
    await consumer.pollUntil(() => isOver, 60_000);
    expect(JSON.parse((await running).out)).toMatchObject({
      sent: 1,
      diedAgain: 1,
      stopped: "1 of 1 letters have died again",
    });
    expect(await system.lab.count(system.dead("billing"))).toBe(20);

    const letters = await operating.connect({ url: emulator.endpoint, managementUrl: undefined, place: region });
    onTestFinished(letters.close);
    await letters.look(system.dead("billing").name, () => true);
    await fill(system, 5, 100);
    const decide = () => ({ queue: system.work("billing").name, history: "[]" });
    const pass = { frozen: 20, most: Infinity, perSecond: null, decide };
    expect(await letters.move(system.dead("billing").name, pass)).toMatchObject({ sent: 20, stopped: null });
    expect(bodiesOf(await drain(system, system.dead("billing")))).toEqual(["100", "101", "102", "103", "104"]);
  });

  test("stay if the work queue is gone, if they have no room, and if looks would move them", async () => {
    const system = await stage(emulator);
    const { lab } = system;
    await fill(system, 3);
    const full = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`own-${index}`, "x"]));
    await lab.send(system.dead("billing"), "4", { MessageAttributes: attributes(full) });
    const { dead, work } = system;
    const file = "--failed-in";
    expect(JSON.parse((await ask(system, "plan", file, work("billing").name)).out)).toMatchObject({ letters: 3 });
    expect(JSON.parse((await ask(system, "plan")).out)).toMatchObject({ stay: { "ten attributes of its own": 1 } });
    await lab.sqs.send(new DeleteQueueCommand({ QueueUrl: work("billing").url }));
    expect(JSON.parse((await ask(system, "plan")).out)).toMatchObject({ letters: 0, stay: { "queue gone": 3 } });
    expect(await lab.count(dead("billing"))).toBe(4);
    const policy = JSON.stringify({ deadLetterTargetArn: dead("audit").arn, maxReceiveCount: 2 });
    const moving = await lab.createQueue({ RedrivePolicy: policy });
    const words = ["--queue", moving.name, "--target", `sqs@${region}`, "--url", emulator.endpoint, "--json"];
    const refused = await runCommand(["dead", "groups", ...words]);
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining("RD841")]);
    const missing = await runCommand(["dead", "groups", ...words.with(1, "nowhere")]);
    expect([missing.code, missing.out]).toEqual([1, expect.stringContaining("RD805")]);
  });

  test.for(["none", "per-key"])(
    "are counted if an answer is lost, and never lost themselves: order %s",
    async (order) => {
      const system = await stage(emulator, { order });
      const [dead, work] = [system.dead("billing"), system.work("billing")];
      const bodies = await fill(system, 3);
      const proxy = await startRecordingProxy(emulator.endpoint);
      onTestFinished(proxy.close);
      const redriven = async (operation: string, fates: readonly Fate[]): Promise<object> => {
        const left = [...fates];
        proxy.decide((call) => (call.operation === operation ? (left.shift() ?? "pass") : "pass"));
        const letters = await operating.connect({ url: proxy.endpoint, managementUrl: undefined, place: region });
        onTestFinished(letters.close);
        await letters.look(dead.name, () => true);
        const decide = () => ({ queue: work.name, history: "[]" });
        return letters.move(dead.name, { most: 1, perSecond: 100, decide });
      };
      const isFifo = order === "per-key";
      // SQS took the copy, and its answer was lost.
      expect(await redriven("SendMessage", ["cut-answer"])).toMatchObject({ sent: 1, mayBeDoubled: isFifo ? 0 : 1 });
      expect(await system.lab.count(work)).toBe(isFifo ? 1 : 2);
      // The copy never arrived, and at the third time it did.
      expect(await redriven("SendMessage", ["cut-call", "cut-call"])).toMatchObject({ sent: 1, stopped: null });
      // The letter that was sent cannot be deleted, so the redrive does not go on.
      const refused = { error: "AccessDeniedException", status: 403 } as const;
      const stopped = expect.stringContaining("could not be removed") as string;
      const wanted = { sent: 1, mayBeDoubled: 1, stopped };
      expect(await redriven("DeleteMessage", [refused, refused, refused])).toMatchObject(wanted);
      expect(await system.lab.count(dead)).toBe(1);
      expect(new Set(bodiesOf(await drain(system, work)))).toEqual(new Set(bodies));
    },
  );

  test("go on after an outage, and a broker that is down is one diagnostic", async () => {
    const system = await stage(emulator);
    const [dead, work] = [system.dead("billing"), system.work("billing")];
    const bodies = await fill(system, 25);
    const proxy = await startRecordingProxy(emulator.endpoint);
    onTestFinished(proxy.close);
    const letters = await operating.connect({ url: proxy.endpoint, managementUrl: undefined, place: region });
    onTestFinished(letters.close);
    await letters.look(dead.name, () => true);
    const fates: Fate[] = ["pass", "cut-answer"];
    proxy.decide(({ operation }) => (operation === "ReceiveMessage" ? (fates.shift() ?? "pass") : "pass"));
    const decide = () => ({ queue: work.name, history: "[]" });
    const pass = { frozen: 25, most: Infinity, perSecond: null, decide };
    const first = await letters.move(dead.name, pass);
    expect(first).toMatchObject({ isLost: true, mayBeDoubled: 0, stopped: null });
    expect(await system.lab.count(work)).toBe(first.sent);
    // The letters of the lost answer are hidden for half a minute.
    let { sent } = first;
    while (sent < 25) sent += (await letters.move(dead.name, pass)).sent;
    expect(bodiesOf(await drain(system, work))).toEqual(bodies);
    const words = ["dead", "groups", "--queue", dead.name, "--target", `sqs@${region}`, "--url", "http://127.0.0.1:9"];
    const down = await runCommand([...words, "--json"]);
    expect([down.code, down.out, down.error]).toEqual([1, expect.stringContaining("RD804"), ""]);
  });

  test("of FIFO keep the order of their groups", async () => {
    const system = await stage(emulator, { order: "per-key" });
    const bodies = await fill(system, 15);
    const sent: string[] = [];
    for (let round = 0; sent.length < bodies.length && round < 30; round++) {
      const { letters } = JSON.parse((await ask(system, "plan")).out) as { readonly letters: number };
      expect(letters).toBeGreaterThan(0);
      const said = await ask(system, "redrive", "--confirm", String(letters), "--wait", "0s");
      expect(said.code, said.out).toBe(0);
      for (const { Body = "" } of await drain(system, system.work("billing"))) sent.push(Body);
    }
    for (const group of [0, 1, 2]) {
      const inGroup = (each: string): boolean => Number(each) % 3 === group;
      expect(sent.filter(inGroup)).toEqual(bodies.filter(inGroup));
    }
  });

  test(
    "killed at any instant, a redrive loses none, and doubles no more than its window",
    { timeout: 600_000 },
    async () => {
      const system = await stage(emulator);
      const all = new Set<string>();
      let before = 0;
      const kills = 6;
      for (let kill = 1; kill <= kills; kill++) {
        for (const body of await fill(system, 40, all.size + 1)) all.add(body);
        const { letters } = JSON.parse((await ask(system, "plan")).out) as { readonly letters: number };
        const main = join(resolve(import.meta.dirname, "../.."), "src/cli/main.ts");
        const words = [...wordsFor(system, "redrive"), "--confirm", String(letters), "--wait", "0s"];
        const child = spawn(process.execPath, [main, ...words], { stdio: "ignore" });
        const ended = once(child, "exit");
        while (child.exitCode === null && (await system.lab.count(system.work("billing"))) === before)
          await new Promise((done) => setTimeout(done, 5));
        await new Promise((done) => setTimeout(done, Math.random() * 150));
        child.kill("SIGKILL");
        await ended;
        before = await system.lab.count(system.work("billing"));
      }
      const sent = bodiesOf(await drain(system, system.work("billing")));
      // Letters that a killed redrive had received are hidden for half a minute.
      const left = bodiesOf(await drain(system, system.dead("billing")));
      expect(new Set([...sent, ...left])).toEqual(all);
      expect(sent.length + left.length - all.size).toBeLessThanOrEqual(10 * kills);
      expect(new Set(left).size).toBe(left.length);
    },
  );

  test.for(["none", "per-key"])(
    "a redrive that was killed goes on until done, and touches no later letter: order %s",
    { timeout: 600_000 },
    async (order) => {
      const system = await stage(emulator, { order });
      const bodies = await fill(system, 60);
      const plan = JSON.parse((await ask(system, "plan")).out) as { readonly letters: number };
      const words = ["--confirm", String(plan.letters), "--rate", "1", "--wait", "0s"];
      const child = start([...wordsFor(system, "redrive"), ...words]);
      const id = String(await child.id());
      while ((await system.lab.count(system.work("billing"))) < 1 && !child.isOver())
        await new Promise((done) => setTimeout(done, 50));
      await child.kill();
      const later = await fill(system, 4, 100);
      const said = await runCommand(["dead", "resume", id, "--json"]);
      const result = JSON.parse(said.out) as { readonly mayBeDoubled: number };
      expect([said.code, result], said.error).toMatchObject([0, { state: "done", stopped: null }]);
      const sent = bodiesOf(await drain(system, system.work("billing")));
      const left = bodiesOf(await drain(system, system.dead("billing")));
      expect(new Set([...sent, ...left])).toEqual(new Set([...bodies, ...later]));
      expect(new Set(sent).size).toBe(plan.letters);
      expect(left).toEqual(expect.arrayContaining(later));
      expect(sent.length + left.length - bodies.length - later.length).toBeLessThanOrEqual(result.mayBeDoubled);
      expect(result.mayBeDoubled).toBeLessThanOrEqual(10);
    },
  );
});
