import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { takeLock } from "../../src/dead-letters/locks.ts";
import { openSqlite } from "../../src/dead-letters/journal-sqlite.ts";
import { type Diagnostic, RefusedError } from "../../src/diagnostics/diagnostic.ts";
import { type Journal, journalIn } from "../../src/operate/journal.ts";
import type { Lock } from "../../src/operate/journal-schema.ts";

export interface JournalFile {
  /** The text in the file. */
  readonly journal?: string;
  readonly redrives?: number;
}

/** Opens a file as a journal, and takes the lock of one queue for each redrive. */
export async function journalProblems(
  folder: string,
  { journal = "", redrives = 0 }: JournalFile,
): Promise<readonly Diagnostic[]> {
  const file = join(mkdtempSync(join(folder, "journal-")), "journal");
  writeFileSync(file, journal);
  let opened: Journal | undefined;
  const locks: Lock[] = [];
  try {
    opened = await journalIn(await openSqlite(file));
    for (let index = 0; index < redrives; index++) locks.push(await takeLock(opened, "q", "q"));
    return [];
  } catch (cause) {
    if (cause instanceof RefusedError) return cause.diagnostics;
    throw cause;
  } finally {
    for (const lock of locks) await lock.release();
    await opened?.close();
  }
}
