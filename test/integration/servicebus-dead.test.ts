import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { ownJournal, start } from "../support/dead-journal.ts";
import { operating } from "../../src/brokers/servicebus/operate/index.ts";
import { createExportReader } from "../../src/operate/ndjson.ts";
import { runCommand } from "../support/run-command.ts";
import { ask, bodiesIn, fill, isEven, peekWhole, stage, take } from "../support/servicebus/dead-stage.ts";

ownJournal();

test("a look shows every letter in order, exports it whole, and changes nothing", { timeout: 240_000 }, async () => {
  const system = await stage();
  const { deadQueue } = system.contract("billing");
  const bodies = await fill(system, 300);
  const groups = JSON.parse((await ask(system, "groups")).out) as { readonly groups: readonly { count: number }[] };
  expect(groups.groups.map(({ count }) => count)).toEqual([150, 150]);
  const listed = await ask(system, "list", "--reason", "EVEN", "--limit", "1000");
  const { letters } = JSON.parse(listed.out) as { readonly letters: readonly { readonly messageId: string }[] };
  expect(letters.map(({ messageId }) => messageId)).toEqual(bodies.filter(isEven).map((body) => `m${body}`));
  const file = join(tmpdir(), `${randomUUID()}.ndjson`);
  onTestFinished(() => rmSync(file, { force: true }));
  expect((await ask(system, "export", "--output", file)).code).toBe(0);
  const reader = createExportReader();
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const exported = lines.flatMap((line) => reader.take(line) ?? []);
  expect([reader.problem(), exported.length]).toEqual([null, 300]);
  expect(exported[6]).toMatchObject({
    lost: null,
    letter: {
      body: Buffer.from("7"),
      routingKey: "order.placed",
      headers: { tenant: "acme", count: 7 },
      properties: { messageId: "m7", deadLetterReason: "ODD" },
    },
  });
  expect(await bodiesIn(system, deadQueue)).toEqual(bodies);
});

test("a redrive sends the chosen half to the work queue alone, with a new count", { timeout: 240_000 }, async () => {
  const system = await stage();
  const { deadQueue, workQueue } = system.contract("billing");
  const bodies = await fill(system, 120);
  const plan = await ask(system, "plan", "--reason", "EVEN");
  expect(JSON.parse(plan.out)).toMatchObject({ frozen: 120, letters: 60, stay: { "not chosen": 60 } });
  const refused = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "59");
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining("RD811")]);
  expect(await bodiesIn(system, workQueue)).toEqual([]);
  const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "60", "--wait", "1ms");
  expect([said.code, JSON.parse(said.out)]).toMatchObject([0, { sent: 60, mayBeDoubled: 0, stopped: null }]);
  const sent = await peekWhole(system, workQueue);
  expect(sent.map(({ body }) => String(body))).toEqual(bodies.filter(isEven));
  const { "redeliver-history": history, ...others } = sent[0]?.applicationProperties ?? {};
  expect(others).toEqual({ tenant: "acme", count: 7 });
  expect(sent[0]).toMatchObject({
    messageId: expect.stringMatching(/^m2:again-\d+$/),
    subject: "order.placed",
    deliveryCount: 0,
  });
  expect(JSON.parse(String(history))).toMatchObject([{ generation: 1, reason: "EVEN" }]);
  expect(await bodiesIn(system, system.contract("audit").workQueue)).toEqual([]);
  expect(await bodiesIn(system, deadQueue)).toEqual(bodies.filter((body) => !isEven(body)));
});

test("a redrive stops when a letter dies again", { timeout: 240_000 }, async () => {
  const system = await stage();
  const { deadQueue } = system.contract("billing");
  await fill(system, 20);
  const consumer = system.drive("billing", () => "permanent");
  let isOver = false;
  const running = ask(system, "redrive", "--confirm", "20", "--wait", "10s").finally(() => (isOver = true));
  await consumer.pollUntil(() => isOver, 50_000);
  const result = JSON.parse((await running).out) as object;
  expect(result).toMatchObject({
    sent: 1,
    diedAgain: 1,
    stopped: expect.stringMatching(/^1 of 1 letters have died again, 1 of them of the group [\da-f]{8}: ./),
  });
  expect(await bodiesIn(system, deadQueue)).toHaveLength(20);
});

