import { describe, expect, test } from "vitest";

import { deployConsumed } from "../support/servicebus/consuming.ts";
import { type BooksPlace, layOutTables } from "../support/stores/books.ts";
import { chargeOnce } from "../support/stores/charge-once.ts";
import { startPostgresql, startRedis } from "../support/stores/store-servers.ts";

type Finished = (end: () => Promise<void>) => void;

const stores = {
  "a table in PostgreSQL": async (finished: Finished): Promise<BooksPlace> => {
    const { folder, stop } = await startPostgresql();
    finished(stop);
    await layOutTables(folder);
    return { kind: "postgresql", folder };
  },
  "a key in Redis": async (finished: Finished): Promise<BooksPlace> => {
    const { folder, stop } = await startRedis();
    finished(stop);
    return { kind: "redis", folder };
  },
} as const;

describe.concurrent("the guard on Service Bus, inside a consumer", () => {
  for (const [name, open] of Object.entries(stores))
    test(`with ${name}: each order is charged once, although it comes several times and its process dies before it completes`, async (context) => {
      const place = await open(context.onTestFinished);
      const retry = { attempts: 20, backoff: { kind: "constant", delay: "500ms" } };
      const system = await deployConsumed(context.onTestFinished, { retry }, { lock: "5s" });
      const { target, connection } = system.options;
      const shop = {
        declared: system.declared,
        options: { target, connection },
        publish: (orders: readonly string[]) =>
          system.publish(...orders.map((id) => ({ body: Buffer.from(JSON.stringify({ id })), messageId: id }))),
      };
      const charged = await chargeOnce(place, shop, context.onTestFinished);
      expect(charged).toMatchObject({ charges: [1, 1, 1, 1, 1], died: [null, "SIGKILL"], begun: 5 });
    });
});
