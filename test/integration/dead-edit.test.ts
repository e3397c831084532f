import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

import { createExportReader } from "../../src/operate/ndjson.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { deadQueue, fill, idsOf, stage, workQueue } from "../support/dead-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { killAfter } from "../support/killed-command.ts";
import { type Broker, brokers } from "../support/live.ts";
import { answerOf, runCommand, runSeparately } from "../support/run-command.ts";
import { byQueue } from "../support/dead-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

/** The modules are in a folder of their own, which has no packages. */
const zod = pathToFileURL(createRequire(import.meta.url).resolve("zod")).href;
const good = `import { z } from "${zod}";
export const schema = z.object({ id: z.string(), zip: z.string().length(5) });
export default ({ body, headers, facts }) =>
  facts.reason === "ODD" ? null : { body: { ...body, zip: "00123" }, headers: { ...headers, tenant: "b" } };`;

const folderOf = (): string => temporaryFolder("edit", onTestFinished);

function wordsFor(system: DeployedSystem, text: string): string[] {
  const module = join(folderOf(), "edit.ts");
  writeFileSync(module, text);
  return byQueue(system, "edit", "--with", module, "--why", "zip codes");
}

function savedIn(file: string): string[] {
  const reader = createExportReader();
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => reader.take(line)?.letter.properties["messageId"] ?? []).map(String);
}

describe.for(brokers())("an edit on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("sends the changed letters to the work queue, with the originals in the backup first", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 200);
    const even = ids.filter((_, index) => index % 2 === 1);
    const backup = join(folderOf(), "backup");
    const words = [...wordsFor(system, good), "--by", "ann"];
    const plan = await answerOf<{ sample: readonly object[] }>(runCommand(words));
    expect(plan).toMatchObject({ letters: 100, stay: { "not chosen": 100 } });
    const differences = ['body.zip: nothing → "00123"', 'headers.tenant: "acme" → "b"'];
    expect([plan.sample.length, plan.sample[0]]).toEqual([5, { id: "m2", differences }]);
    expect((await runCommand([...words, "--confirm", "100"])).code).toBe(2);
    const said = await answerOf(runCommand([...words, "--confirm", "100", "--backup", backup]));
    expect(said).toMatchObject({ code: 0, done: 100, mayBeDoubled: 0, stopped: null });
    expect(savedIn(backup)).toEqual(even);
    const sent = await system.drain(workQueue);
    expect(sent.map(({ content }) => String(content))).toEqual(even.map((id) => `{"id":"${id}","zip":"00123"}`));
    const { headers = {}, messageId } = sent[0]?.properties ?? {};
    expect([headers["tenant"], headers["share"], headers["dlq-failure-reason"]]).toEqual(["b", 0.5, undefined]);
    const [entry] = JSON.parse(String(headers["redeliver-history"])) as readonly object[];
    expect(entry).toMatchObject({ generation: 1, did: "edited", messageId: "m2", by: "ann", why: "zip codes" });
    expect(new Set([...idsOf(sent), ...even]).size).toBe(200);
    expect(messageId).toMatch(/^[\da-f]{32}$/);
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids.filter((_, index) => index % 2 === 0));
  });

  test("moves nothing if the function or the schema fails for one letter, and names it", async () => {
    const system = await stage(broker);
    await fill(system, deadQueue, 20);
    const backup = join(folderOf(), "backup");
    const thrown =
      'export default ({ facts }) => { if (facts.messageId === "m7") throw new Error("no zip"); return {}; };';
    const invalid = good.replace('"00123"', 'body.id === "m8" ? "1" : "00123"');
    for (const [text, letter] of [
      [thrown, /m7: Error: no zip/],
      [invalid, /m8: the schema refuses the body: zip/],
    ] as const) {
      const said = await answerOf(runCommand([...wordsFor(system, text), "--confirm", "20", "--backup", backup]));
      expect([said.code, said.text]).toEqual([1, expect.stringMatching(letter)]);
      expect(said).toMatchObject({ diagnostics: [{ code: "RD814" }] });
    }
    const none = await answerOf(runCommand(wordsFor(system, "export const edit = 1;")));
    expect(none).toMatchObject({ code: 2, usage: expect.stringContaining("no function") });
    expect(existsSync(backup)).toBe(false);
    expect(await system.count(deadQueue)).toBe(20);
  });

  test("killed between the backup and the send loses no letter", { timeout: 600_000 }, async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 2_000);
    const saved = new Set<string>();
    for (let kill = 0; kill < 2; kill++) {
      const all = wordsFor(system, good.replace('"ODD"', '"NONE"'));
      const { letters } = await answerOf<{ letters: number }>(runCommand(all));
      if (letters === 0) break;
      const backup = join(folderOf(), "backup");
      const words = [...all, "--backup", backup, "--confirm", String(letters)];
      const before = await system.count(workQueue);
      const isSaved = (): boolean => existsSync(backup) && statSync(backup).size > 500;
      await killAfter(words, async () => (kill % 2 === 0 ? isSaved() : (await system.count(workQueue)) > before));
      await until(60_000, async () => (await system.letters.look(deadQueue, () => true)).consumers === 0);
      for (const id of savedIn(backup)) saved.add(id);
    }
    const sent = (await system.drain(workQueue)).map(({ properties: { headers, messageId }, content }) => {
      const [{ messageId: original }] = JSON.parse(String(headers?.["redeliver-history"])) as [{ messageId: string }];
      return {
        original,
        messageId: String(messageId),
        id: (JSON.parse(String(content)) as { readonly id: string }).id,
      };
    });
    const left = idsOf(await system.drain(deadQueue));
    expect(new Set([...left, ...sent.map(({ original }) => original)])).toEqual(new Set(ids));
    expect(sent.filter(({ original, id }) => original !== id || !saved.has(original))).toEqual([]);
    // A letter that was sent twice has one id, so a guard handles it once.
    expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(new Set(sent.map(({ id }) => id)).size);
    expect(sent.length).toBeGreaterThan(0);
  });
});

test("a function that never ends is named with its letter, and nothing moves", { timeout: 300_000 }, async () => {
  const broker = brokers()[0] as Broker;
  const system = await stage(broker);
  await fill(system, deadQueue, 3);
  const endless = 'export default ({ facts }) => { while (facts.messageId === "m2"); return {}; };';
  const { code, out } = await runSeparately(wordsFor(system, endless));
  expect([code, out]).toEqual([2, expect.stringMatching(/RD814.*m2/s)]);
  await until(60_000, async () => (await system.count(deadQueue)) === 3);
});
