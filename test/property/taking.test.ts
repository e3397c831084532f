import type { Channel, ConsumeMessage } from "amqplib";
import fc from "fast-check";
import { expect, test } from "vitest";

import { createTaking } from "../../src/brokers/rabbitmq/run/amqp-0-9-1/taking.ts";
import { forAllAsync } from "../support/for-all.ts";

/**
 * A broker with more messages than its clients take. It counts the prefetch for each consumer, and executes commands
 * late.
 */
function createBroker() {
  const consumers = new Map<string, { prefetch: number; take: (message: ConsumeMessage) => void }>();
  const unsettled = new Map<number, string>();
  /** Commands that it has received and not executed yet, in order. */
  const told: (() => void)[] = [];
  let prefetch = 0;
  let tags = 0;
  const later = <Value>(done: () => Value): Promise<Value> =>
    new Promise((resolve) => {
      told.push(() => resolve(done()));
    });
  const give = (): boolean => {
    for (const [tag, consumer] of consumers) {
      const held = [...unsettled.values()].filter((each) => each === tag).length;
      if (held >= consumer.prefetch) continue;
      tags += 1;
      unsettled.set(tags, tag);
      consumer.take({ fields: { deliveryTag: tags, consumerTag: tag } } as ConsumeMessage);
      return true;
    }
    return false;
  };
  const channel = {
    prefetch: (count: number) =>
      later(() => {
        prefetch = count;
      }),
    consume: (_: string, take: (message: ConsumeMessage) => void, { consumerTag }: { readonly consumerTag: string }) =>
      later(() => {
        // RabbitMQ treats 0 as no limit.
        consumers.set(consumerTag, { prefetch: prefetch === 0 ? Number.POSITIVE_INFINITY : prefetch, take });
        return { consumerTag };
      }),
    cancel: (tag: string) => later(() => consumers.delete(tag)),
  };
  return {
    channel: channel as unknown as Channel,
    unsettled,
    /** Tells the broker that a message is settled. */
    settle: (message: ConsumeMessage) => told.push(() => unsettled.delete(message.fields.deliveryTag)),
    /** Gives one message to a consumer with room for one. */
    give,
    /** Executes one command. @returns whether there are more */
    work: async () => {
      told.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      return told.length > 0;
    },
    consumers: () => consumers.size,
  };
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: "give" as const }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("settle" as const), which: fc.nat() }) },
  { weight: 5, arbitrary: fc.constant({ kind: "work" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "pause" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "probe" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "resume" as const }) },
);

test("after any pauses, probes and resumptions, the messages in hand never exceed the handlers, and reach their number in the end", async () => {
  const course = fc.record({
    concurrency: fc.integer({ min: 1, max: 12 }),
    steps: fc.array(step, { maxLength: 160, size: "max" }),
  });
  await forAllAsync(400, [course], async ({ concurrency, steps }) => {
    const broker = createBroker();
    const inHand: ConsumeMessage[] = [];
    const unexpected = (cause: unknown): never => {
      throw cause;
    };
    const taking = createTaking({
      channel: broker.channel,
      queue: "shop.billing",
      concurrency,
      acceptsWithinMs: 60_000,
      late: () => new Error("late"),
      delivered: (message) => {
        inHand.push(message);
      },
      lost: unexpected,
    });
    const settle = (which: number): void => {
      const [message] = inHand.splice(which % Math.max(1, inHand.length), 1);
      if (message === undefined) return;
      broker.settle(message);
      taking.settled(message);
    };
    for (const each of steps) {
      if (each.kind === "give") broker.give();
      else if (each.kind === "settle") settle(each.which);
      else if (each.kind === "work") await broker.work();
      else if (each.kind === "pause") taking.pause().catch(unexpected);
      else taking.resume(each.kind === "probe" ? 1 : concurrency).catch(unexpected);
      // A message counts until the broker has executed its settlement.
      expect(inHand.length).toBeLessThanOrEqual(concurrency);
      expect(broker.unsettled.size).toBeLessThanOrEqual(concurrency);
    }
    // After any course, once the older messages are settled, all handlers have work, and few AMQP consumers are open.
    taking.resume(concurrency).catch(unexpected);
    while (await broker.work());
    while (inHand.length > 0) settle(0);
    while (await broker.work());
    while (broker.give());
    expect(inHand).toHaveLength(concurrency);
    expect(broker.consumers()).toBeLessThanOrEqual(6);
    taking.pause().catch(unexpected);
    while (await broker.work());
    expect(broker.give()).toBe(false);
  });
});
