// An idempotency store in Redis. Redis forgets entries that are not on disk yet: if a duplicate costs money, use a
// database.
import type { RedisClientType } from "redis";

import type { IdempotencyStore } from "redeliver/consume";

/** Tokens are UUIDs, so none equals this word. */
const done = "done";

/** Compares and deletes in one step. So a claim that has expired and now belongs to another attempt stays. */
const deleteOwn = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`;

export function createRedisStore(
  client: Pick<RedisClientType, "eval" | "get" | "set">,
  prefix = "handled:",
): IdempotencyStore {
  return {
    begin: async (key, token, expiresAfterMs) => {
      const claimed = await client.set(prefix + key, token, {
        condition: "NX",
        expiration: { type: "PX", value: expiresAfterMs },
      });
      if (claimed === "OK") return "begun";
      // The other attempt may have released the key in the meantime. The next attempt will see.
      return (await client.get(prefix + key)) === done ? "done" : "running";
    },
    finish: async (key, keepForMs) => {
      await client.set(prefix + key, done, { expiration: { type: "PX", value: keepForMs } });
    },
    release: async (key, token) => {
      await client.eval(deleteOwn, { keys: [prefix + key], arguments: [token] });
    },
  };
}
