import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";

import {
  type Journal,
  type Pace,
  type Progress,
  discardLetters,
  endRedrive,
  exportLetters,
  groupLetters,
  importFile,
  lookFor,
  openJournal,
  parkLetters,
  planLetters,
  redriveIn,
  redriveLetters,
  resumeRedrive,
} from "../../src/dead-letters/index.ts";
import { diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { refused } from "../../src/diagnostics/render.ts";
import type { DeadLetters } from "../../src/operate/port.ts";
import type { Letter } from "../../src/operate/letter.ts";
import { renderGroups, renderLetter } from "../../src/report/dead-letters.ts";
import { until } from "../support/deployed-system.ts";
import { type InMemory, deadQueue, inMemory, letterOf, parkedQueue, workQueue } from "../support/in-memory-queue.ts";

const folder = mkdtempSync(join(tmpdir(), "redeliver-library-"));
let files = 0;
const newFile = (): string => join(folder, String((files += 1)));

async function journalIn(file = newFile()): Promise<Journal> {
  const journal = await openJournal(file);
  onTestFinished(journal.close);
  return journal;
}

const idsIn = ({ queues }: InMemory, queue: string): unknown[] =>
  (queues.get(queue) ?? []).map(({ properties }) => properties["messageId"]);
const letters = (count: number, generation = 0, first = 1): Letter[] =>
  Array.from({ length: count }, (_, index) => letterOf(`m${first + index}`, "ODD", generation));

test("a group that no letter is in is one sentence with the groups, and nothing moves", async () => {
  const dead = inMemory(letters(3));
  const journal = await journalIn();
  const filter = { group: "deadbeef" };
  const { groups } = await groupLetters(dead, {});
  const sentence = `no letter is in the group "deadbeef"; the groups are ${groups[0]?.id} with 3`;
  const desk = { dead, journal };
  const why = "none";
  for (const work of [
    () => lookFor(dead, filter, () => true),
    () => exportLetters(dead, filter, newFile()),
    () => planLetters(dead, { filter }),
    () => redriveLetters(desk, { filter, confirm: 0 }),
    () => parkLetters(desk, { filter, confirm: 0, why }),
    () => discardLetters(desk, { filter, confirm: 0, why, backup: newFile() }),
  ])
    await expect(work()).rejects.toThrow(sentence);
  await expect(lookFor(dead, { from: "yesterday" }, () => true)).rejects.toThrow('"yesterday" is no time');
  expect([idsIn(dead, deadQueue), await journal.list(), await journal.notes()]).toEqual([["m1", "m2", "m3"], [], []]);
  expect((await lookFor(inMemory([]), filter, () => true)).matched).toBe(0);
});

test("a queue whose letters would go to itself is a work queue", async () => {
  const own = inMemory([{ ...letterOf("m1"), headers: { "dlq-original-queue": deadQueue } }]);
  const dead = { ...own, contract: undefined, consumer: null };
  await expect(planLetters(dead, {})).rejects.toThrow(/RD812[\s\S]*it is a work queue/);
  expect(idsIn(own, deadQueue)).toEqual(["m1"]);
});

test("letters without a word of their queue go to the named work queue, and others to the one that they name", async () => {
  const [republished, dead] = [{ ...letterOf("m2"), headers: { "MT-Reason": "fault" } }, inMemory([])];
  const named = { ...dead, contract: undefined, consumer: null, workQueue: null };
  dead.queues.set(deadQueue, [letterOf("m1"), republished]);
  dead.queues.set("other", []);
  expect(await planLetters(named, {})).toMatchObject({
    targets: [{ queue: workQueue, letters: 1 }],
    stay: { "from another queue": 1 },
    forecast: expect.stringMatching(
      /^no declaration was given \(FILE, .* in place of --queue\), and deaths are looked for/,
    ),
  });
  const desk = { dead: { ...named, workQueue: "other" }, journal: await journalIn() };
  expect(await redriveLetters(desk, { confirm: 2, waitMs: 0 })).toMatchObject({ state: "done", sent: 2 });
  expect([idsIn(dead, deadQueue), idsIn(dead, workQueue), idsIn(dead, "other")]).toEqual([[], ["m1"], ["m2"]]);
});

test("park, discard and import are in the journal with their reason, and one that was killed has no end", async () => {
  const dead = inMemory(letters(5));
  const journal = await journalIn();
  const desk = { dead, journal };
  const backup = newFile();
  const odd = { filter: { header: ["dlq-failure-reason=ODD"] }, confirm: 5, why: "later" };
  await parkLetters({ ...desk, who: "ann" }, odd);
  dead.queues.set(deadQueue, letters(2));
  await discardLetters(desk, { confirm: 2, why: "old", by: "ben", backup });
  await importFile({ ...desk, who: "cem" }, { file: backup, confirm: 2 });
  expect(idsIn(dead, deadQueue)).toEqual(["m1", "m2"]);
  dead.beforeEach = () => {
    throw new Error("killed");
  };
  await expect(parkLetters(desk, { confirm: 2, why: "again", by: "dan" })).rejects.toThrow("killed");
  const notes = (await journal.notes()).map(({ who, what }) => `${who} ${what}`).toReversed();
  const risk = "until its end is here, up to 100 letters may be in two places";
  expect(notes).toEqual([
    `ann parks into ${parkedQueue}: 5 letters of ${deadQueue}; why: later; ${risk}`,
    "ann has ended after 5 letters",
    `ben discards after a backup in ${backup}: 2 letters of ${deadQueue}; why: old; ${risk}`,
    "ben has ended after 2 letters",
    `cem imports 2 letters of ${backup} into ${deadQueue}`,
    "cem has ended after 2 letters",
    `dan parks into ${parkedQueue}: 2 letters of ${deadQueue}; why: again; ${risk}`,
  ]);
});

test("a redrive that ends while it parks counts the letters at risk, and a resumed one parks the rest", async () => {
  const dead = inMemory([...letters(4, 2), ...letters(3, 0, 5)]);
  const journal = await journalIn();
  const desk = { dead, journal };
  let left = 2;
  dead.beforeEach = () => {
    if (left-- === 0) throw new Error("killed");
  };
  await expect(redriveLetters(desk, { waitMs: 0, confirm: 7 })).rejects.toThrow("killed");
  const [begun] = await journal.list();
  expect(begun).toMatchObject({ state: "stopped", sent: 0, mayBeDoubled: 4 });
  expect([idsIn(dead, parkedQueue), idsIn(dead, workQueue)]).toEqual([["m1", "m2"], []]);
  dead.beforeEach = () => undefined;
  const ofAudit = { ...dead, isShared: true, workQueue: "shop.audit" };
  await expect(resumeRedrive({ dead: ofAudit, journal }, begun?.id ?? "")).rejects.toThrow("and not to shop.audit");
  const end = await resumeRedrive(desk, begun?.id ?? "");
  expect(end).toMatchObject({ state: "done", sent: 3, parked: 2, mayBeDoubled: 4 });
  expect(idsIn(dead, parkedQueue)).toEqual(["m1", "m2", "m3", "m4"]);
  expect(idsIn(dead, workQueue)).toEqual(["m5", "m6", "m7"]);
  const { events } = await redriveIn(journal, end.id);
  expect(events.map(({ what }) => what)).toContain("parks 2 letters that were sent too often");
});

test("a redrive that is cancelled while it waits to go on sends nothing", async () => {
  const dead = inMemory(letters(3));
  const journal = await journalIn();
  const desk = { dead, journal };
  dead.beforeEach = () => {
    throw new Error("killed");
  };
  await expect(redriveLetters(desk, { waitMs: 0, confirm: 3 })).rejects.toThrow("killed");
  dead.beforeEach = () => undefined;
  const id = (await journal.list())[0]?.id ?? "";
  const [settling, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const settle = async (): Promise<void> => {
    settling.resolve();
    await back.promise;
  };
  const resumed = resumeRedrive({ ...desk, dead: { ...dead, letters: { ...dead.letters, settle } } }, id);
  await settling.promise;
  const cancelled = endRedrive(desk, id, "cancel");
  await until(30_000, async () => (await journal.eventsOf(id)).some(({ what }) => what === "asks to cancel"));
  back.resolve();
  expect(await resumed).toMatchObject({ state: "cancelled", sent: 0 });
  expect(await cancelled).toMatchObject({ state: "cancelled", sent: 0 });
  expect(idsIn(dead, deadQueue)).toEqual(["m1", "m2", "m3"]);
});

test("a pause during an outage ends the redrive, and tries no more", async () => {
  const dead = inMemory(letters(3));
  const journal = await journalIn();
  let tries = 0;
  let paused: Promise<unknown> | null = null;
  const move = async (): Promise<never> => {
    tries += 1;
    paused ??= endRedrive({ journal }, (await journal.list())[0]?.id ?? "", "pause");
    throw refused([diagnostic("RD804", { path: "", message: "no answer", help: "" })]);
  };
  const away = { ...dead, letters: { ...dead.letters, move } };
  const end = await redriveLetters({ dead: away, journal }, { waitMs: 0, confirm: 3 });
  expect(end).toMatchObject({ state: "paused", sent: 0 });
  expect(tries).toBeLessThan(5);
  expect(await paused).toMatchObject({ state: "paused" });
});

test("letters that went before a refusal count as sent", async () => {
  const dead = inMemory(letters(6));
  const journal = await journalIn();
  let count = 0;
  dead.beforeEach = () => {
    if ((count += 1) === 4) throw refused([diagnostic("RD807", { path: "", message: "the token is old", help: "" })]);
  };
  const end = await redriveLetters({ dead, journal }, { waitMs: 0, confirm: 6 });
  expect(end).toMatchObject({ state: "done", sent: 6, mayBeDoubled: 0 });
  expect(idsIn(dead, workQueue)).toEqual(["m1", "m2", "m3", "m4", "m5", "m6"]);
});

test("a letter that its consumer calls dead is awaited in the dead queue", async () => {
  const dead = inMemory(letters(2));
  const journal = await journalIn();
  let looks = 0;
  const move: DeadLetters["move"] = async (queue, pass) => {
    const passed = await dead.letters.move(queue, pass);
    await journal.tell((await journal.list())[0]?.id ?? "", "1", "dead");
    return passed;
  };
  const look: DeadLetters["look"] = async (queue, visit) => {
    const [sent] = dead.queues.get(workQueue) ?? [];
    // The broker brings it some time after the consumer's word.
    if (sent !== undefined && (looks += 1) === 3) dead.queues.get(deadQueue)?.push(sent);
    return dead.letters.look(queue, visit);
  };
  const slow = { ...dead, letters: { ...dead.letters, look, move } };
  const end = await redriveLetters({ dead: slow, journal }, { waitMs: 30_000, confirm: 2 });
  expect(end).toMatchObject({ state: "stopped", sent: 1, diedAgain: 1 });
  expect(end.stopped).toMatch(/^1 of 1 letters have died again/);
});

test("after a letter of the last step died again there is nothing to go on with", async () => {
  const dead = inMemory(letters(1));
  const journal = await journalIn();
  const move: DeadLetters["move"] = async (queue, pass) => {
    const passed = await dead.letters.move(queue, pass);
    dead.queues.get(deadQueue)?.push(...(dead.queues.get(workQueue)?.splice(0) ?? []));
    return passed;
  };
  const desk = { dead: { ...dead, letters: { ...dead.letters, move } }, journal };
  const { id, ...end } = await redriveLetters(desk, { waitMs: 1, confirm: 1 });
  expect(end).toMatchObject({ state: "stopped", letters: 1, sent: 1, diedAgain: 1 });
  expect(await resumeRedrive(desk, id)).toMatchObject({ state: "done", sent: 1, diedAgain: 1, stopped: null });
  expect([idsIn(dead, deadQueue), idsIn(dead, workQueue)]).toEqual([["m1"], []]);
});

test("the progress of a redrive has the waits between its steps apart from the time for sending", async () => {
  const paces: (Pace | undefined)[] = [];
  const progress: Progress = () => (_, __, pace) => void paces.push(pace);
  const desk = { dead: inMemory(letters(12)), journal: await journalIn(), progress };
  const startedAtMs = performance.now();
  await redriveLetters(desk, { waitMs: 200, confirm: 12 });
  const elapsedMs = performance.now() - startedAtMs;
  expect(paces[0]).toEqual({ workedMs: expect.any(Number), waitsMs: 600 });
  expect(paces.at(-1)?.waitsMs).toBeGreaterThanOrEqual(200);
  expect(paces.at(-1)?.workedMs).toBeLessThanOrEqual(elapsedMs - 600);
});

test("changes of one journal at the same time follow each other", async () => {
  const dead = inMemory(letters(1));
  const journal = await journalIn();
  const { id } = await redriveLetters({ dead, journal }, { waitMs: 0, confirm: 1 });
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  await Promise.all(numbers.map((each) => journal.change(id, { sent: each }, "ann", String(each))));
  expect((await journal.eventsOf(id)).filter(({ who }) => who === "ann")).toHaveLength(20);
});

test("a journal of the version before is brought to this one with its redrives", async () => {
  const file = newFile();
  const { id } = await journalIn(file).then(async (journal) => {
    const dead = inMemory(letters(1));
    return redriveLetters({ dead, journal }, { waitMs: 0, confirm: 1 });
  });
  const before = new DatabaseSync(file);
  before.exec("alter table redeliver_redrive drop column parked");
  before.exec("drop table redeliver_word");
  before.exec("delete from redeliver_journal where version > 1");
  before.close();
  const journal = await journalIn(file);
  expect(await journal.read(id)).toMatchObject({ id, state: "done", sent: 1 });
  expect(await journal.lettersOf(id)).toMatchObject({ parked: "" });
  await journal.tell(id, "1", "dead");
  await journal.tell(id, "1", "handled");
  expect(await journal.told(id)).toEqual({ told: 1, dead: 0 });
});

test("an export of a queue whose look is refused leaves no file", async () => {
  const dead = inMemory([]);
  const file = newFile();
  const refused = { ...dead, letters: { ...dead.letters, look: async () => Promise.reject(new Error("refused")) } };
  await expect(exportLetters(refused, {}, file)).rejects.toThrow("refused");
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, "");
  await expect(exportLetters(dead, {}, file)).rejects.toThrow("EEXIST");
});

test("the groups of many letters fit on a screen", async () => {
  const many = Array.from({ length: 100 }, (_, index) => letterOf(`m${index}`, `REASON_${index}`));
  const groups = await groupLetters(inMemory(many), {});
  const text = renderGroups(deadQueue, groups, groups, "");
  expect(text.split("\n").length).toBeLessThanOrEqual(40);
  expect(text).toContain("84 letters died of further causes: --json shows more");
});

test("one letter shows its course: the moves of people, and the deaths that the broker recorded", () => {
  const sent = { generation: 2, reason: "ODD", routingKey: "", position: 1 };
  const history = [
    { ...sent, redrive: "b", at: "2026-03-02T08:00:00.000Z", did: "parked", by: "ann", why: "no customer" },
    { ...sent, redrive: "a", at: "2026-03-01T08:00:00.000Z" },
  ];
  const death = { queue: workQueue, reason: "rejected", count: 3, time: { "!": "timestamp", value: 1_772_352_000 } };
  const letter = letterOf("m1");
  const headers = { ...letter.headers, "redeliver-history": JSON.stringify(history), "x-death": [death] };
  const { factsOf } = inMemory([]);
  const text = renderLetter({ ...letter, headers }, factsOf({ ...letter, headers }));
  for (const line of [
    "2026-03-01T08:00:00.000Z  left shop.billing 3 times: rejected",
    "2026-03-02T08:00:00.000Z  parked by ann: no customer (b), after ODD",
    "2026-03-01T08:00:00.000Z  sent again, generation 2 (a), after ODD",
  ])
    expect(text).toContain(line);
});
