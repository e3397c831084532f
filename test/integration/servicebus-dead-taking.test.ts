import { randomUUID } from "node:crypto";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { ownJournal } from "../support/dead-journal.ts";
import { killAfter } from "../support/killed-command.ts";
import { ask, fill, isEven, lettersIn, stage, type Stage } from "../support/servicebus/dead-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

const folder = temporaryFolder("taking");

/** Letters m1, m2, … with every kind of body and property. */
async function fillWith(system: Stage, count: number, byte = 255): Promise<string[]> {
  const bodies = await fill(
    system,
    count,
    1,
    () => "POISON",
    (body) => ({
      body: isEven(body) ? { n: Number(body) - 1 } : Buffer.from([0, byte, Number(body) - 1]),
      correlationId: "c",
      contentType: "application/json",
      replyTo: "answers",
      applicationProperties: { tenant: "acme", count: 7, share: 0.25, isTrue: true, when: new Date(1_700_000_000_000) },
    }),
  );
  return bodies.map((body) => `m${body}`);
}

const parking = async (): Promise<Stage> => stage({ deadLetter: { park: true, generations: 1 } });

const idsIn = async (system: Stage, path: string): Promise<string[]> =>
  (await system.peek(path)).map(({ messageId }) => String(messageId));

const why = ["--why", "no such customer", "--by", "ann"] as const;
const parkedQueue = "shop.billing.parked";

test("letters come back by an import into an ordinary queue, as they were", async () => {
  const system = await parking();
  await fillWith(system, 20);
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  expect(await ask(system, "export", "--output", first)).toMatchObject({ code: 0, notWhole: 0 });
  const closed = await ask(system, "import", "--input", first, "--confirm", "20");
  expect([closed["code"], closed["usage"]]).toEqual([2, expect.stringContaining("lets nobody send")]);
  const into = ["import", "--input", first, "--into", parkedQueue] as const;
  expect(await ask(system, ...into)).toMatchObject({ letters: 20 });
  expect(await ask(system, ...into, "--confirm", "20")).toMatchObject({ code: 0, imported: 20, stopped: null });
  expect(await ask(system, "export", "--parked", "--output", second)).toMatchObject({ code: 0, matched: 20 });
  expect(lettersIn(second)).toEqual(lettersIn(first));
  const gone = await ask(system, "import", "--input", first, "--into", "nowhere", "--confirm", "20");
  expect(gone).toMatchObject({ code: 2, usage: "there is no queue nowhere" });
});

test("letters are parked, come back, and end parked by the cap", async () => {
  const system = await parking();
  const { deadQueue, workQueue } = system;
  // The consumer of the test quotes the body, and a text that is not UTF-8 would not be whole.
  const ids = await fillWith(system, 6, 65);
  expect(await ask(system, "park", ...why, "--confirm", "6")).toMatchObject({ code: 0, done: 6, stopped: null });
  expect([await idsIn(system, parkedQueue), await idsIn(system, deadQueue)]).toEqual([ids, []]);
  expect(await ask(system, "groups", "--parked")).toMatchObject({ groups: [{ reason: "POISON", count: 6 }] });
  const back = ["redrive", "--parked", "--wait", "0s", "--confirm", "6"] as const;
  expect(await ask(system, ...back)).toMatchObject({ code: 0, sent: 6, parked: 0 });
  const consumer = system.drive("billing", () => "permanent");
  await consumer.pollUntil(async () => (await idsIn(system, deadQueue)).length === 6, 60_000);
  expect(await ask(system, "plan")).toMatchObject({ letters: 0, park: { letters: 6 } });
  expect(await ask(system, "redrive", "--confirm", "6")).toMatchObject({ code: 0, sent: 0, parked: 6 });
  const [parked, left] = [await idsIn(system, parkedQueue), await idsIn(system, workQueue)];
  expect([parked.length, left, await idsIn(system, deadQueue)]).toEqual([6, [], []]);
});

test("letters are edited with the original in the backup first", async () => {
  const system = await parking();
  const { deadQueue, workQueue } = system;
  await fillWith(system, 6);
  const [module, backup, before] = [join(folder, "edit.ts"), join(folder, "backup"), join(folder, "before")];
  const text =
    "export default ({ body, headers }) => body.n === undefined ? null : { body: { ...body, more: 1 }, headers: { ...headers, tenant: 'b' } };";
  writeFileSync(module, text);
  await ask(system, "export", "--output", before);
  const words = ["edit", "--with", module, ...why] as const;
  expect(await ask(system, ...words)).toMatchObject({
    letters: 3,
    sample: [{ id: "m2", differences: ["body.more: nothing → 1", 'headers.tenant: "acme" → "b"'] }, {}, {}],
  });
  expect(await ask(system, ...words, "--backup", backup, "--confirm", "3")).toMatchObject({ code: 0, done: 3 });
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
    const system = await parking();
    const { deadQueue } = system;
    const ids = await fillWith(system, 150);
    const saved: string[] = [];
    for (let kill = 0; kill < 4; kill++) {
      const { length } = await idsIn(system, deadQueue);
      if (length === 0) break;
      const backup = join(folder, randomUUID());
      const words = ["dead", "discard", ...system.place, ...why, "--backup", backup, "--confirm", String(length)];
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
