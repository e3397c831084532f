import { createPostgresqlStore, createTable } from "../../../examples/idempotency-postgresql.ts";
import { createRedisStore } from "../../../examples/idempotency-redis.ts";
import type { IdempotencyStore } from "../../../src/consume/idempotency/store.ts";
import { connectPostgresql, connectRedis } from "./store-servers.ts";

/** A server that a test has started. */
export interface BooksPlace {
  readonly kind: "postgresql" | "redis";
  readonly folder: string;
}

/** The charges, and the guard's memory beside them, in the documented store. */
export interface Books {
  readonly store: IdempotencyStore;
  /** Each call is one charge, even for an order that was charged before. */
  readonly charge: (order: string) => Promise<void>;
  /** The number of charges of each order. */
  readonly chargesOf: (orders: readonly string[]) => Promise<readonly number[]>;
  readonly close: () => Promise<void>;
}

export async function openBooks({ kind, folder }: BooksPlace): Promise<Books> {
  return kind === "postgresql" ? openTable(folder) : openList(folder);
}

async function openTable(folder: string): Promise<Books> {
  const pool = connectPostgresql(folder);
  return {
    store: createPostgresqlStore(pool),
    charge: async (order) => void (await pool.query("insert into charge (customer_order) values ($1)", [order])),
    chargesOf: async (orders) => {
      const { rows } = await pool.query<{ customer_order: string }>("select customer_order from charge");
      return orders.map((order) => rows.filter((row) => row.customer_order === order).length);
    },
    close: async () => pool.end(),
  };
}

/** Call it once, before a process opens the books in PostgreSQL. */
export async function layOutTables(folder: string): Promise<void> {
  const pool = connectPostgresql(folder);
  await pool.query(createTable);
  await pool.query("create table charge (customer_order text not null)");
  await pool.end();
}

async function openList(folder: string): Promise<Books> {
  const client = await connectRedis(folder).connect();
  return {
    store: createRedisStore(client),
    charge: async (order) => void (await client.rPush("charges", order)),
    chargesOf: async (orders) => {
      const charged = await client.lRange("charges", 0, -1);
      return orders.map((order) => charged.filter((each) => each === order).length);
    },
    close: async () => client.destroy(),
  };
}
