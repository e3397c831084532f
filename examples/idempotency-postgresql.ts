// An idempotency store in a PostgreSQL table. Copy it into your project, next to the pool that you have.
import type { Pool } from "pg";

import type { IdempotencyStore } from "redeliver/consume";

/** Run it once, with the migrations of your database. */
export const createTable = `
  create table if not exists handled_message (
    key text primary key,
    token text not null,
    is_done boolean not null,
    expires_at timestamptz not null
  )`;

/** Deletes expired rows. Run it now and then. */
export const removeExpired = `delete from handled_message where expires_at <= clock_timestamp()`;

export function createPostgresqlStore(pool: Pool): IdempotencyStore {
  return {
    begin: async (key, token, expiresAfterMs) => {
      const claimed = await pool.query(
        `insert into handled_message as known (key, token, is_done, expires_at)
         values ($1, $2, false, clock_timestamp() + $3 * interval '1 millisecond')
         on conflict (key) do update
           set token = excluded.token, is_done = false, expires_at = excluded.expires_at
           where known.expires_at <= clock_timestamp()`,
        [key, token, expiresAfterMs],
      );
      if (claimed.rowCount === 1) return "begun";
      const { rows } = await pool.query<{ is_done: boolean }>(`select is_done from handled_message where key = $1`, [
        key,
      ]);
      // The other attempt may have released the key in the meantime. The next attempt will see.
      return rows[0]?.is_done === true ? "done" : "running";
    },
    finish: async (key, keepForMs) => {
      await pool.query(
        `insert into handled_message (key, token, is_done, expires_at)
         values ($1, '', true, clock_timestamp() + $2 * interval '1 millisecond')
         on conflict (key) do update set is_done = true, expires_at = excluded.expires_at`,
        [key, keepForMs],
      );
    },
    release: async (key, token) => {
      await pool.query(`delete from handled_message where key = $1 and token = $2 and not is_done`, [key, token]);
    },
  };
}
