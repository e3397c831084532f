import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import amqplib from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";

import { brokers as compilers } from "../../src/index.ts";
import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import { consume } from "../../src/consume/index.ts";
import { openJournal, tellRedrives } from "../../src/dead-letters/index.ts";
import { digestOf, readFrozen, writeFrozen } from "../../src/operate/frozen.ts";
import { createExportReader } from "../../src/operate/ndjson.ts";
import { takeOut } from "../../src/operate/take-out.ts";
import { ask, askDeclared, at, byDeclaration, byQueue } from "../support/dead-command.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { deadQueue, fill, idsOf, parkedQueue, parkingShop, stage, workQueue, makeFull } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { createLimitedUser } from "../support/limited-user.ts";
import { brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

const folderOf = (): string => temporaryFolder("taking", onTestFinished);

/** The letters of a file, without the broker's own marks of their last move. */
function lettersIn(file: string): { readonly lines: readonly string[]; readonly problem: string | null } {
  const reader = createExportReader();
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  const marks = new Set(["x-delivery-count", "x-acquired-count"]);
  const letters = lines.flatMap((line) => {
    const { letter } = reader.take(line) ?? {};
    if (letter === undefined) return [];
    const { headers, properties, body } = letter;
    // RabbitMQ 3.10 orders the headers by their names, but not at the first delivery.
    const own = Object.entries(headers)
      .filter(([name]) => !marks.has(name))
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    return [JSON.stringify([Object.fromEntries(own), properties, Buffer.from(body).toString("base64")])];
  });
  return { lines: letters, problem: reader.problem() };
}

const typed = {
  text: "ä€𝄞",
  count: 7,
  negative: -3_000_000_000,
  share: 0.25,
  isTrue: true,
  nothing: null,
  bytes: Buffer.from([0, 255, 1]),
  when: { "!": "timestamp", value: 1_700_000_000 },
  price: { "!": "decimal", value: { places: 2, digits: 1_999 } },
  nested: { list: [1, "two", { three: 3 }] },
};

describe.for(brokers())("letters that leave a dead queue of RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("come back by an import as they were: export, purge, import", async () => {
    const system = await stage(broker, parkingShop);
    const { channel } = system;
    await system.publish(["m1", "m2"], { exchange: "shop.orders", routingKey: "order.placed" });
    const consumer = await drive({ ...system, contract: system.contract("billing"), decide: () => "permanent" });
    await until(60_000, async () => (await system.count(deadQueue)) === 2);
    await consumer.stop();
    const own = {
      messageId: "m3",
      correlationId: "c",
      type: "Order",
      appId: "shop",
      priority: 3,
      timestamp: 1_700_000_000,
    };
    channel.sendToQueue(deadQueue, Buffer.from([0, 255, 10, 13]), { headers: typed, persistent: true, ...own });
    await channel.waitForConfirms();
    await fill(system, deadQueue, 250, 4);
    const [first, second] = [join(folderOf(), "first"), join(folderOf(), "second")];
    expect(await ask(system, "export", "--output", first)).toMatchObject({ code: 0, matched: 253, notWhole: 0 });
    await channel.purgeQueue(deadQueue);
    const words = ["dead", "import", "--input", first, ...at(system)];
    expect(await answerOf(runCommand(words))).toEqual({
      code: 0,
      queue: deadQueue,
      letters: 253,
      text: expect.any(String),
    });
    expect(await system.count(deadQueue)).toBe(0);
    const wrong = await answerOf(runCommand([...words, "--confirm", "252"]));
    expect(wrong).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
    const imported = await answerOf(runCommand([...words, "--confirm", "253"]));
    expect(imported).toMatchObject({ code: 0, imported: 253, mayBeDoubled: 0, stopped: null });
    expect((await ask(system, "export", "--output", second)).code).toBe(0);
    expect(lettersIn(second)).toEqual(lettersIn(first));
    expect(lettersIn(second).problem).toBeNull();
    // The broker's own records of deaths are still the letter's, so a redrive knows where it died.
    expect(await ask(system, "plan", "--failed-in", workQueue)).toMatchObject({ letters: 252 });
  });

  test("are not imported from a bad file, or into a queue that is gone, full or forbidden", async () => {
    const system = await stage(broker);
    await fill(system, deadQueue, 20);
    const folder = folderOf();
    const whole = join(folder, "whole");
    await ask(system, "export", "--output", whole);
    const text = readFileSync(whole, "utf8");
    const lines = text.split("\n");
    const lossy = JSON.stringify({ ...JSON.parse(lines[3] ?? ""), lost: "an integer beyond 53 bits" });
    const amqp10 = JSON.stringify({ ...JSON.parse(lines[4] ?? ""), headers: { "x-opt-to": "a" } });
    const bad = {
      cut: [lines.slice(0, 5).join("\n") + "\n" + lines[5]?.slice(0, 40), "letters 1 to 4"],
      broker: [text.replace('"rabbitmq"', '"sqs"'), "20 letters are of sqs"],
      queue: [text.replace('"queue":"shop.billing.dead"', '"queue":"other.dead"'), "20 letters are of other.dead"],
      lossy: [[...lines.slice(0, 3), lossy, ...lines.slice(4)].join("\n"), "m3"],
      amqp10: [[...lines.slice(0, 4), amqp10, ...lines.slice(5)].join("\n"), "by AMQP 1.0: m4"],
      none: ["{}\n", "its first line is not that of an export"],
    } as const;
    for (const [name, [content, message]] of Object.entries(bad)) {
      const file = join(folder, name);
      writeFileSync(file, content);
      const said = await ask(system, "import", "--input", file, "--confirm", "20");
      expect([name, said.code, said.text]).toEqual([name, 1, expect.stringContaining(message)]);
      expect(said.text.match(/RD813/g)).toHaveLength(1);
    }
    expect(await system.count(deadQueue)).toBe(20);
    const cut = ["--input", join(folder, "cut"), "--cut-off", "--skip", "1", "--confirm", "3"];
    expect(await ask(system, "import", ...cut)).toMatchObject({ imported: 3 });
    expect(idsOf(await system.drain(deadQueue)).slice(20)).toEqual(["m2", "m3", "m4"]);

    const into = async (queue: string, url = system.url) => {
      const words = byQueue({ broker, url }, "import", "--input", whole, "--into", queue, "--confirm", "20");
      const { code, out } = await runCommand(words);
      return [code, out] as const;
    };
    expect(await into("nowhere")).toEqual([2, expect.stringContaining("there is no queue nowhere")]);
    await makeFull(system);
    const [code, out] = await into("full");
    expect([code, out]).toEqual([3, expect.stringContaining("the queue full refuses letters")]);
    const rights = compilers.rabbitmq.permissions.toOperate(system.contract("billing"));
    const user = await createLimitedUser(broker, system.vhost, { ...rights, write: "^$" });
    onTestFinished(user.remove);
    expect(await into(deadQueue, user.amqpUrl)).toEqual([3, expect.stringContaining("may not write")]);
    expect(await system.count(deadQueue)).toBe(0);
  });

  test("are parked with the reason, and come back to the work queue alone", async () => {
    const system = await stage(broker, parkingShop);
    const ids = await fill(system, deadQueue, 300);
    const even = ids.filter((_, index) => index % 2 === 1);
    const park = byDeclaration(system, "park", "--reason", "EVEN", "--why", "no such customer", "--by", "ann");
    expect(await answerOf(runCommand(park))).toMatchObject({ letters: 150, stay: { "not chosen": 150 } });
    const said = await answerOf(runCommand([...park, "--confirm", "150"]));
    expect(said).toMatchObject({ code: 0, done: 150, mayBeDoubled: 0, stopped: null });
    const { letters } = await askDeclared<{
      readonly letters: readonly { messageId: string; reason: string; generation: number }[];
    }>(system, "list", "--parked", "--limit", "200");
    expect(letters.map(({ messageId }) => messageId)).toEqual(even);
    expect(letters[0]).toMatchObject({ reason: "EVEN", generation: 0, queue: workQueue });
    const shown = await askDeclared(system, "show", "--parked", "--id", "m2");
    expect(shown).toMatchObject({ history: [{ did: "parked", why: "no such customer", by: "ann", generation: 0 }] });
    const back = byDeclaration(system, "redrive", "--parked", "--wait", "0s", "--confirm", "150");
    expect(await answerOf(runCommand(back))).toMatchObject({ code: 0, sent: 150, parked: 0 });
    const sent = await system.drain(workQueue);
    expect(idsOf(sent)).toEqual(even);
    expect(sent[0]?.properties.headers?.["dlq-failure-reason"]).toBeUndefined();
    expect(JSON.parse(String(sent[0]?.properties.headers?.["redeliver-history"]))).toMatchObject([
      { generation: 1, reason: "EVEN" },
      { generation: 0, did: "parked" },
    ]);
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids.filter((_, index) => index % 2 === 0));
  });

  test("stay if the queue for parked ones is gone or full, or if AMQP 1.0 wrote them", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 20);
    const park = async (queue: string, count: number) =>
      ask(system, "park", "--into", queue, "--why", "w", "--confirm", String(count));
    expect((await park("nowhere", 20)).code).toBe(2);
    expect((await park(deadQueue, 20)).code).toBe(2);
    await makeFull(system);
    expect(await park("full", 20)).toMatchObject({ stopped: "the queue full refuses letters" });
    expect(idsOf(await system.drain(deadQueue)).toSorted()).toEqual(ids.toSorted());
    system.channel.sendToQueue(deadQueue, Buffer.from("x"), { headers: { "x-opt-to": "a" }, persistent: true });
    await system.channel.waitForConfirms();
    const stay = { "by AMQP 1.0": 1 };
    const letters = 0;
    for (const words of [
      ["park", "--into", "full"],
      ["discard", "--backup", join(folderOf(), "none")],
    ])
      expect(await ask(system, words[0] ?? "", ...words.slice(1), "--why", "w")).toMatchObject({ letters, stay });
  });

  test("that poison their consumer end parked by the cap of the declaration", async () => {
    const system = await stage(broker, parkingShop);
    await fill(system, deadQueue, 1);
    const consumer = await drive({ ...system, contract: system.contract("billing"), decide: () => "permanent" });
    const redrive = byDeclaration(system, "redrive", "--stop-above", "100", "--wait", "0s", "--confirm", "1");
    const { count } = system;
    for (let generation = 1; generation <= 2; generation++) {
      expect(await answerOf(runCommand(redrive))).toMatchObject({ sent: 1, parked: 0 });
      await until(60_000, () => consumer.seen.length === generation);
      await until(60_000, async () => (await count(deadQueue)) === 1);
    }
    const plan = await askDeclared(system, "plan");
    expect(plan).toMatchObject({ letters: 0, park: { queue: parkedQueue, letters: 1 } });
    expect(await answerOf(runCommand(redrive))).toMatchObject({ sent: 0, parked: 1, stopped: null });
    await consumer.stop();
    expect([await count(deadQueue), await count(parkedQueue), consumer.seen.length]).toEqual([0, 1, 2]);
  });

  test("that were parked and die again stop their redrive", async () => {
    const system = await stage(broker, parkingShop);
    await fill(system, parkedQueue, 30);
    const consumer = await drive({ ...system, contract: system.contract("billing"), decide: () => "permanent" });
    const redrive = byDeclaration(system, "redrive", "--parked", "--wait", "10s", "--confirm", "30");
    const said = await answerOf(runCommand(redrive));
    await consumer.stop();
    expect(said).toMatchObject({ code: 3, sent: 1, diedAgain: 1 });
    expect(await system.count(parkedQueue)).toBe(29);
  });

  test("are removed only after they are in the backup, and a backup can be imported", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 300);
    const [backup, before] = [join(folderOf(), "backup"), join(folderOf(), "before")];
    await ask(system, "export", "--reason", "ODD", "--output", before);
    const discard = byQueue(system, "discard", "--reason", "ODD", "--why", "test data", "--backup", backup);
    expect(await answerOf(runCommand(discard))).toMatchObject({ letters: 150 });
    expect(existsSync(backup)).toBe(false);
    expect(await answerOf(runCommand([...discard, "--confirm", "150"]))).toMatchObject({ done: 150, stopped: null });
    expect(lettersIn(backup)).toEqual(lettersIn(before));
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect((await runCommand([...discard, "--reason", "EVEN", "--confirm", "150"])).code).toBe(2);
    // The statistics still show this consumer for a moment. It has put back its letters.
    const other = await amqplib.connect(system.url);
    await (await other.createChannel()).consume(deadQueue, () => undefined);
    const { queue: shown } = createManagement(broker.managementUrl);
    await until(60_000, async () => (await shown(system.vhost, deadQueue)).consumers === 1);
    await other.close();
    await until(60_000, async () => (await system.channel.checkQueue(deadQueue)).consumerCount === 0);
    const imported = byQueue(system, "import", "--input", backup, "--confirm", "150");
    expect((await runCommand(imported)).code).toBe(0);
    expect(idsOf(await system.drain(deadQueue)).toSorted()).toEqual(ids.toSorted());
  });

  test("stay if the backup cannot be written", async () => {
    const { letters, ...system } = await stage(broker);
    const ids = await fill(system, deadQueue, 50);
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    let saved = 0;
    const save = async (): Promise<void> => {
      if ((saved += 1) > 10) throw full;
    };
    const decide = () => ({ queue: null, history: null, save });
    const passed = await letters.move(deadQueue, { most: 50, perSecond: null, decide });
    expect(passed).toMatchObject({ sent: 10, stopped: "the backup cannot be written: ENOSPC" });
    expect(idsOf(await system.drain(deadQueue)).toSorted()).toEqual(ids.slice(10).toSorted());
  });

  test("stay while another command moves letters of the queue", async () => {
    const system = await stage(broker);
    await fill(system, deadQueue, 5);
    await system.letters.lock?.(deadQueue, { who: "ann", at: "2026-03-01T08:00:00Z" });
    const [backup, edit] = [join(folderOf(), "backup"), join(folderOf(), "edit.mjs")];
    writeFileSync(edit, "export default () => ({ body: 1 });");
    for (const [command, ...words] of [
      ["park", "--into", workQueue],
      ["discard", "--backup", backup],
      ["edit", "--with", edit, "--backup", backup],
    ] as const) {
      const said = await ask(system, command, ...words, "--why", "w", "--confirm", "5");
      expect([said.code, said.text]).toEqual([1, expect.stringContaining("is already running, by ann since")]);
    }
    expect(existsSync(backup)).toBe(false);
    expect(await system.count(deadQueue)).toBe(5);
  });

  test("are those that were counted, and no later ones", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 20);
    const { identityOf } = operating;
    const digests: bigint[] = [];
    await system.letters.look(deadQueue, (letter) => digests.push(digestOf(identityOf(letter))) > 0);
    const chosen = readFrozen(writeFrozen(digests.slice(0, 15)));
    await fill(system, deadQueue, 5, 21);
    const decide = () => ({ queue: null, history: null });
    const others = { identityOf, decide, pause: async () => undefined, report: () => undefined };
    const taken = await takeOut(system.letters, { queue: deadQueue, frozen: chosen, letters: 20, ...others });
    expect(taken).toEqual({ done: 15, mayBeDoubled: 0, stopped: "the other letters are not there any more" });
    const later = ["m21", "m22", "m23", "m24", "m25"];
    expect(idsOf(await system.drain(deadQueue))).toEqual([...ids.slice(15), ...later]);
  });

  test("that were parked are sent on after a pause", async () => {
    const system = await stage(broker, parkingShop);
    const ids = await fill(system, parkedQueue, 30);
    // Longer than the test. The redrive waits after its first letter, until it is paused or a consumer tells.
    const words = ["--parked", "--wait", "1h", "--confirm", "30"];
    const first = start(byDeclaration(system, "redrive", ...words));
    const id = String(await first.id());
    await until(60_000, async () => (await system.count(workQueue)) === 1);
    const paused = await answerOf(runCommand(["dead", "pause", id, "--json"]));
    expect(paused).toMatchObject({ code: 0, state: "paused", sent: 1 });
    const handled: unknown[] = [];
    const target = { broker: "rabbitmq", version: broker.version, strategy: "waits" } as const;
    const connection = { url: system.url, managementUrl: broker.managementUrl };
    const log = tellRedrives(await openJournal(process.env["REDELIVER_JOURNAL"]));
    const options = { target, connection, log };
    const running = await consume(checked(parkingShop), "billing", options, (letter) => void handled.push(letter.id));
    onTestFinished(async () => running.stop());
    const resumed = await answerOf(runCommand(["dead", "resume", id, ...at(system)]));
    expect(resumed).toMatchObject({ code: 0, state: "done", sent: 30, mayBeDoubled: 0 });
    expect(handled).toEqual(ids);
  });
});
