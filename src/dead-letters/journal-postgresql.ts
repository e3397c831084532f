import type { Client } from "pg";

import { refused } from "../diagnostics/render.ts";
import type { Sql } from "../operate/journal-schema.ts";
import { journalProblem } from "../operate/journal-problems.ts";
import { inTurn } from "./in-turn.ts";

const connectWithinMs = 10_000;
const answerWithinMs = 30_000;

/** @throws RefusedError if the database cannot be used; its text has no password */
export async function openPostgresql(url: string): Promise<Sql> {
  const client = await connect(url);
  const own = new Set<string>();
  const query: Sql["query"] = async (text, values = []) => (await client.query(text, [...values])).rows;
  return {
    query,
    exclusively: inTurn(async (work) => {
      await client.query("begin");
      try {
        // Two processes that make the same table at the same time would refuse each other.
        await client.query("select pg_advisory_xact_lock(hashtext('redeliver journal'))");
        await work();
        await client.query("commit");
      } catch (cause) {
        await client.query("rollback");
        throw cause;
      }
    }),
    // It belongs to this session, and ends with its connection.
    lock: async (name) => {
      // Within one session the database would give the same lock again.
      if (own.has(name)) return null;
      const [row] = await query("select pg_try_advisory_lock(hashtextextended($1, 0)) as taken", [name]);
      if (row?.["taken"] !== true) return null;
      own.add(name);
      const unlock = (): Promise<unknown> => query("select pg_advisory_unlock(hashtextextended($1, 0))", [name]);
      // A lost session has lost its locks, too.
      return {
        release: async () => {
          own.delete(name);
          await unlock().catch(() => undefined);
        },
      };
    },
    reasonOf,
    close: async () => client.end().catch(() => undefined),
  };
}

async function connect(url: string): Promise<Client> {
  try {
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
      application_name: "redeliver",
    });
    // The next query reports the end of the connection.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  } catch (cause) {
    const { code } = cause as { readonly code?: string };
    if (code === "ERR_MODULE_NOT_FOUND")
      throw refused([journalProblem("the client library pg is not installed", "npm install pg")]);
    throw refused([journalProblem(reasonOf(cause))]);
  }
}

function reasonOf(cause: unknown): string {
  const { code, errors, message } = cause as Error & { readonly code?: string; readonly errors?: readonly Error[] };
  const said = message === "" ? (errors?.[0]?.message ?? code) : message;
  return `PostgreSQL: ${said}${code === undefined || said?.includes(code) === true ? "" : ` (${code})`}`;
}
