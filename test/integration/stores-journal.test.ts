import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { digestOf, readFrozen } from "../../src/operate/frozen.ts";
import { type Journal, journalIn } from "../../src/operate/journal.ts";
import { redriveIn, redriveLetters, resumeRedrive } from "../../src/dead-letters/index.ts";
import { openPostgresql } from "../../src/dead-letters/journal-postgresql.ts";
import { until } from "../support/deployed-system.ts";
import { inMemory, letterOf, workQueue } from "../support/in-memory-queue.ts";
import { runCommand } from "../support/run-command.ts";
import { redriveFacts } from "../support/stores/redrive-facts.ts";
import { startPostgresql } from "../support/stores/store-servers.ts";

let server: Awaited<ReturnType<typeof startPostgresql>>;
const url = (user = "test", database = "postgres"): string =>
  `postgres://${user}@localhost/${database}?host=${encodeURIComponent(server.folder)}`;

beforeAll(async () => {
  server = await startPostgresql();
});
afterAll(async () => server.stop());

async function open(): Promise<Journal> {
  const journal = await journalIn(await openPostgresql(url()));
  onTestFinished(journal.close);
  return journal;
}

function startChild(id: string) {
  const script = resolve(import.meta.dirname, "../support/stores/journal-child.ts");
  const child = spawn(process.execPath, [script, url(), id], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, begun: once(child.stdout, "data"), ended: once(child, "exit") };
}

const ask = async (...words: readonly string[]) => runCommand(["dead", ...words, "--journal", url(), "--json"]);

test("several operators lay out one journal at the same time, and see each other's redrives", async () => {
  const journals = await Promise.all(Array.from({ length: 8 }, open));
  await Promise.all(journals.map(async (each, index) => each.begin({ ...redriveFacts, id: `r${index}` }, "")));
  expect((await journals[0]?.list())?.length).toBe(8);
});

test("another process pauses a redrive, and finds one that was killed: its lock ended with it", async () => {
  const journal = await open();
  const first = startChild("aaaaaaaa");
  await first.begun;
  expect(await journal.lock(redriveFacts.key)).toBeNull();
  const paused = await ask("pause", "aaaaaaaa");
  expect([paused.code, JSON.parse(paused.out)]).toMatchObject([0, { state: "paused" }]);
  expect((await first.ended)[0]).toBe(0);

  const second = startChild("bbbbbbbb");
  await second.begun;
  await until(30_000, async () => ((await journal.read("bbbbbbbb"))?.sent ?? 0) > 1);
  expect(JSON.parse((await ask("status", "bbbbbbbb")).out)).toMatchObject({ state: "running", who: "ops@host" });
  second.child.kill("SIGKILL");
  await second.ended;
  await until(30_000, async () => JSON.parse((await ask("status", "bbbbbbbb")).out).state === "stopped");
  expect(await journal.read("bbbbbbbb")).toMatchObject({ state: "stopped", reason: "its process ended", letters: 3 });
  const frozen = readFrozen((await journal.lettersOf("bbbbbbbb")).letters);
  expect([1n, digestOf("letter"), 2n ** 64n - 1n, 2n, 1n].map(frozen.take)).toEqual([true, true, true, false, false]);
  const lock = await journal.lock(redriveFacts.key);
  expect(lock).not.toBeNull();
  expect(await journal.lock(redriveFacts.key), "the lock of this very session").toBeNull();
  await lock?.release();
  const cancelled = await ask("cancel", "bbbbbbbb");
  expect([cancelled.code, JSON.parse(cancelled.out)]).toMatchObject([0, { state: "cancelled" }]);
});

test("a redrive ends if its journal is lost, and another operator goes on with it", async () => {
  const letters = Array.from({ length: 8 }, (_, index) => letterOf(`m${index + 1}`));
  const dead = inMemory(letters);
  const pool = server.connect();
  let count = 0;
  dead.beforeEach = async (stopped) => {
    count += 1;
    if (count !== 4) return;
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'redeliver'");
    await until(30_000, () => stopped() !== null);
  };
  const end = await redriveLetters({ dead, journal: await open(), who: "ann" }, { waitMs: 0, confirm: 8 });
  expect(end).toMatchObject({
    state: "stopped",
    sent: 3,
    stopped: expect.stringContaining("the journal cannot be used"),
  });
  await pool.end();
  dead.beforeEach = () => undefined;
  const journal = await open();
  const resumed = await resumeRedrive({ dead, journal, who: "ben" }, end.id);
  expect(resumed).toMatchObject({ state: "done", sent: 8 });
  // The letters whose end the journal had no time to learn.
  expect(resumed.mayBeDoubled).toBeGreaterThanOrEqual(5);
  expect(resumed.mayBeDoubled).toBeLessThanOrEqual(8);
  expect(dead.queues.get(workQueue)).toHaveLength(8);
  expect((await redriveIn(journal, end.id)).events.map(({ who }) => who)).toEqual(
    expect.arrayContaining(["ann", "ben"]),
  );
});

test("a wrong address, database, user or password is one diagnostic without the password", async () => {
  const pool = server.connect();
  await pool.query("create role ops login password 'right'");
  writeFileSync(join(server.folder, "data", "pg_hba.conf"), "local all ops scram-sha-256\nlocal all all trust\n");
  await pool.query("select pg_reload_conf()");
  await pool.end();
  const places = [
    ["postgres://ops:s3cret@127.0.0.1:1/journal", "ECONNREFUSED"],
    [url("test", "nowhere"), "nowhere"],
    [url("nobody"), "nobody"],
    [url("ops:s3cret"), "password authentication failed"],
    ["mysql://ops:s3cret@127.0.0.1/journal", "the journal is a file"],
  ] as const;
  for (const [place, reason] of places) {
    // Words of the command line are masked anyhow.
    process.env["REDELIVER_JOURNAL"] = place;
    const said = await runCommand(["dead", "status", "--json"]);
    expect([said.code, said.out + said.error], place).toEqual([
      reason.startsWith("the journal") ? 2 : 1,
      expect.stringContaining(reason),
    ]);
    expect(said.out + said.error).not.toContain("s3cret");
  }
});

test("a journal of a newer version is refused, and stays as it is", async () => {
  const journal = await open();
  const before = (await journal.list()).length;
  const pool = server.connect();
  await pool.query("insert into redeliver_journal values (99)");
  const said = await ask("status");
  expect([said.code, said.out]).toEqual([1, expect.stringMatching(/RD817[^]*version 99/)]);
  await pool.query("delete from redeliver_journal where version = 99");
  await pool.end();
  expect((await journal.list()).length).toBe(before);
});
