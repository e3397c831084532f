import { count } from "../contract/in-words.ts";
import { RefusedError } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import type { FilterInput } from "./filter.ts";
import { journalProblem } from "./journal-problems.ts";
import { type Lock, type Row, type Sql, type Value, migrate } from "./journal-schema.ts";

/** `stopped` has a reason. A redrive with a process that ended is `stopped`, too, when somebody notices. */
export type RedriveState = "running" | "paused" | "stopped" | "cancelled" | "done";

/** The options that name a dead queue and its broker, without a password. */
export type JournalledPlace = Readonly<
  Partial<
    Record<
      "file" | "target" | "consumer" | "queue" | "workQueue" | "url" | "managementUrl" | "ca" | "cert" | "key",
      string | undefined
    >
  >
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
  /** Those of them that the plan could not be shown. Left out if there are none. */
  readonly behind?: number;
  readonly targets: readonly string[];
  readonly generations: number;
  readonly perSecond: number | null;
  /** The wait after each step, before the look for letters that died again. 0 for no look. */
  readonly waitMs: number;
  /** The share of sent letters that may have died again, from 0 to 1. */
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
  /** The last state that its process wrote. */
  readonly state: RedriveState;
  /** Why it stopped or paused. Null while it runs. */
  readonly reason: string | null;
  /** The number of letters up to which it may have sent, whatever it had time to write. */
  readonly intended: number;
}

export interface JournalEvent {
  /** ISO 8601. */
  readonly at: string;
  /** The person or the process that did it. */
  readonly who: string;
  /** The event in one sentence. */
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
  /** @param letters the letters to send, and those to park before, as `Frozen` writes them */
  readonly begin: (facts: RedriveFacts, letters: string, parked?: string) => Promise<void>;
  /** One redrive. Null if the journal does not have it. */
  readonly read: (id: string) => Promise<JournalledRedrive | null>;
  /** The last redrives, the newest first. */
  readonly list: () => Promise<readonly JournalledRedrive[]>;
  /** The letters to send and those to park, as `begin` was given them. */
  readonly lettersOf: (id: string) => Promise<{ readonly letters: string; readonly parked: string }>;
  /** The events of one redrive, the oldest first. */
  readonly eventsOf: (id: string) => Promise<readonly JournalEvent[]>;
  /** Writes the numbers. @returns the wish of somebody else */
  readonly beat: (id: string, counts: RedriveCounts) => Promise<Wish | null>;
  /** Writes a new state of a redrive, and the event that led to it. */
  readonly change: (id: string, change: Change, who: string, event: string) => Promise<void>;
  /** Writes what another command than a redrive does. `status` shows it. */
  readonly note: (id: string, who: string, what: string) => Promise<void>;
  /** What other commands than redrives did last, the newest first. */
  readonly notes: () => Promise<readonly (JournalEvent & { readonly id: string })[]>;
  /**
   * Writes a consumer's word about a letter of a redrive.
   *
   * @param letter its digest in the history
   */
  readonly tell: (id: string, letter: string, outcome: "handled" | "dead") => Promise<void>;
  /** The letters of a redrive with a consumer's word about their end, and those that are dead by it. */
  readonly told: (id: string) => Promise<{ readonly told: number; readonly dead: number }>;
  /** The lock of the only command that moves letters of a queue. Null if another process has it. */
  readonly lock: (key: string) => Promise<Lock | null>;
  /** Ends the connection to the store. */
  readonly close: () => Promise<void>;
}

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
    begin: (facts, letters, parked = "") =>
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
          await sql.query("insert into redeliver_redrive values ($1, $2, $3, null, null, $4, $5, 0, 0, 0, 0, $6, $7)", [
            id,
            key,
            "running",
            at,
            JSON.stringify(facts),
            letters,
            parked,
          ]);
          await noted(id, who, `began with ${count(facts.letters, "letter")}`);
        }),
      ),
    read: async (id) =>
      (await query(`select ${columns} from redeliver_redrive where id = $1`, [id])).map(redriveIn)[0] ?? null,
    list: async () =>
      (await query(`select ${columns} from redeliver_redrive order by began desc limit ${mostListed}`)).map(redriveIn),
    lettersOf: async (id) => {
      const [row] = await query("select letters, parked from redeliver_redrive where id = $1", [id]);
      return { letters: String(row?.["letters"] ?? ""), parked: String(row?.["parked"] ?? "") };
    },
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
    ...wordsOf(query),
    lock: (key) => telling(() => sql.lock(key)),
    close: sql.close,
  };
}

/** The events of redrives, the words of other commands, and those of consumers. */
function wordsOf(query: Sql["query"]): Pick<Journal, "eventsOf" | "note" | "notes" | "tell" | "told"> {
  return {
    eventsOf: async (id) =>
      (await query("select at, who, what from redeliver_event where redrive = $1 order by at", [id])) as never,
    note: async (id, who, what) =>
      void (await query("insert into redeliver_event values ($1, $2, $3, $4)", [id, now(), who, what])),
    notes: async () =>
      (await query(
        `select redrive as id, at, who, what from redeliver_event
          where redrive not in (select id from redeliver_redrive) order by at desc limit ${mostListed}`,
      )) as never,
    tell: async (id, letter, outcome) =>
      void (await query(
        `insert into redeliver_word values ($1, $2, $3)
          on conflict (redrive, letter) do update set outcome = excluded.outcome`,
        [id, letter, outcome],
      )),
    told: async (id) => {
      const [row] = await query(
        "select count(*) as told, sum(case outcome when 'dead' then 1 end) as dead from redeliver_word where redrive = $1",
        [id],
      );
      return { told: Number(row?.["told"] ?? 0), dead: Number(row?.["dead"] ?? 0) };
    },
  };
}

export const processEnded = "its process ended";

const now = (): string => new Date().toISOString();

function redriveIn(row: Row): JournalledRedrive {
  const { state, reason, intended, sent, died_again: diedAgain, may_be_doubled: mayBeDoubled, facts } = row;
  return { ...JSON.parse(String(facts)), state, reason, intended, sent, diedAgain, mayBeDoubled };
}
