import { hostname, userInfo } from "node:os";

import { type Journal, type Lock, heldProblem, journalIn } from "../operate/journal.ts";
import { refused } from "../diagnostics/render.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { type Place, UsageError } from "./dead-place.ts";

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
 * Takes the lock of all commands that move letters of a queue.
 *
 * @throws RefusedError that names the redrive that has it
 */
export async function takeLock(journal: Journal, key: string, queue: string): Promise<Lock> {
  const lock = await journal.lock(key);
  if (lock !== null) return lock;
  const holder = (await journal.list()).find((each) => each.key === key && each.state === "running");
  throw refused([heldProblem(queue, holder ?? null)]);
}

/** The holder of a queue's locks. */
export interface Held {
  readonly who: string;
  /** ISO 8601. */
  readonly at: string;
  readonly key: string;
}

/**
 * Does work on the letters of a queue while nobody else moves any.
 *
 * @throws RefusedError if somebody else does
 */
export async function withLocks(
  place: Place,
  options: JournalOptions,
  work: (journal: Journal, held: Held) => Promise<number>,
): Promise<number> {
  const { queue, letters } = place;
  return withJournal(options, async (journal) => {
    const held = { who: person(), at: new Date().toISOString(), key: keyOf(place) };
    const lock = await takeLock(journal, held.key, queue);
    try {
      await letters.lock?.(queue, held);
      return await work(journal, held);
    } finally {
      await lock.release();
    }
  });
}

/** Names the queue for the lock. */
export const keyOf = ({ broker, address, queue }: Place): string => `${broker} ${address} ${queue}`;

/** The person, as the system knows them. */
export function person(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a number that no user has.
    return `${process.getuid?.()}@${hostname()}`;
  }
}
