import { hostname, userInfo } from "node:os";

import { type Journal, type Lock, heldProblem, journalIn } from "../operate/journal.ts";
import { refused } from "../diagnostics/render.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { UsageError } from "./dead-place.ts";

/** Opens the journal that the options or the environment name, for a piece of work. */
export async function withJournal(
  { journal }: JournalOptions,
  work: (journal: Journal) => Promise<number>,
): Promise<number> {
  const place = journal ?? process.env["REDELIVER_JOURNAL"] ?? "";
  const opened = await journalIn(await open(place));
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

async function open(place: string) {
  if (/^postgres(ql)?:\/\//i.test(place)) return (await import("./journal-postgresql.ts")).openPostgresql(place);
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(place))
    throw new UsageError("the journal is a file, or a PostgreSQL database such as postgres://user@host/database");
  const { defaultJournal, openSqlite } = await import("./journal-sqlite.ts");
  return openSqlite(place === "" ? defaultJournal() : place);
}

/**
 * Takes the lock of the redrives of a queue.
 *
 * @throws RefusedError that names the redrive that has it
 */
export async function takeLock(journal: Journal, key: string, queue: string): Promise<Lock> {
  const lock = await journal.lock(key);
  if (lock !== null) return lock;
  const holder = (await journal.list()).find((each) => each.key === key && each.state === "running");
  throw refused([heldProblem(queue, holder ?? null)]);
}

/** The person, as the system knows them. */
export function person(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a number that no user has.
    return `${process.getuid?.()}@${hostname()}`;
  }
}
