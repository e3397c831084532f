import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { ownJournal, start } from "../support/dead-journal.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { sleep } from "../support/deployed-system.ts";
import { exportedIn } from "../support/exported-letters.ts";
import { killAfter } from "../support/killed-command.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { ask, bodiesIn, connected, fill, isEven, stage, take } from "../support/servicebus/dead-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

test("a look shows every letter in order, exports it whole, and changes nothing", async () => {
  const system = await stage();
  const { deadQueue } = system.contract("billing");
  const bodies = await fill(system, 300);
  const groups = await ask<{ readonly groups: readonly { count: number }[] }>(system, "groups");
  expect(groups.groups.map(({ count }) => count)).toEqual([150, 150]);
  const words = ["--reason", "EVEN", "--limit", "1000"];
  const { letters } = await ask<{ letters: readonly { messageId: string }[] }>(system, "list", ...words);
  expect(letters.map(({ messageId }) => messageId)).toEqual(bodies.filter(isEven).map((body) => `m${body}`));
  const file = join(temporaryFolder("dead", onTestFinished), "dead.ndjson");
  expect((await ask(system, "export", "--output", file)).code).toBe(0);
  const { exported, problem } = exportedIn(file);
  expect([problem, exported.length]).toEqual([null, 300]);
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

test("a redrive sends the chosen half to the work queue alone, with a new count", async () => {
  const system = await stage();
  const { deadQueue, workQueue } = system.contract("billing");
  const bodies = await fill(system, 120);
  expect(await ask(system, "plan", "--reason", "EVEN")).toMatchObject({
    frozen: 120,
    letters: 60,
    stay: { "not chosen": 60 },
  });
  const refused = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "59");
  expect(refused).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
  expect(await bodiesIn(system, workQueue)).toEqual([]);
  const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "60", "--wait", "1ms");
  expect(said).toMatchObject({ code: 0, sent: 60, mayBeDoubled: 0, stopped: null });
  const sent = await system.peek(workQueue);
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

test("a redrive stops when a letter dies again", async () => {
  const system = await stage();
  const { deadQueue } = system.contract("billing");
  await fill(system, 20);
  const consumer = system.drive("billing", () => "permanent");
  let isOver = false;
  const running = ask(system, "redrive", "--confirm", "20", "--wait", "10s").finally(() => (isOver = true));
  await consumer.pollUntil(() => isOver, 50_000);
  expect(await running).toMatchObject({
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

test("letters stay if the work queue is gone, and a subscription is refused", async () => {
  const system = await stage();
  await fill(system, 3);
  const { deadQueue } = system.contract("billing");
  const letters = await connected();
  await letters.look(deadQueue, () => true);
  const decide = () => ({ queue: "nowhere", history: "[]" });
  const moved = await letters.move(deadQueue, { most: 3, perSecond: null, decide });
  expect(moved).toMatchObject({ sent: 0, stopped: "the queue nowhere is gone" });
  expect(await bodiesIn(system, deadQueue)).toEqual(["1", "2", "3"]);
  process.env["SERVICEBUS_CONNECTION_STRING"] =
    "Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=ops;SharedAccessKey=secret;UseDevelopmentEmulator=true";
  const down = await ask(system, "groups");
  expect(down).toMatchObject({ code: 1, diagnostics: [{ code: "RD804" }] });
  expect(down.text).not.toContain("secret");
  const ordered = await stage({ order: "per-key" });
  expect(await ask(ordered, "plan")).toMatchObject({ code: 2, usage: expect.stringContaining("subscription") });
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
      const { letters } = await ask<{ readonly letters: number }>(system, "plan");
      const words = ["dead", "redrive", ...system.place, "--confirm", String(letters), "--wait", "0s"];
      await killAfter(words, async () => (await bodiesIn(system, workQueue)).length > 0, 200);
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
    expect(await ask(system, "redrive", ...words)).toMatchObject({ code: 1, diagnostics: [{ code: "RD816" }] });
    await child.kill();
    // Filling receives from the work queue.
    const moved = await take(system, workQueue);
    const later = await fill(system, 4, 100);
    const result = await answerOf<RedriveResult>(runCommand(["dead", "resume", id, "--json"]));
    expect(result).toMatchObject({ code: 0, state: "done", sent: 30, stopped: null });
    const sent = [...moved, ...(await bodiesIn(system, workQueue))];
    expect(new Set(sent)).toEqual(new Set(bodies.filter(isEven)));
    expect(sent.length - 30).toBeLessThanOrEqual(result.mayBeDoubled);
    expect(result.mayBeDoubled).toBeLessThanOrEqual(1);
    expect(await bodiesIn(system, deadQueue)).toEqual([...bodies.filter((body) => !isEven(body)), ...later]);
  },
);
