import amqplib from "amqplib";
import type { ChannelModel, ConfirmChannel } from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";

import { sleep, until } from "../support/deployed-system.ts";
import { brokers, createVhost } from "../support/live.ts";

// Each test shows a trap on the broker, with a hand-written topology. behaviour.test.ts shows on the same brokers that
// no strategy of ours has it: messages that always crash, always fail, or crash after failures end in the dead queue.

const safe = { "x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };

interface HandWritten {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
}

/** A work queue dead-letters to a wait queue, and the wait queue dead-letters back: the recipe of many tutorials. */
async function handWritten(
  broker: Parameters<typeof createVhost>[0],
  workArguments: Record<string, unknown>,
): Promise<HandWritten> {
  const { amqpUrl, dispose } = await createVhost(broker);
  const connection = await amqplib.connect(amqpUrl);
  onTestFinished(async () => {
    await connection.close();
    await dispose();
  });
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue("wait", {
    durable: true,
    arguments: { ...safe, "x-message-ttl": 100, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work" },
  });
  await channel.assertQueue("work", {
    durable: true,
    arguments: { ...safe, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "wait", ...workArguments },
  });
  channel.sendToQueue("work", Buffer.from("poison"), { messageId: "poison", persistent: true });
  await channel.waitForConfirms();
  return { connection, channel };
}

/** Takes one delivery and dies with it. @returns whether a delivery came within the time */
async function crashOnce(connection: ChannelModel, waitMs: number): Promise<boolean> {
  const channel = await connection.createChannel();
  let delivered = false;
  await channel.prefetch(1);
  await channel.consume("work", () => {
    delivered = true;
  });
  await until(waitMs, () => delivered).catch(() => undefined);
  await channel.close();
  return delivered;
}

/**
 * Lets a consumer return every delivery, until there are so many and for a second more.
 *
 * @returns the number of deliveries
 */
async function returnsUntil(connection: ChannelModel, most: number): Promise<number> {
  const channel = await connection.createChannel();
  let deliveries = 0;
  await channel.prefetch(1);
  await channel.consume("work", (message) => {
    if (message === null) return;
    deliveries++;
    channel.nack(message, false, true);
  });
  await until(60_000, () => deliveries >= most);
  await sleep(1_000);
  await channel.close();
  return deliveries;
}

async function depth(channel: ConfirmChannel, queue: string): Promise<number> {
  return (await channel.checkQueue(queue)).messageCount;
}

/**
 * Waits for a number of messages in the work and wait queues together. A message on its way between them is in neither
 * for a moment.
 */
async function depthOfBoth(channel: ConfirmChannel, wanted: number): Promise<void> {
  await until(20_000, async () => (await depth(channel, "work")) + (await depth(channel, "wait")) === wanted);
}

describe.each(brokers())("on $fullVersion", (broker) => {
  test("a consumer that crashes in front of a wait queue loses the message", async () => {
    const { connection, channel } = await handWritten(broker, { "x-delivery-limit": 2 });
    let deliveries = 0;
    while (deliveries < 10 && (await crashOnce(connection, 20_000))) deliveries++;
    expect(deliveries).toBe(3);
    await depthOfBoth(channel, 0);
  });

  test("a consumer that rejects in front of a wait queue gets it for ever", async () => {
    const { connection, channel } = await handWritten(broker, {});
    const worker = await connection.createChannel();
    let rounds = 0;
    await worker.consume("work", (message) => {
      if (message === null) return;
      rounds++;
      worker.nack(message, false, false);
    });
    await until(30_000, () => rounds >= 10);
    await worker.close();
    await depthOfBoth(channel, 1);
  });

  test("endless returns are a hot loop on 4.3 and end at the limit before", async () => {
    const { connection } = await handWritten(broker, { "x-delivery-limit": 2, "x-dead-letter-routing-key": "nowhere" });
    const isHot = broker.version === "4.3";
    const deliveries = await returnsUntil(connection, isHot ? 100 : 3);
    expect(isHot ? deliveries > 100 : deliveries === 3, String(deliveries)).toBe(true);
  });

  test("a crash after an earlier rejection loses the message from 4.0 on, and loops for ever on 3.10", async () => {
    const { connection, channel } = await handWritten(broker, { "x-delivery-limit": 1 });
    const worker = await connection.createChannel();
    let rejected = false;
    await worker.consume("work", (message) => {
      if (message === null || rejected) return;
      rejected = true;
      worker.nack(message, false, false);
    });
    await until(60_000, () => rejected);
    await worker.close();
    let deliveries = 0;
    while (deliveries < 12 && (await crashOnce(connection, 20_000))) deliveries++;
    expect(deliveries).toBe(broker.version === "3.10" ? 12 : 2);
    await depthOfBoth(channel, broker.version === "3.10" ? 1 : 0);
  });

  // A queue has 32 dead letters on their way at a time.
  test.for([
    { stuck: 31, passing: 5 },
    { stuck: 32, passing: 0 },
  ])("$stuck messages without a route let $passing others pass", async ({ stuck, passing }) => {
    const { channel } = await handWritten(broker, {
      "x-dead-letter-exchange": "amq.direct",
      "x-dead-letter-routing-key": undefined,
    });
    await channel.assertQueue("dead", { durable: true, arguments: { "x-queue-type": "quorum" } });
    await channel.bindQueue("dead", "amq.direct", "known");
    await channel.purgeQueue("work");
    await channel.bindQueue("work", "amq.topic", "#");
    for (let index = 0; index < stuck; index++) channel.publish("amq.topic", "unknown", Buffer.from("stuck"));
    for (let index = 0; index < 5; index++) channel.publish("amq.topic", "known", Buffer.from("behind"));
    await channel.waitForConfirms();
    for (let index = 0; index < stuck + 5; index++) {
      const message = await channel.get("work");
      if (message !== false) channel.nack(message, false, false);
    }
    await until(20_000, async () => (await depth(channel, "dead")) >= passing);
    await sleep(1_500);
    expect(await depth(channel, "dead")).toBe(passing);
    // Every reason has a route in our topology: test/property/rabbitmq.test.ts shows it.
  });
});
