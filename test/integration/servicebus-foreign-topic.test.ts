import { startLab, waitUntil } from "@redeliver/servicebus-emulator";
import { expect, test } from "vitest";

import { consume, type Handler, type Running } from "../../src/consume/index.ts";
import { checked } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { registerServicebus } from "../support/servicebus/register.ts";

// Another team made the topic, with settings of its own. Two systems subscribe to it and do not know each other.

const target = { broker: "servicebus", sku: "standard", lock: "10s" } as const;
const topic = "events";
const sources = { orders: { kind: "topic", name: topic, owner: "other" } } as const;
const systemOf = (name: string, keys: "all" | readonly string[]) =>
  checked({
    name,
    sources,
    consumers: { billing: { from: { orders: keys }, retry: { attempts: 2, backoff: { kind: "immediate" } } } },
  });

test("a topic of another team serves two systems", async ({ onTestFinished }) => {
  const lab = await startLab(onTestFinished, { sku: target.sku });
  const { administration, emulator } = lab;
  await administration.createTopic(topic, { requiresDuplicateDetection: true });
  const before = await administration.getTopic(topic);
  const runs: string[] = [];
  const start = async (system: ReturnType<typeof systemOf>): Promise<Running> => {
    const { connectionString, managementConnectionString } = emulator;
    const connection = { connectionString, managementConnectionString };
    const handler: Handler<string> = ({ body }, { number }) => {
      runs.push(`${system.name} ${body} ${number}`);
      throw new Error("the bank is down");
    };
    const running = await consume<"servicebus", string>(
      system,
      "billing",
      { target, connection, body: "text" },
      handler,
    );
    onTestFinished(async () => running.stop("0ms"));
    return running;
  };
  for (const system of [systemOf("shop", "all"), systemOf("store", ["order.placed"])]) {
    const { resources } = await inTurn(async () => registerServicebus(system, target));
    await applyToEmulator(administration, resources, target.sku);
    await start(system);
  }
  const sender = lab.client.createSender(topic);
  for (const key of ["order.placed", "order.cancelled"])
    await sender.sendMessages({ body: Buffer.from(key), messageId: key, subject: key });
  await waitUntil(async () => (await lab.peek("shop.billing/$DeadLetterQueue")).length === 2);
  await waitUntil(async () => (await lab.peek("store.billing/$DeadLetterQueue")).length === 1);
  expect(runs.toSorted()).toEqual([
    "shop order.cancelled 1",
    "shop order.cancelled 2",
    "shop order.placed 1",
    "shop order.placed 2",
    "store order.placed 1",
    "store order.placed 2",
  ]);
  const { _response: _told, ...after } = await administration.getTopic(topic);
  expect(before).toMatchObject(after);

  await administration.deleteTopic(topic);
  await expect(start(systemOf("shop", "all"))).rejects.toThrow(`there is no topic ${topic}`);
});
