import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import { journalProblem } from "./journal-problems.ts";

/** A database with a journal in it. */
export interface Sql {
  /** @param sql one statement, with the parameters $1, $2, … */
  readonly query: (sql: string, values?: readonly Value[]) => Promise<readonly Row[]>;
  /** Does all of a piece of work or none, and nobody else writes meanwhile. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  /** Takes a lock that ends with this process. Null if another one has it. */
  readonly lock: (name: string) => Promise<Lock | null>;
  /** Why the database refuses, as half a sentence. Null for any other error. */
  readonly reasonOf: (cause: unknown) => string | null;
  readonly close: () => Promise<void>;
}

export interface Lock {
  readonly release: () => Promise<void>;
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

/** Each entry leads from one version to the next. A published entry never changes. */
const migrations: readonly (readonly string[])[] = [
  [
    `create table redeliver_redrive (id text primary key, place text not null, state text not null, reason text,
      wish text, began text not null, facts text not null, intended integer not null, sent integer not null,
      died_again integer not null, may_be_doubled integer not null, letters text not null)`,
    "create index redeliver_redrive_place on redeliver_redrive (place, state)",
    "create table redeliver_event (redrive text not null, at text not null, who text not null, what text not null)",
  ],
  [
    "alter table redeliver_redrive add column parked text not null default ''",
    `create table redeliver_word (redrive text not null, letter text not null, outcome text not null,
      primary key (redrive, letter))`,
  ],
];

/** Brings a database to this version. */
export async function migrate(sql: Sql): Promise<void> {
  const version = async (): Promise<number> => {
    const [row] = await sql.query("select max(version) as version from redeliver_journal");
    return Number(row?.["version"] ?? 0);
  };
  const before = await version().catch(() => 0);
  if (before > migrations.length) throw refused([otherVersion(before)]);
  if (before === migrations.length) return;
  await sql.exclusively(async () => {
    await sql.query("create table if not exists redeliver_journal (version integer not null)");
    // Another process may have been here first.
    for (const steps of migrations.slice(await version())) {
      for (const step of steps) await sql.query(step);
      await sql.query("insert into redeliver_journal values ((select count(*) + 1 from redeliver_journal))");
    }
  });
}

function otherVersion(version: number): Diagnostic {
  const reason = `it has version ${version}, and this Redeliver knows versions up to ${migrations.length}`;
  return journalProblem(reason, "use the newest Redeliver of your team, or another journal");
}
