import { expect, test } from "vitest";

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
  for (const queue of [deadQueue, workQueue, "shop.audit"])
    expect((await system.channel.checkQueue(queue)).messageCount).toBe(0);
});
