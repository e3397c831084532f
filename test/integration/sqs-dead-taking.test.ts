import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { exportedIn } from "../support/exported-letters.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { killAfter } from "../support/killed-command.ts";
import { type Answer, answerOf, runCommand } from "../support/run-command.ts";
import { region } from "../support/sqs/clients.ts";
import { drain, stage } from "../support/sqs/dead-stage.ts";
import { attributes, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import type { Queue } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

interface Stage {
  readonly system: DeployedSystem;
  readonly folder: string;
  readonly words: (command: string) => string[];
  readonly ask: (command: string, ...words: readonly string[]) => Promise<Answer>;
  /** What a queue holds, without the broker's own values, which every message has anew. */
  readonly letters: (...words: readonly string[]) => Promise<readonly string[]>;
}

async function parking(emulator: Parameters<typeof stage>[0], more: object = {}): Promise<Stage> {
  const system = await stage(emulator, { deadLetter: { park: true, generations: 1 }, ...more });
  const folder = temporaryFolder("taking", onTestFinished);
  const declaration = join(folder, "shop.json");
  writeFileSync(declaration, JSON.stringify(system.declared));
  const place = ["--target", `sqs@${region}`, "--consumer", "billing", "--url", emulator.endpoint, "--json"];
  const words = (command: string): string[] => ["dead", command, declaration, ...place];
  const ask: Stage["ask"] = async (command, ...more_) => answerOf(runCommand([...words(command), ...more_]));
  let files = 0;
  const letters: Stage["letters"] = async (...more_) => {
    const file = join(folder, `letters-${(files += 1)}`);
    await ask("export", "--output", file, ...more_);
    return lettersIn(file);
  };
  return { system, folder, words, ask, letters };
}

function lettersIn(file: string): readonly string[] {
  return exportedIn(file)
    .exported.map(({ letter: { headers, properties, body } }) => {
      const { groupId, traceHeader } = properties;
      const sorted = Object.entries(headers).toSorted(([a], [b]) => a.localeCompare(b));
      return JSON.stringify([Buffer.from(body).toString(), sorted, groupId, traceHeader]);
    })
    .toSorted();
}

/** Letters 1, 2, … with attributes of each type, and as much of a description as there is room for. */
async function fill({ system }: Stage, count: number, first = 1): Promise<string[]> {
  const bodies = Array.from({ length: count }, (_, index) => JSON.stringify({ n: first + index, zip: "ä" }));
  const described = Object.fromEntries(
    ["original-queue", "failure-reason", "failure-timestamp", "retry-count", "original-message-id"].map((name) => [
      `dlq-${name}`,
      name === "original-queue" ? system.work("billing").name : name === "failure-timestamp" ? "2026-03-01" : name,
    ]),
  );
  const isFifo = system.dead("billing").name.endsWith(".fifo");
  for (const [index, body] of bodies.entries()) {
    const MessageAttributes = {
      ...attributes({ ...described, tenant: "acme", a: "1", b: "2" }),
      amount: { DataType: "Number.cents", StringValue: "2.50" },
      bytes: { DataType: "Binary", BinaryValue: Buffer.from([0, 255, 1]) },
    };
    const group = isFifo ? { MessageGroupId: "g", MessageDeduplicationId: `${first + index}` } : {};
    await system.lab.send(system.dead("billing"), body, { MessageAttributes, ...group });
  }
  return bodies;
}

const why = ["--why", "no such customer", "--by", "ann"] as const;

describe.for(sqsEmulators())("letters that leave a dead queue on $name", (emulator) => {
  test.for(["none", "per-key"])("come back by an import as they were: order %s", async (order) => {
    const at = await parking(emulator, { order });
    // SQS shows only the first ten of a group of FIFO.
    await fill(at, 9);
    const before = await at.letters();
    const file = join(at.folder, "letters-1");
    await drain(at.system, at.system.dead("billing"));
    expect(await at.ask("import", "--input", file)).toMatchObject({ code: 0, letters: 9 });
    expect(await at.ask("import", "--input", file, "--confirm", "9")).toMatchObject({ code: 0, imported: 9 });
    expect(await at.letters()).toEqual(before);
    expect(before).toHaveLength(9);
    const gone = await at.ask("import", "--input", file, "--into", "nowhere", "--confirm", "9");
    expect(gone).toMatchObject({ code: 2, usage: expect.stringContaining("there is no queue nowhere") });
  });

  test.for(["none", "per-key"])("are parked, come back, and end parked by the cap: order %s", async (order) => {
    const at = await parking(emulator, { order });
    const bodies = await fill(at, 5);
    expect(await at.ask("park", ...why, "--confirm", "5")).toMatchObject({ code: 0, done: 5, stopped: null });
    expect(await at.system.lab.count(at.system.dead("billing"))).toBe(0);
    const listed = await at.ask("list", "--parked");
    const queue = at.system.work("billing").name;
    expect(listed["letters"]).toContainEqual(
      expect.objectContaining({ reason: "failure-reason", generation: 0, queue }),
    );
    const back = await at.ask("redrive", "--parked", "--wait", "0s", "--confirm", "5");
    expect(back).toMatchObject({ code: 0, sent: 5, parked: 0 });
    const consumer = at.system.drive("billing", () => "permanent");
    await consumer.pollUntil(async () => (await at.system.lab.count(at.system.dead("billing"))) === 5);
    expect(await at.ask("plan")).toMatchObject({ letters: 0, park: { letters: 5 } });
    expect(await at.ask("redrive", "--confirm", "5")).toMatchObject({ code: 0, sent: 0, parked: 5 });
    const parked = at.system.applied.queues.get(at.system.contract("billing").parkedQueue ?? "");
    expect((await drain(at.system, parked as Queue)).map(({ Body }) => Body).toSorted()).toEqual(bodies.toSorted());
  });

  test("are edited with the original in the backup first, and a bad edit moves none", async () => {
    const at = await parking(emulator);
    await fill(at, 6);
    const before = await at.letters();
    const module = join(at.folder, "edit.ts");
    const backup = join(at.folder, "backup");
    const edit = async (text: string, ...more: readonly string[]): Promise<Record<string, unknown>> => {
      const file = module.replace("edit", `edit-${Math.random()}`);
      writeFileSync(file, text);
      return at.ask("edit", "--with", file, ...why, ...more);
    };
    const bad = 'export default ({ body }) => { if (body.n === 4) throw new Error("four"); return { body: {} } };';
    expect(JSON.stringify(await edit(bad, "--backup", backup, "--confirm", "6"))).toMatch(/RD814.*four/);
    const good =
      "export default ({ body, headers }) => body.n > 4 ? null : { body: { ...body, zip: 'b' }, headers: { ...headers, a: '9' } };";
    expect(await edit(good)).toMatchObject({ letters: 4, stay: { "not chosen": 2 } });
    expect([existsSync(backup), await at.system.lab.count(at.system.dead("billing"))]).toEqual([false, 6]);
    expect(await edit(good, "--backup", backup, "--confirm", "4")).toMatchObject({ code: 0, done: 4, stopped: null });
    expect(lettersIn(backup)).toEqual(before.slice(0, 4));
    const sent = await drain(at.system, at.system.work("billing"));
    expect(sent.map(({ Body = "" }) => JSON.parse(Body) as object)).toContainEqual({ n: 1, zip: "b" });
    const { a, "redeliver-history": history } = sent[0]?.MessageAttributes ?? {};
    expect(a).toMatchObject({ DataType: "String", StringValue: "9" });
    expect(JSON.parse(history?.StringValue ?? "")).toMatchObject([{ did: "edited", messageId: "original-message-id" }]);
    expect(await at.letters()).toEqual(before.slice(4));
  });

  test("of FIFO are edited although SQS remembers a copy of the redrive before", async () => {
    const at = await parking(emulator, { order: "per-key" });
    await fill(at, 2);
    const { lab, work, dead } = at.system;
    const letters = await lab.receive(dead("billing"), { max: 10 });
    for (const letter of letters) {
      await lab.changeVisibility(dead("billing"), letter, 0);
      const group = { MessageGroupId: "g", MessageDeduplicationId: letter.MessageId };
      await lab.send(work("billing"), "redriven", group);
    }
    const module = join(at.folder, "edit.ts");
    writeFileSync(module, "export default ({ body }) => ({ body: { ...body, zip: 'b' } });");
    const words = ["--with", module, ...why, "--backup", join(at.folder, "backup"), "--confirm", "2"];
    expect(await at.ask("edit", ...words)).toMatchObject({ code: 0, done: 2 });
    const sent = (await drain(at.system, work("billing"))).map(({ Body }) => Body);
    expect(sent).toEqual(["redriven", "redriven", '{"n":1,"zip":"b"}', '{"n":2,"zip":"b"}']);
  });

  test("killed while they are discarded are in the queue or in the backup", { timeout: 600_000 }, async () => {
    const at = await parking(emulator);
    const bodies = await fill(at, 60);
    const backups: string[] = [];
    for (let kill = 0; kill < 4; kill++) {
      const { letters } = await at.ask("discard", ...why, "--backup", "none");
      if (letters === 0) break;
      const backup = join(at.folder, `backup-${kill}`);
      backups.push(backup);
      const words = [...at.words("discard"), ...why, "--backup", backup, "--confirm", String(letters)];
      await killAfter(words, () => existsSync(backup) && statSync(backup).size > 200, 100);
    }
    const bodyOf = (text: string): string => String((JSON.parse(text) as readonly unknown[])[0]);
    const saved = backups.flatMap((file) => lettersIn(file).map(bodyOf));
    // Letters that a killed command had received are hidden for half a minute.
    const left = (await drain(at.system, at.system.dead("billing"))).map(({ Body = "" }) => Body);
    expect(new Set([...saved, ...left])).toEqual(new Set(bodies));
    expect(saved.length).toBeGreaterThan(0);
  });
});
