import { setTimeout } from "node:timers/promises";

import amqplib from "amqplib";
import { expect, test } from "vitest";

import { lockNameOf } from "../../src/brokers/rabbitmq/compile/permissions.ts";
import { ask } from "../support/dead-command.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { deadQueue, fill, stage, workQueue } from "../support/dead-stage.ts";
import { brokers } from "../support/live.ts";

ownJournal();

test.each(brokers())("letters of $version are taken once a command that has just ended is gone", async (broker) => {
  const system = await stage(broker);
  await fill(system, deadQueue, 5);
  const ended = await amqplib.connect(system.url);
  await (await ended.createChannel()).assertQueue(lockNameOf(deadQueue), { exclusive: true, durable: false });
  const parking = ask(system, "park", "--into", workQueue, "--why", "w", "--confirm", "5");
  await setTimeout(1_500);
  await ended.close();
  expect((await parking).code).toBe(0);
  expect(await system.count(workQueue)).toBe(5);
});
