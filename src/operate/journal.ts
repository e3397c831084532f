import { type Diagnostic, RefusedError, diagnostic } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import type { FilterInput } from "./filter.ts";

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

type Value = string | number | null;
type Row = Readonly<Record<string, unknown>>;

/** `stopped` has a reason. A redrive with a process that ended is `stopped`, too, when somebody notices. */
export type RedriveState = "running" | "paused" | "stopped" | "cancelled" | "done";

/** The options that name a dead queue and its broker, without a password. */
export type JournalledPlace = Readonly<
  Record<"file" | "target" | "consumer" | "queue" | "url" | "managementUrl" | "ca" | "cert" | "key", string | undefined>
> & { readonly strategy: string; readonly parked?: boolean };

/** The facts of a redrive that never change. */
export interface RedriveFacts {
  readonly id: string;
  readonly broker: string;
  readonly queue: string;
  readonly place: JournalledPlace;
  /** Names the queue among all of all brokers. */
  readonly key: string;
  readonly filter: FilterInput;
  readonly who: string;
  readonly why: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** The letters in the queue at the time of the plan. */
  readonly frozen: number;
  /** The letters to send. */
  readonly letters: number;
  readonly targets: readonly string[];
  readonly generations: number;
  readonly perSecond: number | null;
  readonly waitMs: number;
  readonly stopAbove: number;
}

/** The numbers of a redrive so far. */
export interface RedriveCounts {
  /** The letters that left the dead queue for a work queue. */
  readonly sent: number;
  readonly diedAgain: number;
  /** The most letters that may have been sent twice. */
  readonly mayBeDoubled: number;
}

export interface JournalledRedrive extends RedriveFacts, RedriveCounts {
  readonly state: RedriveState;
  readonly reason: string | null;
  /** The number of letters up to which it may have sent, whatever it had time to write. */
  readonly intended: number;
}

export interface JournalEvent {
  readonly at: string;
  readonly who: string;
  readonly what: string;
}

/** A wish of somebody else for a running redrive. */
export type Wish = "pause" | "cancel";

type Change = Partial<RedriveCounts> & {
  readonly state?: RedriveState;
  readonly reason?: string | null;
  readonly wish?: Wish | null;
  readonly intended?: number;
};

/** The memory of redrives. Its members throw a RefusedError if the database refuses. */
export interface Journal {
  /** @param letters the letters of the plan, as `Frozen` writes them */
  readonly begin: (facts: RedriveFacts, letters: string) => Promise<void>;
  readonly read: (id: string) => Promise<JournalledRedrive | null>;
  /** The last redrives, the newest first. */
  readonly list: () => Promise<readonly JournalledRedrive[]>;
  readonly lettersOf: (id: string) => Promise<string>;
  readonly eventsOf: (id: string) => Promise<readonly JournalEvent[]>;
  /** Writes the numbers. @returns the wish of somebody else */
  readonly beat: (id: string, counts: RedriveCounts) => Promise<Wish | null>;
  readonly change: (id: string, change: Change, who: string, event: string) => Promise<void>;
  /** The lock of the only command that moves letters of a queue. Null if another process has it. */
  readonly lock: (key: string) => Promise<Lock | null>;
  readonly close: () => Promise<void>;
}

/** Each entry leads from one version to the next. A published entry never changes. */
const migrations: readonly (readonly string[])[] = [
  [
    `create table redeliver_redrive (id text primary key, place text not null, state text not null, reason text,
      wish text, began text not null, facts text not null, intended integer not null, sent integer not null,
      died_again integer not null, may_be_doubled integer not null, letters text not null)`,
    "create index redeliver_redrive_place on redeliver_redrive (place, state)",
    "create table redeliver_event (redrive text not null, at text not null, who text not null, what text not null)",
  ],
];

const columns = "id, state, reason, facts, intended, sent, died_again, may_be_doubled";
const changed: Readonly<Record<keyof Change, string>> = {
  state: "state",
  reason: "reason",
  wish: "wish",
  intended: "intended",
  sent: "sent",
  diedAgain: "died_again",
  mayBeDoubled: "may_be_doubled",
};
const mostListed = 20;

