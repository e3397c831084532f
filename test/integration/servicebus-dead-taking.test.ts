import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redeliver/servicebus-emulator";
import { expect, onTestFinished, test } from "vitest";

import { ownJournal } from "../support/dead-journal.ts";
import { killAfter } from "../support/killed-command.ts";
import { runCommand } from "../support/run-command.ts";
import { lettersIn } from "../support/servicebus/dead-stage.ts";
import { deploy, type DeployedSystem, standard } from "../support/servicebus/deployed-system.ts";

ownJournal();

const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  deadLetter: { park: true, generations: 1 },
};

interface Stage extends DeployedSystem {
  readonly folder: string;
  readonly words: (command: string) => string[];
  readonly ask: (command: string, ...words: readonly string[]) => Promise<Record<string, unknown>>;
}

async function stage(): Promise<Stage> {
  const system = await deploy(onTestFinished, { billing });
  process.env["SERVICEBUS_CONNECTION_STRING"] = system.lab.emulator.connectionString;
  const folder = mkdtempSync(join(tmpdir(), "redeliver-taking-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [declaration, target] = [join(folder, "shop.json"), join(folder, "target.json")];
  const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
  writeFileSync(declaration, JSON.stringify(shop));
  writeFileSync(target, JSON.stringify(standard));
  const words = (command: string): string[] => {
    return ["dead", command, declaration, "--target", target, "--consumer", "billing", "--json"];
  };
  const ask: Stage["ask"] = async (command, ...more) => {
    const { out, code } = await runCommand([...words(command), ...more]);
    return { code, ...(JSON.parse(out) as object) };
  };
  return { ...system, folder, words, ask };
}

/** Lets a receiver of billing dead-letter messages 1, 2, … with every kind of body and property. */
async function fill(system: DeployedSystem, count: number, byte = 255): Promise<string[]> {
  const client = createClient({ connectionString: system.lab.emulator.connectionString });
  const { workQueue } = system.contract("billing");
  const ids = Array.from({ length: count }, (_, index) => `m${index + 1}`);
  const sender = client.createSender(workQueue);
  for (const [index, messageId] of ids.entries())
    await sender.sendMessages({
      messageId,
      body: index % 2 === 0 ? Buffer.from([0, byte, index]) : { n: index },
      subject: "order.placed",
      correlationId: "c",
      contentType: "application/json",
      replyTo: "answers",
      applicationProperties: { tenant: "acme", count: 7, share: 0.25, isTrue: true, when: new Date(1_700_000_000_000) },
    });
  const receiver = client.createReceiver(workQueue);
  for (let left = count; left > 0;) {
    const page = await receiver.receiveMessages(left, { maxWaitTimeInMs: 5_000 });
    const end = { deadLetterReason: "POISON", deadLetterErrorDescription: "no address" };
    for (const message of page) await receiver.deadLetterMessage(message, end);
    left -= page.length;
  }
  await client.close();
  return ids;
}

async function idsIn({ lab }: Stage, path: string): Promise<string[]> {
  const client = createClient({ connectionString: lab.emulator.connectionString });
  const receiver = client.createReceiver(path);
  const all: string[] = [];
  for (let page = await receiver.peekMessages(250); page.length > 0; page = await receiver.peekMessages(250))
    all.push(...page.map(({ messageId }) => String(messageId)));
  await client.close();
  return all;
}

const why = ["--why", "no such customer", "--by", "ann"] as const;
const parkedQueue = "shop.billing.parked";

test("letters come back by an import into an ordinary queue, as they were", { timeout: 240_000 }, async () => {
  const system = await stage();
  await fill(system, 20);
  const [first, second] = [join(system.folder, "first"), join(system.folder, "second")];
  expect(await system.ask("export", "--output", first)).toMatchObject({ code: 0, notWhole: 0 });
  const closed = await system.ask("import", "--input", first, "--confirm", "20");
  expect([closed["code"], closed["usage"]]).toEqual([2, expect.stringContaining("lets nobody send")]);
  const into = ["import", "--input", first, "--into", parkedQueue] as const;
  expect(await system.ask(...into)).toMatchObject({ letters: 20 });
  expect(await system.ask(...into, "--confirm", "20")).toMatchObject({ code: 0, imported: 20, stopped: null });
  expect(await system.ask("export", "--parked", "--output", second)).toMatchObject({ code: 0, matched: 20 });
  expect(lettersIn(second)).toEqual(lettersIn(first));
  const gone = await system.ask("import", "--input", first, "--into", "nowhere", "--confirm", "20");
  expect(gone).toMatchObject({ code: 2, usage: "there is no queue nowhere" });
});

test("letters are parked, come back, and end parked by the cap", { timeout: 240_000 }, async () => {
  const system = await stage();
  const { deadQueue, workQueue } = system.contract("billing");
  // The consumer of the test quotes the body, and a text that is not UTF-8 would not be whole.
  const ids = await fill(system, 6, 65);
  expect(await system.ask("park", ...why, "--confirm", "6")).toMatchObject({ code: 0, done: 6, stopped: null });
  expect([await idsIn(system, parkedQueue), await idsIn(system, deadQueue)]).toEqual([ids, []]);
  const { groups } = (await system.ask("groups", "--parked")) as { readonly groups: readonly object[] };
  expect(groups).toMatchObject([{ reason: "POISON", count: 6 }]);
  const back = ["redrive", "--parked", "--wait", "0s", "--confirm", "6"] as const;
  expect(await system.ask(...back)).toMatchObject({ code: 0, sent: 6, parked: 0 });
  const consumer = system.drive("billing", () => "permanent");
  await consumer.pollUntil(async () => (await idsIn(system, deadQueue)).length === 6, 60_000);
  expect(await system.ask("plan")).toMatchObject({ letters: 0, park: { letters: 6 } });
  expect(await system.ask("redrive", "--confirm", "6")).toMatchObject({ code: 0, sent: 0, parked: 6 });
  const [parked, left] = [await idsIn(system, parkedQueue), await idsIn(system, workQueue)];
  expect([parked.length, left, await idsIn(system, deadQueue)]).toEqual([6, [], []]);
});

test("letters are edited with the original in the backup first", { timeout: 240_000 }, async () => {
  const system = await stage();
  const { deadQueue, workQueue } = system.contract("billing");
  await fill(system, 6);
  const [module, backup, before] = ["edit.ts", "backup", "before"].map((name) => join(system.folder, name)) as [
    string,
    string,
    string,
  ];
  const text =
    "export default ({ body, headers }) => body.n === undefined ? null : { body: { ...body, more: 1 }, headers: { ...headers, tenant: 'b' } };";
  writeFileSync(module, text);
  await system.ask("export", "--output", before);
  const words = ["edit", "--with", module, ...why] as const;
  expect(await system.ask(...words)).toMatchObject({
    letters: 3,
    sample: [{ id: "m2", differences: ["body.more: nothing → 1", 'headers.tenant: "acme" → "b"'] }, {}, {}],
  });
  expect(await system.ask(...words, "--backup", backup, "--confirm", "3")).toMatchObject({ code: 0, done: 3 });
  expect(lettersIn(backup)).toEqual(lettersIn(before).filter((_, index) => index % 2 === 1));
  expect(await idsIn(system, deadQueue)).toEqual(["m1", "m3", "m5"]);
  const [sent] = await system.peek(workQueue);
  expect(sent).toMatchObject({ messageId: expect.stringMatching(/^[\da-f]{32}$/), body: { n: 1, more: 1 } });
  const { tenant, count, when, "redeliver-history": history } = sent?.applicationProperties ?? {};
  expect([tenant, count, when]).toEqual(["b", 7, 1_700_000_000_000]);
  expect(JSON.parse(String(history))).toMatchObject([{ generation: 1, did: "edited", messageId: "m2", by: "ann" }]);
});

test(
  "letters that are killed while they are discarded are in the queue or in the backup",
  { timeout: 600_000 },
  async () => {
    const system = await stage();
    const { deadQueue } = system.contract("billing");
    const ids = await fill(system, 150);
    const saved: string[] = [];
    for (let kill = 0; kill < 4; kill++) {
      const { length } = await idsIn(system, deadQueue);
      if (length === 0) break;
      const backup = join(system.folder, randomUUID());
      const words = [...system.words("discard"), ...why, "--backup", backup, "--confirm", String(length)];
      await killAfter(words, () => existsSync(backup) && statSync(backup).size > 1_000, 200);
      const parts = lettersIn(backup).map(
        (line) => JSON.parse(line) as readonly [string, object, { messageId: string }],
      );
      saved.push(...parts.map(([, , { messageId }]) => messageId));
    }
    expect(saved.length).toBeGreaterThan(0);
    expect(new Set([...saved, ...(await idsIn(system, deadQueue))])).toEqual(new Set(ids));
  },
);
