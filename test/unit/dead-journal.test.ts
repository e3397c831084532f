import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, expect, onTestFinished, test } from "vitest";

import { readFrozen, writeFrozen } from "../../src/operate/frozen.ts";
import { type Journal, journalIn } from "../../src/operate/journal.ts";
import { openSqlite } from "../../src/dead-letters/journal-sqlite.ts";
import { forAll } from "../support/for-all.ts";
import { runCommand } from "../support/run-command.ts";
import { redriveFacts } from "../support/stores/redrive-facts.ts";
import { withoutProgress } from "../support/without-progress.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const main = resolve(import.meta.dirname, "../../src/cli/main.ts");

function folderOf(): string {
  const folder = temporaryFolder("journal", onTestFinished);
  return folder;
}

async function open(file: string): Promise<Journal> {
  const journal = await journalIn(await openSqlite(file));
  onTestFinished(journal.close);
  return journal;
}

afterEach(() => {
  delete process.env["REDELIVER_JOURNAL"];
  delete process.env["XDG_STATE_HOME"];
});

test("a frozen set gives each letter as often as the plan had it", () => {
  const digest = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  forAll(100, [fc.array(digest), fc.array(digest)], (planned, asked) => {
    const frozen = readFrozen(writeFrozen(planned));
    const copy = frozen.copy();
    const left = [...planned];
    for (const each of [...asked, ...planned]) {
      const at = left.indexOf(each);
      expect(frozen.take(each)).toBe(at >= 0);
      if (at >= 0) left.splice(at, 1);
    }
    expect(planned.every(copy.take)).toBe(true);
  });
});

test("the default journal is a file of its user alone, and nothing warns of SQLite", () => {
  const state = folderOf();
  const env = { ...process.env, XDG_STATE_HOME: state };
  const child = spawnSync(process.execPath, [main, "dead", "status"], { env, encoding: "utf8" });
  expect([child.status, child.stdout, withoutProgress(child.stderr)]).toEqual([
    0,
    "There are no redrives in the journal.\n",
    "",
  ]);
  const modes = ["redeliver", "redeliver/journal.sqlite"].map((each) => statSync(join(state, each)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test("a journal that cannot be used is one diagnostic", async () => {
  const folder = folderOf();
  const refused = async (place: string): Promise<string> => {
    const said = await runCommand(["dead", "status", "--journal", place, "--json"]);
    expect(said.code, said.out).toBe(1);
    const { diagnostics } = JSON.parse(said.out) as { readonly diagnostics: readonly { readonly code: string }[] };
    expect(diagnostics.map(({ code }) => code)).toEqual(["RD817"]);
    return said.out;
  };
  writeFileSync(
    join(folder, "text"),
    "no database at all, but long enough to have a header of one hundred bytes ".repeat(9),
  );
  expect(await refused(join(folder, "text"))).toContain("no database of SQLite");
  expect(await refused(folder)).toContain("cannot be opened");
  expect(await refused("/proc/redeliver/journal")).toContain("/proc/redeliver");

  await (await journalIn(await openSqlite(join(folder, "newer")))).close();
  const newer = new DatabaseSync(join(folder, "newer"));
  newer.exec("insert into redeliver_journal values (99)");
  newer.close();
  expect(await refused(join(folder, "newer"))).toContain("version 99");

  const other = new DatabaseSync(join(folder, "locked"));
  onTestFinished(() => other.close());
  other.exec("begin exclusive");
  expect(await refused(join(folder, "locked"))).toContain("another program has locked it");

  process.env["XDG_STATE_HOME"] = folder;
  mkdirSync(join(folder, "redeliver"));
  chmodSync(join(folder, "redeliver"), 0o755);
  expect(await refused("")).toContain("others may use the folder");
  expect(existsSync(join(folder, "redeliver", "journal.sqlite"))).toBe(false);
});

test("an unknown or finished redrive is wrong usage, and the journal stays as it is", async () => {
  const file = join(folderOf(), "journal");
  process.env["REDELIVER_JOURNAL"] = file;
  const journal = await open(file);
  await journal.begin({ ...redriveFacts, id: "d0d0d0d0" }, "");
  await journal.change("d0d0d0d0", { state: "done", sent: 3 }, "ops@host", "done");
  for (const words of ["status 1234", "pause 1234", "cancel 1234", "resume 1234"]) {
    const said = await runCommand(["dead", ...words.split(" ")]);
    expect([said.code, said.error]).toEqual([2, 'error: no redrive "1234" is in the journal\n']);
  }
  for (const command of ["pause", "cancel", "resume"]) {
    const said = await runCommand(["dead", command, "d0d0d0d0"]);
    expect([said.code, said.error], command).toEqual([2, expect.stringContaining("done")]);
  }
  expect((await journal.eventsOf("d0d0d0d0")).map(({ what }) => what)).toEqual(["began with 3 letters", "done"]);
});

test("a redrive with a process that ended is found as stopped, and only one process has the lock", async () => {
  const file = join(folderOf(), "journal");
  process.env["REDELIVER_JOURNAL"] = file;
  const [journal, other] = [await open(file), await open(file)];
  const lock = await journal.lock(redriveFacts.key);
  await journal.begin({ ...redriveFacts, id: "d0d0d0d0" }, "");
  expect(await other.lock(redriveFacts.key)).toBeNull();
  expect((await runCommand(["dead", "status"])).out).toContain("running  0 of 3 letters of shop.billing.dead sent");
  await lock?.release();
  const said = await runCommand(["dead", "status", "d0d0d0d0"]);
  expect(said.out).toContain("stopped (its process ended)");
  expect(said.out).toContain("chosen: reason EVEN");
});
