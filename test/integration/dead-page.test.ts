import { randomUUID } from "node:crypto";
import { describe } from "vitest";

import { consume } from "../../src/consume/index.ts";
import { consumers, type Finished, type PageStage } from "../support/dead-page.ts";
import { runPage } from "../support/dead-page-course.ts";
import { deploy } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { type Broker, brokers } from "../support/live.ts";

const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers };

async function open(broker: Broker, finished: Finished): Promise<PageStage> {
  const { url, channel, contract, dispose } = await deploy(broker, shop);
  finished(dispose);
  const { workQueue, deadQueue, parkedQueue } = contract("billing");
  const queues = { work: workQueue, dead: deadQueue, parked: parkedQueue };
  const [node, management] = [new URL(url), new URL(broker.managementUrl)];
  const { password } = node;
  node.password = "";
  return {
    broker: "rabbitmq",
    declaration: shop,
    replaced: {
      "amqps://ops@rabbit.example/shop": node.href,
      "RABBITMQ_PASSWORD=…": `RABBITMQ_PASSWORD=${password}`,
      "https://rabbit.example:15671": management.origin,
      "my-dead-queue": String(deadQueue),
      "my-queue": String(workQueue),
    },
    environment: {},
    publish: async (bodies, expiring = false) => {
      for (const body of bodies)
        channel.publish("shop.orders", "order.placed", Buffer.from(JSON.stringify(body)), {
          messageId: randomUUID(),
          contentType: "application/json",
          persistent: true,
          ...(expiring ? { expiration: "1" } : {}),
        });
      await channel.waitForConfirms();
    },
    consume: async (handler, log) => {
      const target = { broker: "rabbitmq", version: broker.version } as const;
      const connection = { url, managementUrl: broker.managementUrl };
      return consume(checked(shop), "billing", { target, connection, log }, handler);
    },
    count: async (queue) => (await channel.checkQueue(String(queues[queue]))).messageCount,
  };
}

describe.for(brokers().filter(({ version }) => version === "4.3"))("on RabbitMQ $version", (broker) =>
  runPage("rabbitmq", async (finished) => open(broker, finished)),
);