/** Opens the journal in a database, and brings it to this version. */
export async function journalIn(sql: Sql): Promise<Journal> {
  const telling = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      const reason = cause instanceof RefusedError ? null : sql.reasonOf(cause);
      throw reason === null ? cause : refused([journalProblem(reason)]);
    }
  };
  const query = async (text: string, values: readonly Value[] = []): Promise<readonly Row[]> =>
    telling(() => sql.query(text, values));
  await telling(() => migrate(sql)).catch(async (cause: unknown) => {
    await sql.close();
    throw cause;
  });
  const noted = async (id: string, who: string, what: string): Promise<void> =>
    void (await sql.query("insert into redeliver_event values ($1, $2, $3, $4)", [id, now(), who, what]));
  return {
    begin: (facts, letters) =>
      telling(() =>
        sql.exclusively(async () => {
          const { id, key, at, who } = facts;
          // This process has the lock of the queue, so no other redrive of it can be alive.
          await sql.query("update redeliver_redrive set state = $1, reason = $2 where place = $3 and state = $4", [
            "stopped",
            processEnded,
            key,
            "running",
          ]);
          await sql.query("insert into redeliver_redrive values ($1, $2, $3, null, null, $4, $5, 0, 0, 0, 0, $6)", [
            id,
            key,
            "running",
            at,
            JSON.stringify(facts),
            letters,
          ]);
          await noted(id, who, `began with ${facts.letters} letters`);
        }),
      ),
    read: async (id) =>
      (await query(`select ${columns} from redeliver_redrive where id = $1`, [id])).map(redriveIn)[0] ?? null,
    list: async () =>
      (await query(`select ${columns} from redeliver_redrive order by began desc limit ${mostListed}`)).map(redriveIn),
    lettersOf: async (id) => {
      const [row] = await query("select letters from redeliver_redrive where id = $1", [id]);
      return String(row?.["letters"] ?? "");
    },
    eventsOf: async (id) =>
      (await query("select at, who, what from redeliver_event where redrive = $1 order by at", [id])) as never,
    beat: async (id, { sent, diedAgain, mayBeDoubled }) => {
      const values = [sent, diedAgain, mayBeDoubled, id];
      await query("update redeliver_redrive set sent = $1, died_again = $2, may_be_doubled = $3 where id = $4", values);
      const [row] = await query("select wish from redeliver_redrive where id = $1", [id]);
      return (row?.["wish"] ?? null) as Wish | null;
    },
    change: (id, change, who, event) =>
      telling(() =>
        sql.exclusively(async () => {
          const names = Object.keys(change) as (keyof Change)[];
          const sets = names.map((name, index) => `${changed[name]} = $${index + 2}`).join(", ");
          const values = names.map((name) => change[name] ?? null);
          await sql.query(`update redeliver_redrive set ${sets} where id = $1`, [id, ...values]);
          await noted(id, who, event);
        }),
      ),
    lock: (key) => telling(() => sql.lock(key)),
    close: sql.close,
  };
}

export const processEnded = "its process ended";

const now = (): string => new Date().toISOString();

async function migrate(sql: Sql): Promise<void> {
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

function redriveIn(row: Row): JournalledRedrive {
  const { state, reason, intended, sent, died_again: diedAgain, may_be_doubled: mayBeDoubled, facts } = row;
  return { ...JSON.parse(String(facts)), state, reason, intended, sent, diedAgain, mayBeDoubled };
}

export function journalProblem(reason: string, help = helpWithJournal): Diagnostic {
  return diagnostic("RD817", { path: "journal", message: `the journal cannot be used: ${reason}`, help });
}

const helpWithJournal =
  "name another place with --journal or REDELIVER_JOURNAL: a file, or the URL of a PostgreSQL database";

function otherVersion(version: number): Diagnostic {
  const reason = `it has version ${version}, and this Redeliver knows versions up to ${migrations.length}`;
  return journalProblem(reason, "use the newest Redeliver of your team, or another journal");
}

/** @param holder the redrive that has the lock, as far as it is known */
export function heldProblem(
  queue: string,
  holder: { readonly who: string; readonly at: string; readonly id?: string } | null,
): Diagnostic {
  const { who, at, id } = holder ?? {};
  const by = who === undefined ? "somebody" : `${who} since ${at}`;
  const command = id === undefined ? "a redrive, or another command that moves letters," : "a redrive";
  return diagnostic("RD816", {
    path: "queue",
    message: `${command} of ${queue} is already running${id === undefined ? "" : `, ${id}`}, by ${by}`,
    help: `wait for its end, or end a redrive with redeliver dead pause ${id ?? "ID"}`,
  });
}
