import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { deploy } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { brokers } from "../support/live.ts";
import { layOutTables } from "../support/stores/books.ts";
import { chargeOnce } from "../support/stores/charge-once.ts";
import { startPostgresql } from "../support/stores/store-servers.ts";

const retry = { attempts: 20, backoff: { kind: "constant", delay: "500ms" } };
const cases = brokers().map((broker) => {
  const strategy = broker.version === "4.3" ? ("native" as const) : ("waits" as const);
  return { broker, strategy, name: `RabbitMQ ${broker.version}, ${strategy}` };
});

describe.concurrent("the guard and its table in PostgreSQL, inside a consumer", { timeout: 240_000 }, () => {
  let server: Awaited<ReturnType<typeof startPostgresql>>;
  beforeAll(async () => {
    server = await startPostgresql();
    await layOutTables(server.folder);
  });
  afterAll(async () => server.stop());

  test.for(cases)(
    "on $name: each order is charged once, although it comes several times and its process dies before it acknowledges",
    async ({ broker, strategy }, { onTestFinished }) => {
      const declaration = billingUnder(strategy, { retry });
      const system = await deploy(broker, declaration, strategy);
      onTestFinished(system.dispose);
      const shop = {
        declared: checked(declaration),
        options: {
          target: { broker: "rabbitmq", version: broker.version, strategy },
          connection: { url: system.url },
        } as const,
        publish: (orders: readonly string[]) => system.publish(orders),
      };
      const charged = await chargeOnce({ kind: "postgresql", folder: server.folder }, shop, onTestFinished);
      expect(charged).toMatchObject({ charges: [1, 1, 1, 1, 1], died: [null, "SIGKILL"], begun: 5 });
    },
  );
});
