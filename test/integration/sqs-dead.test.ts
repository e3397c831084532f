import { join } from "node:path";
import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { describe, expect, onTestFinished, test } from "vitest";

import { ownJournal } from "../support/dead-journal.ts";
import { operating } from "../../src/brokers/sqs/operate/index.ts";
import { digestOf, readFrozen, writeFrozen } from "../../src/operate/frozen.ts";
import type { Letter } from "../../src/operate/letter.ts";
import { exportedIn } from "../support/exported-letters.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { region } from "../support/sqs/clients.ts";
import { attributes, textsOf } from "../support/sqs/deployed-system.ts";
import { type Fate, startRecordingProxy } from "../support/sqs/recording-proxy.ts";
import { ask, bodiesOf, connected, drain, fill, stage } from "../support/sqs/dead-stage.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

describe.for(sqsEmulators())("dead letters on $name", (emulator) => {
  test("of failing consumers are grouped, listed and exported whole, and stay", async () => {
    const system = await stage(emulator);
    const { lab } = system;
    await lab.send(system.work("billing"), "a", { MessageAttributes: attributes({ tenant: "acme" }) });
    await lab.send(system.work("billing"), "b");
    const consumer = system.drive("billing", ({ body }) => (body === "a" ? "permanent" : "transient"));
    await consumer.pollUntil(async () => (await lab.count(system.dead("billing"))) === 2);
    await fill(system, 30);
    const { code, groups } = await ask<{ groups: readonly { readonly count: number }[] }>(system, "groups");
    expect([code, groups.map(({ count }) => count).toSorted()]).toEqual([0, [1, 1, 15, 15]]);
    const listed = await ask(system, "list", "--reason", "EVEN", "--limit", "100");
    expect(listed["letters"]).toHaveLength(15);
    const file = join(temporaryFolder("dead", onTestFinished), "dead.ndjson");
    expect((await ask(system, "export", "--output", file)).code).toBe(0);
    const { exported, problem } = exportedIn(file);
    expect([problem, exported.length]).toEqual([null, 32]);
    const one = exported.find(({ letter }) => Buffer.from(letter.body).toString() === "7");
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
    expect(await ask(system, "plan", "--reason", "EVEN")).toMatchObject({
      frozen: 60,
      letters: 30,
      targets: [{ queue: system.work("billing").name, letters: 30, consumers: "unknown" }],
      stay: { "not chosen": 30 },
    });
    const refused = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "29");
    expect(refused).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
    expect(await system.lab.count(system.work("billing"))).toBe(0);
    const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "30", "--wait", "1ms");
    expect(said).toMatchObject({ code: 0, sent: 30, diedAgain: 0, mayBeDoubled: 0, stopped: null });
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

  test("of a queue that no declaration names are listed, and sent as far as SQS says where they died", async () => {
    const system = await stage(emulator);
    const { lab } = system;
    for (const body of ["a", "b"]) await lab.send(system.work("billing"), body);
    const consumer = system.drive("billing", () => "transient");
    await consumer.pollUntil(async () => (await lab.count(system.dead("billing"))) === 2);
    await lab.send(system.dead("billing"), "from nowhere");
    expect((await ask(system, "list"))["letters"]).toHaveLength(3);
    const count = gapOf("dead-letter-names-source", emulator.name) === undefined ? 2 : 0;
    const stay = { "from another queue": 3 - count };
    expect(await ask(system, "plan")).toMatchObject({ frozen: 3, letters: count, stay });
  });

  test("of a large queue are grouped, and half of them are sent, but no other", { timeout: 600_000 }, async () => {
    const system = await stage(emulator);
    // moto reads all messages of a queue for each receive, so that a look at 3,000 takes ten minutes.
    const half = emulator.name === "moto" ? 75 : 1_500;
    const bodies = await fill(system, 2 * half);
    const { groups } = await ask<{ groups: readonly { reason: string; count: number }[] }>(system, "groups");
    expect(groups.map(({ reason, count }) => [reason, count]).toSorted()).toEqual([
      ["EVEN", half],
      ["ODD", half],
    ]);
    const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", String(half), "--wait", "0s");
    expect(said).toMatchObject({ code: 0, sent: half, mayBeDoubled: 0, stopped: null });
    const isEven = (body: string): boolean => Number(body) % 2 === 0;
    expect(bodiesOf(await drain(system, system.work("billing")))).toEqual(bodies.filter(isEven));
    expect(bodiesOf(await drain(system, system.dead("billing")))).toEqual(bodies.filter((body) => !isEven(body)));
  });

  test("that die again stop the redrive, and later letters are not touched", async () => {
    const system = await stage(emulator);
    await fill(system, 20);
    const consumer = system.drive("billing", () => "permanent");
    let isOver = false;
    const running = ask(system, "redrive", "--confirm", "20", "--wait", "10s").finally(() => (isOver = true));
    await consumer.pollUntil(() => isOver, 60_000);
    expect(await running).toMatchObject({
      sent: 1,
      diedAgain: 1,
      stopped: expect.stringMatching(/^1 of 1 letters have died again, 1 of them of the group [\da-f]{8}: ./),
    });
    expect(await system.lab.count(system.dead("billing"))).toBe(20);

    const letters = await connected(emulator.endpoint);
    const digests: bigint[] = [];
    await letters.look(system.dead("billing").name, (letter) => {
      digests.push(digestOf(operating.identityOf(letter)));
      return true;
    });
    const frozen = readFrozen(writeFrozen(digests));
    await fill(system, 5, 100);
    const sending = { queue: system.work("billing").name, history: "[]" };
    const decide = (letter: Letter) => (frozen.take(digestOf(operating.identityOf(letter))) ? sending : null);
    const pass = { most: Infinity, perSecond: null, decide };
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
    expect(await ask(system, "plan", file, work("billing").name)).toMatchObject({ letters: 3 });
    expect(await ask(system, "plan")).toMatchObject({ stay: { "ten attributes of its own": 1 } });
    await lab.sqs.send(new DeleteQueueCommand({ QueueUrl: work("billing").url }));
    expect(await ask(system, "plan")).toMatchObject({ letters: 0, stay: { "queue gone": 3 } });
    expect(await lab.count(dead("billing"))).toBe(4);
    const policy = JSON.stringify({ deadLetterTargetArn: dead("audit").arn, maxReceiveCount: 2 });
    const moving = await lab.createQueue({ RedrivePolicy: policy });
    const words = ["--queue", moving.name, "--target", `sqs@${region}`, "--url", emulator.endpoint, "--json"];
    expect(await answerOf(runCommand(["dead", "groups", ...words]))).toMatchObject({
      code: 1,
      diagnostics: [{ code: "RD841" }],
    });
    const missing = await answerOf(runCommand(["dead", "groups", ...words.with(1, "nowhere")]));
    expect(missing).toMatchObject({ code: 1, diagnostics: [{ code: "RD805" }] });
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
        const letters = await connected(proxy.endpoint);
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
    const letters = await connected(proxy.endpoint);
    await letters.look(dead.name, () => true);
    const fates: Fate[] = ["pass", "cut-answer"];
    proxy.decide(({ operation }) => (operation === "ReceiveMessage" ? (fates.shift() ?? "pass") : "pass"));
    const decide = () => ({ queue: work.name, history: "[]" });
    const pass = { most: Infinity, perSecond: null, decide };
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
      const { letters } = await ask<{ readonly letters: number }>(system, "plan");
      expect(letters).toBeGreaterThan(0);
      const said = await ask(system, "redrive", "--confirm", String(letters), "--wait", "0s");
      expect(said.code, said.text).toBe(0);
      for (const { Body = "" } of await drain(system, system.work("billing"))) sent.push(Body);
    }
    for (const group of [0, 1, 2]) {
      const inGroup = (each: string): boolean => Number(each) % 3 === group;
      expect(sent.filter(inGroup)).toEqual(bodies.filter(inGroup));
    }
  });
});
