import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createPostgresqlStore, createTable, removeExpired } from "../../examples/idempotency-postgresql.ts";
import { createRedisStore } from "../../examples/idempotency-redis.ts";
import { until } from "../support/deployed-system.ts";
import { storeClaims } from "../support/stores/store-claims.ts";
import { startPostgresql, startRedis } from "../support/stores/store-servers.ts";

describe("the table in PostgreSQL", () => {
  let pool: Pool;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const server = await startPostgresql();
    pool = server.connect();
    stop = server.stop;
    await pool.query(createTable);
  });
  afterAll(async () => {
    await pool.end();
    await stop();
  });

  storeClaims(() => createPostgresqlStore(pool));

  test("keeps no row longer than it is needed", async () => {
    const store = createPostgresqlStore(pool);
    await pool.query("delete from handled_message");
    await store.finish("billing:old", 1);
    await store.finish("billing:new", 600_000);
    await until(30_000, async () => {
      await pool.query(removeExpired);
      return (await pool.query("select key from handled_message")).rowCount === 1;
    });
    expect((await pool.query("select key from handled_message")).rows).toEqual([{ key: "billing:new" }]);
  });
});

describe("the key in Redis", () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let client: ReturnType<typeof redis.connect>;
  beforeAll(async () => {
    redis = await startRedis();
    client = await redis.connect().connect();
  });
  afterAll(async () => {
    client.destroy();
    await redis.stop();
  });

  storeClaims(() => createRedisStore(client));
});
