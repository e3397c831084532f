import { describe, expect, test } from "vitest";

import { type DeadLetterDescription, describeDeadLetter } from "../../src/consume/dead-letter/describe.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { drive, type Ending } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { strategiesOn, type Strategy } from "../support/strategies.ts";
import { connectByAmqp10 } from "../support/connect-amqp-1-0.ts";

/** Where the broker counts failures and crashes together, a declaration cannot give crashes their own budget. */
const hasCrashBudget = (strategy: Strategy): boolean => strategy === "staged" || strategy === "waits";

function declare(strategy: Strategy): object {
  const billing = {
    from: { orders: "all" },
    retry: { attempts: 2, backoff: { kind: "constant", delay: "300ms" } },
    ...(hasCrashBudget(strategy) ? { crash: { deliveries: 3 } } : {}),
    ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
  };
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
}

/** Sends one message for each way to die, named after it, and waits until all are in the dead queue. */
async function letThemDie(system: DeployedSystem, endings: readonly Ending[]): Promise<void> {
  const contract = system.contract("billing");
  await system.publish(endings, { exchange: "shop.orders", routingKey: "order.placed" });
  const consumer = await drive({ url: system.url, contract, decide: ({ id }) => id as Ending });
  await until(60_000, async () => {
    const { messageCount } = await system.channel.checkQueue(contract.deadQueue ?? "");
    return messageCount === endings.length;
  });
  await consumer.stop();
}

/** Reads the messages of a queue with an AMQP 1.0 client. They stay in the queue. */
async function receiveByRhea({ url, channel }: DeployedSystem, queue: string, count: number): Promise<unknown[]> {
  const connection = connectByAmqp10(url);
  const letters: unknown[] = [];
  connection.on("message", ({ message }: { message: unknown }) => letters.push(message));
  connection.open_receiver({ source: `/queues/${encodeURIComponent(queue)}`, credit_window: 10, autoaccept: false });
  try {
    await until(30_000, () => letters.length === count);
  } finally {
    const closed = new Promise((resolve) => connection.once("connection_close", resolve));
    connection.close();
    await closed;
  }
  // The broker requeues them a moment after the connection has closed.
  await until(30_000, async () => (await channel.checkQueue(queue)).messageCount === count);
  return letters;
}

/** The description of each letter, without its times. */
const byId = (descriptions: readonly DeadLetterDescription[]) =>
  Object.fromEntries(
    descriptions.map(({ "dlq-original-message-id": id, "dlq-failure-timestamp": _at, ...rest }) => [id, rest]),
  );

for (const broker of brokers()) {
  describe.concurrent(`dead letters of RabbitMQ ${broker.fullVersion}`, () => {
    test.for(strategiesOn(broker.version))("show why they died: %s", async (strategy) => {
      const startedAt = Date.now();
      const system = await deploy(broker, declare(strategy), strategy);
      try {
        await letThemDie(system, ["transient", "permanent", "crash"]);
        const contract = system.contract("billing");
        const queue = contract.deadQueue ?? "";
        const speaksAmqp10 = !broker.version.startsWith("3.");
        const byAmqp10 = speaksAmqp10 ? await receiveByRhea(system, queue, 3) : [];
        const letters = await system.drain(queue);

        const original = { "dlq-original-queue": "shop.billing" };
        const exhausted = { ...original, "dlq-failure-reason": "ATTEMPTS_EXHAUSTED" };
        const attempts = { "dlq-retry-count": "2" };
        const expected = {
          // Under `deferred` the consumer writes the attempts itself. This one writes only the headers that the
          // contract asks for.
          transient: strategy === "deferred" ? exhausted : { ...exhausted, ...attempts },
          permanent: { ...original, "dlq-failure-reason": "PERMANENT_FAILURE" },
          crash:
            strategy === "native"
              ? { ...exhausted, ...attempts }
              : { ...original, "dlq-failure-reason": "CRASH_LIMIT" },
        };
        for (const received of speaksAmqp10 ? [letters, byAmqp10] : [letters]) {
          const described = received.map((letter) => describeDeadLetter(letter, contract));
          expect(byId(described)).toEqual(expected);
          for (const { "dlq-failure-timestamp": at } of described) {
            if (at === undefined) continue;
            // `x-death` has whole seconds, and the broker's clock is close to this machine's.
            expect(Date.parse(at)).toBeGreaterThan(startedAt - 60_000);
            expect(Date.parse(at)).toBeLessThan(Date.now() + 60_000);
          }
          // Without the contract, a rejection can mean the last attempt or a permanent failure.
          const alone = byId(received.map((letter) => describeDeadLetter(letter)));
          expect(alone["permanent"]?.["dlq-failure-reason"]).toBe(
            strategy === "native" ? undefined : "PERMANENT_FAILURE",
          );
          expect(alone["crash"]).toEqual(original);
        }
      } finally {
        await system.dispose();
      }
    });

    test("of a full queue, and of expired messages, show it without a contract", async () => {
      const system = await deploy(broker, declare("waits"), "waits");
      try {
        const { channel } = system;
        const dead = { deadLetterExchange: "", deadLetterRoutingKey: "dead" };
        await channel.assertQueue("dead");
        await channel.assertQueue("full", { ...dead, maxLength: 1 });
        await channel.assertQueue("slow", { ...dead, messageTtl: 1 });
        for (const [queue, messageId] of [
          ["full", "first"],
          ["full", "second"],
          ["slow", "late"],
        ] as const)
          channel.sendToQueue(queue, Buffer.from("{}"), { messageId });
        await channel.waitForConfirms();
        await until(30_000, async () => (await channel.checkQueue("dead")).messageCount === 2);
        const letters = await system.drain("dead");
        const described = letters.map((letter) => describeDeadLetter(letter, system.contract("billing")));
        expect(byId(described)).toEqual({
          first: { "dlq-original-queue": "full", "dlq-failure-reason": "QUEUE_OVERFLOW" },
          late: { "dlq-original-queue": "slow", "dlq-failure-reason": "EXPIRED" },
        });
        expect(described.every((each) => each["dlq-failure-timestamp"] !== undefined)).toBe(true);
      } finally {
        await system.dispose();
      }
    });
  });
}
