import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { deploy } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { chargeOnce } from "../support/stores/charge-once.ts";
import { startRedis } from "../support/stores/store-servers.ts";

/** When a process dies, its message stays hidden for the handler's time and the delay. */
const billing = {
  from: { orders: "all" },
  handlerTimeout: "5s",
  retry: { attempts: 20, backoff: { kind: "constant", delay: "1s" } },
};

describe.concurrent("the example of docs/idempotency.md and a key in Redis", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => server.stop());

  test.for(sqsEmulators())(
    "on $name: each order is charged once, although it comes several times and its process dies before it deletes",
    async (emulator, { onTestFinished }) => {
      const system = await deploy(emulator, { billing });
      onTestFinished(system.dispose);
      const shop = {
        declared: system.declared,
        options: { endpoint: emulator.endpoint },
        publish: async (orders: readonly string[]) => {
          for (const id of orders) await system.lab.send(system.work("billing"), JSON.stringify({ id }));
        },
      };
      const charged = await chargeOnce({ kind: "redis", folder: server.folder }, shop, onTestFinished);
      expect(charged).toMatchObject({ charges: [1, 1, 1, 1, 1], died: [null, "SIGKILL"], begun: 5 });
    },
  );
});