test("a letter has all of its attempts in each life, also where duplicates are dropped", async () => {
  const backoff = { kind: "constant", delay: "1s" };
  const options = { strategy: "scheduled", duplicates: "10m" } as const;
  const system = await stage({ retry: { attempts: 3, backoff } }, options);
  const { deadQueue } = system.contract("billing");
  const consumer = system.drive("billing", () => "transient");
  await system.publish({ messageId: "m1", body: Buffer.from("1") });
  for (let life = 1; life <= 3; life++) {
    await consumer.pollUntil(async () => (await bodiesIn(system, deadQueue)).length === 1, 60_000);
    if (life < 3) expect((await ask(system, "redrive", "--confirm", "1", "--wait", "0s")).code).toBe(0);
  }
  expect(consumer.seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
});

test("letters stay if the work queue is gone, and a subscription is refused", { timeout: 240_000 }, async () => {
  const system = await stage();
  await fill(system, 3);
  const { deadQueue } = system.contract("billing");
  const letters = await operating.connect({ url: undefined, managementUrl: undefined, place: null });
  onTestFinished(letters.close);
  await letters.look(deadQueue, () => true);
  const decide = () => ({ queue: "nowhere", history: "[]" });
  const moved = await letters.move(deadQueue, { most: 3, perSecond: null, decide });
  expect(moved).toMatchObject({ sent: 0, stopped: "the queue nowhere is gone" });
  expect(await bodiesIn(system, deadQueue)).toEqual(["1", "2", "3"]);
  process.env["SERVICEBUS_CONNECTION_STRING"] =
    "Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=ops;SharedAccessKey=secret;UseDevelopmentEmulator=true";
  const down = await ask(system, "groups");
  expect([down.code, down.out, down.error]).toEqual([1, expect.stringContaining("RD804"), ""]);
  expect(down.out).not.toContain("secret");
  const ordered = await stage({ order: "per-key" });
  const refused = await ask(ordered, "plan");
  expect([refused.code, refused.error + refused.out]).toEqual([2, expect.stringContaining("subscription")]);
});

test(
  "a redrive that is killed at any instant loses none, and doubles no more than its window",
  { timeout: 600_000 },
  async () => {
    const system = await stage();
    const { deadQueue, workQueue } = system.contract("billing");
    const all = new Set<string>();
    const kills = 8;
    let doubled = 0;
    const sent: string[] = [];
    for (let kill = 1; kill <= kills; kill++) {
      for (const body of await fill(system, 60, all.size + 1)) all.add(body);
      const { letters } = JSON.parse((await ask(system, "plan")).out) as { readonly letters: number };
      const main = join(resolve(import.meta.dirname, "../.."), "src/cli/main.ts");
      const words = ["dead", "redrive", ...system.place, "--confirm", String(letters), "--wait", "0s"];
      const child = spawn(process.execPath, [main, ...words], { stdio: "ignore" });
      const ended = once(child, "exit");
      while (child.exitCode === null && (await bodiesIn(system, workQueue)).length === 0) await sleep(5);
      await sleep(Math.random() * 200);
      child.kill("SIGKILL");
      await ended;
      const [moved, left] = [await bodiesIn(system, workQueue), await bodiesIn(system, deadQueue)];
      const found = [...sent, ...moved, ...left];
      const missing = [...all].filter((body) => !found.includes(body));
      expect(missing, `kill ${kill}: ${found.length} found`).toEqual([]);
      doubled = Math.max(doubled, found.length - all.size);
      sent.push(...(await take(system, workQueue)));
    }
    expect(doubled).toBeLessThanOrEqual(kills);
  },
);

test(
  "a redrive that is killed goes on until done, and touches no later letter, as its journal says",
  { timeout: 600_000 },
  async () => {
    const system = await stage();
    const { deadQueue, workQueue } = system.contract("billing");
    const bodies = await fill(system, 60);
    const words = ["--reason", "EVEN", "--confirm", "30", "--rate", "1", "--wait", "0s"];
    const child = start(["dead", "redrive", ...system.place, ...words]);
    const id = String(await child.id());
    while ((await bodiesIn(system, workQueue)).length < 2) await sleep(50);
    const second = await ask(system, "redrive", ...words);
    expect([second.code, second.out]).toEqual([1, expect.stringContaining("RD816")]);
    await child.kill();
    // Filling receives from the work queue.
    const moved = await take(system, workQueue);
    const later = await fill(system, 4, 100);
    const said = await runCommand(["dead", "resume", id, "--json"]);
    const result = JSON.parse(said.out) as { readonly mayBeDoubled: number };
    expect([said.code, result]).toMatchObject([0, { state: "done", sent: 30, stopped: null }]);
    const sent = [...moved, ...(await bodiesIn(system, workQueue))];
    expect(new Set(sent)).toEqual(new Set(bodies.filter(isEven)));
    expect(sent.length - 30).toBeLessThanOrEqual(result.mayBeDoubled);
    expect(result.mayBeDoubled).toBeLessThanOrEqual(1);
    expect(await bodiesIn(system, deadQueue)).toEqual([...bodies.filter((body) => !isEven(body)), ...later]);
  },
);

const sleep = async (delayMs: number): Promise<void> => new Promise((done) => setTimeout(done, delayMs));
