import { randomUUID } from "node:crypto";
import { createClient, createReceiver } from "@redeliver/servicebus-emulator";

import { consume } from "../../src/consume/index.ts";
import { consumers, type Finished, type PageStage } from "../support/dead-page.ts";
import { runPage } from "../support/dead-page-course.ts";
import { checked } from "../support/examples.ts";
import { deploy, standard } from "../support/servicebus/deployed-system.ts";

const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers };

async function open(finished: Finished): Promise<PageStage> {
  const { lab, contract, publish } = await deploy(finished, consumers);
  const { connectionString, managementConnectionString } = lab.emulator;
  const { workQueue, deadQueue, parkedQueue } = contract("billing");
  const queues = { work: workQueue, dead: deadQueue, parked: parkedQueue };
  const example = "Endpoint=sb://my-namespace.servicebus.windows.net/;SharedAccessKeyName=…;SharedAccessKey=…";
  return {
    broker: "servicebus",
    declaration: shop,
    replaced: { [example]: connectionString },
    environment: {},
    publish: async (bodies) => {
      const messages = bodies.map((body) => ({ body, messageId: randomUUID(), subject: "order.placed" }));
      await publish(...messages);
    },
    consume: async (handler, log) => {
      const connection = { connectionString, managementConnectionString };
      return consume(checked(shop), "billing", { target: standard, connection, log }, handler);
    },
    count: async (queue) => {
      const client = createClient({ connectionString });
      const receiver = createReceiver(client, String(queues[queue]));
      let all = 0;
      for (let page = 1; page > 0; all += page) page = (await receiver.peekMessages(250)).length;
      await client.close();
      return all;
    },
  };
}

runPage("servicebus", open);
