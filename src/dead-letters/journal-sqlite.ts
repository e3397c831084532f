import { createHash } from "node:crypto";
import { closeSync, existsSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { refused } from "../diagnostics/render.ts";
import type { Lock, Sql } from "../operate/journal-schema.ts";
import { journalProblem } from "../operate/journal-problems.ts";
import { inTurn } from "./in-turn.ts";

/** Another process keeps the file for some milliseconds at a time. */
const busyMs = 5_000;

/** The journal of this user. */
export function defaultJournal(): string {
  const { XDG_STATE_HOME: state } = process.env;
  // The XDG Base Directory Specification ignores a relative path.
  const folder = state?.startsWith("/") === true ? state : join(homedir(), ".local", "state");
  return join(folder, "redeliver", "journal.sqlite");
}

/**
 * Opens a journal in a file, and makes the file and its folders where they are missing.
 *
 * @throws RefusedError if the file cannot be one
 */
export async function openSqlite(file: string): Promise<Sql> {
  const { DatabaseSync } = await quietly(() => import("node:sqlite"));
  const open = (path: string, timeout: number) => {
    // Only its owner may read it. To close a file that is already open would end the locks of this process on it.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    return new DatabaseSync(path, { timeout });
  };
  const opened = (path: string, timeout: number) => {
    try {
      return open(path, timeout);
    } catch (cause) {
      throw refused([journalProblem(`${path}: ${reasonOf(cause) ?? String(cause)}`)]);
    }
  };
  makeFolder(dirname(file), file === defaultJournal());
  const database = opened(file, busyMs);
  const reason = (cause: unknown): string | null => {
    const known = reasonOf(cause);
    return known === null ? null : `${file}: ${known}`;
  };
  return {
    query: async (text, values = []) => {
      const statement = database.prepare(text);
      return statement.all(Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]))) as never;
    },
    exclusively: inTurn(async (work) => {
      database.exec("begin immediate");
      try {
        await work();
        database.exec("commit");
      } catch (cause) {
        database.exec("rollback");
        throw cause;
      }
    }),
    lock: async (name) => lockIn(opened(lockFile(file, name), 0)),
    reasonOf: reason,
    close: async () => database.close(),
  };
}

/** The system ends the transaction of a process with the process, so this lock cannot outlive its owner. */
function lockIn(database: import("node:sqlite").DatabaseSync): Lock | null {
  try {
    database.exec("begin immediate");
    return { release: async () => database.close() };
  } catch (cause) {
    database.close();
    if ((cause as SqliteError).errcode === 5) return null;
    throw cause;
  }
}

/** Locks a file for as long as this process lives. Null if another process has it. */
export async function holdFile(file: string): Promise<Lock | null> {
  const { DatabaseSync } = await quietly(() => import("node:sqlite"));
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  return lockIn(new DatabaseSync(file, { timeout: 0 }));
}

function lockFile(file: string, name: string): string {
  return `${file}.${createHash("sha256").update(name).digest("hex").slice(0, 16)}.lock`;
}

/** Folder by folder, because making several at once never returns below /proc. */
function makeFolder(folder: string, isOwn: boolean): void {
  try {
    const missing: string[] = [];
    for (let each = folder; !existsSync(each); each = dirname(each)) missing.unshift(each);
    for (const each of missing) mkdirSync(each, { mode: 0o700 });
  } catch (cause) {
    throw refused([journalProblem(`${folder}: ${reasonOf(cause) ?? String(cause)}`)]);
  }
  const found = lstatSync(folder);
  const isForOwner = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  // Who can write to the folder can replace the journal. A folder that the user names is the user's own affair.
  if (isOwn && process.getuid !== undefined && !isForOwner)
    throw refused([journalProblem(`others may use the folder ${folder}`, `chmod 700 ${folder}, and see who owns it`)]);
}

interface SqliteError extends Error {
  readonly code?: string;
  readonly errcode?: number;
}

/** Source: sqlite.org, "Result and Error Codes". */
const reasons: Readonly<Record<number, string>> = {
  5: "another program has locked it",
  6: "another program has locked it",
  8: "it is read-only",
  13: "the disk is full",
  14: "it cannot be opened",
  26: "it is no database of SQLite",
};

function reasonOf(cause: unknown): string | null {
  const { code, errcode, message } = (cause ?? {}) as SqliteError;
  if (code === "ERR_SQLITE_ERROR") return reasons[(errcode ?? 0) & 0xff] ?? message;
  if (code === "EROFS") return "the disk is read-only";
  if (code === "EISDIR") return "it is a folder";
  return code?.startsWith("E") === true && !code.startsWith("ERR_") ? code : null;
}

/** Imports a module without its warning that it is experimental. */
async function quietly<Module>(load: () => Promise<Module>): Promise<Module> {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
