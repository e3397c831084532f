import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { shop as example } from "../../examples/consume-billing.ts";
import { billingWithWords, redriveBilling } from "../../examples/redrive-billing.ts";
import { consume } from "../../src/consume/index.ts";
import { deadQueue, fill, shop, stage, workQueue } from "../support/dead-stage.ts";
import { checked } from "../support/examples.ts";
import { brokers } from "../support/live.ts";
import { redriveWithWords } from "../support/told-redrive.ts";

test.for(brokers())("on RabbitMQ $version the library goes on at the consumer's word", async (broker) => {
  const system = await stage(broker);
  await fill(system, deadQueue, 111);
  const target = { broker: "rabbitmq", version: broker.version, strategy: "waits" } as const;
  const connection = { url: system.url, managementUrl: broker.managementUrl };
  const declared = checked(shop);
  await redriveWithWords({ system: declared, consumer: "billing", target, connection }, (log) =>
    consume(declared, "billing", { target, connection, log }, () => undefined),
  );
  for (const queue of [deadQueue, workQueue, "shop.audit"]) expect(await system.count(queue)).toBe(0);
});

for (const broker of brokers().filter(({ version }) => version === "4.3"))
  test("the example of docs/operate.md sends the largest group again", async () => {
    const system = await stage(broker, example, "auto");
    await fill(system, deadQueue, 25);
    const connection = { url: system.url, managementUrl: broker.managementUrl };
    const journal = join(mkdtempSync(join(tmpdir(), "redeliver-example-")), "journal.sqlite");
    const running = await billingWithWords(connection, journal);
    onTestFinished(async () => running.stop());
    expect(await redriveBilling(connection, journal)).toMatchObject({ state: "done", sent: 13, diedAgain: 0 });
    expect(await system.count(deadQueue)).toBe(12);
  });
