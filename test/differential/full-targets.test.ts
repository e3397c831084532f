import { setTimeout as sleep } from "node:timers/promises";
import type { ConfirmChannel } from "amqplib";
import amqplib from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";

import type { Arguments, BrokerTopology, MessageState } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { type Broker, brokers, createVhost } from "../support/live.ts";
import { only } from "./predict.ts";
import { semanticsVersionOfBroker } from "./run-batch.ts";

const safely: Arguments = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };

function topologyOf(kind: "classic" | "quorum", overflow: string, strategy: Arguments): BrokerTopology {
  return {
    exchanges: [],
    bindings: [],
    policies: [],
    queues: [
      { name: "more", kind: "classic", arguments: { "x-queue-type": "classic" } },
      {
        name: "dead",
        kind,
        arguments: {
          "x-queue-type": kind,
          "x-max-length": 1,
          "x-overflow": overflow,
          "x-dead-letter-exchange": "",
          "x-dead-letter-routing-key": "more",
        },
      },
      {
        name: "work",
        kind: "quorum",
        arguments: {
          "x-queue-type": "quorum",
          "x-dead-letter-exchange": "",
          "x-dead-letter-routing-key": "dead",
          ...strategy,
        },
      },
    ],
  };
}

/** Fills the dead queue until it refuses, then lets a message die into it. Returns the growth of each queue. */
async function observe(broker: Broker, topology: BrokerTopology): Promise<Readonly<Record<string, number>>> {
  const { amqpUrl, dispose } = await createVhost(broker);
  const connection = await amqplib.connect(amqpUrl);
  onTestFinished(async () => {
    await connection.close();
    await dispose();
  });
  const channel = await connection.createConfirmChannel();
  for (const { name, arguments: given } of topology.queues)
    await channel.assertQueue(name, { durable: true, arguments: given });
  // A quorum queue accepts one message above its limit before it tells its publishers.
  while (await isTaken(channel, "dead")) await sleep(50);
  const before = await countReady(channel, topology);
  await isTaken(channel, "work");
  for (let message = await channel.get("work"); ; message = await channel.get("work")) {
    if (message === false) continue;
    channel.nack(message, false, false);
    break;
  }
  await sleep(700);
  const after = await countReady(channel, topology);
  return Object.fromEntries(Object.keys(after).map((queue) => [queue, (after[queue] ?? 0) - (before[queue] ?? 0)]));
}

async function isTaken(channel: ConfirmChannel, queue: string): Promise<boolean> {
  return new Promise((resolve) => {
    channel.publish("", queue, Buffer.from("message"), { persistent: true }, (error) => resolve(error === null));
  });
}

async function countReady(
  channel: ConfirmChannel,
  { queues }: BrokerTopology,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { name } of queues) counts[name] = (await channel.checkQueue(name)).messageCount;
  return counts;
}

function expectedGrowth(topology: BrokerTopology, copies: readonly MessageState[]): Readonly<Record<string, number>> {
  const isReadyIn = (copy: MessageState, queue: string): boolean =>
    copy.place.kind === "queue" && copy.place.status === "ready" && copy.place.queue === queue;
  return Object.fromEntries(
    topology.queues.map(({ name }) => [name, copies.filter((copy) => isReadyIn(copy, name)).length]),
  );
}

describe.each(brokers())("a full target on RabbitMQ $fullVersion", (broker) => {
  test.each([
    { kind: "classic", overflow: "reject-publish", strategy: {}, growth: { more: 0, dead: 0, work: 0 } },
    { kind: "classic", overflow: "reject-publish", strategy: safely, growth: { more: 0, dead: 0, work: 0 } },
    { kind: "classic", overflow: "reject-publish-dlx", strategy: {}, growth: { more: 1, dead: 0, work: 0 } },
    { kind: "classic", overflow: "reject-publish-dlx", strategy: safely, growth: { more: 1, dead: 0, work: 0 } },
    { kind: "quorum", overflow: "reject-publish", strategy: {}, growth: { more: 0, dead: 1, work: 0 } },
    { kind: "quorum", overflow: "reject-publish", strategy: safely, growth: { more: 0, dead: 0, work: 0 } },
  ] as const)("$kind, $overflow, $strategy", async ({ kind, overflow, strategy, growth }) => {
    const topology = topologyOf(kind, overflow, strategy);
    const semantics = semanticsOf(topology, semanticsVersionOfBroker(broker));
    const [published] = only(semantics.publish({ exchange: "", routingKey: "work" }));
    const [delivered] = only(semantics.step(published as MessageState, { kind: "deliver" }));
    const full = { fullQueues: new Set(["dead"]) };
    const copies = only(semantics.step(delivered as MessageState, { kind: "nack", requeue: false }, full));
    expect(expectedGrowth(topology, copies)).toEqual(growth);
    expect(await observe(broker, topology)).toEqual(growth);
  });
});
