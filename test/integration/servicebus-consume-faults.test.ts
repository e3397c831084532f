import type { ServiceBusReceivedMessage } from "@azure/service-bus";
import { waitUntil } from "@redeliver/servicebus-emulator";
import { consume, describeDeadLetter } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { RefusedError } from "../../src/index.ts";
import { startProcess } from "../support/servicebus/consumer-process.ts";
import { deployConsumed, messageOf } from "../support/servicebus/consuming.ts";

const constant = { kind: "constant", delay: "200ms" } as const;

describe.concurrent("consume on Service Bus, with faults", () => {
  test("a killed process leaves its message to the lock; a crash costs no attempt, and several kill the message", async (context) => {
    const system = await deployConsumed(context.onTestFinished, {
      retry: { attempts: 3, backoff: constant },
      crash: { deliveries: 2 },
    });
    await system.publish(messageOf("poison"));
    for (const crash of [1, 2]) {
      const child = startProcess(system, context.onTestFinished);
      await waitUntil(() => child.lines.includes("began poison 1"));
      child.kill("SIGKILL");
      await child.ended;
      expect(await system.letters("billing"), `crash ${crash}`).toEqual([]);
    }
    await waitUntil(async () => (await system.letters("billing")).length === 1);
    const [letter] = await system.letters("billing");
    expect(letter?.deadLetterReason).toBe("MaxDeliveryCountExceeded");
    expect(describeDeadLetter(letter, system.contract("billing"))["dlq-failure-reason"]).toBe("CRASH_LIMIT");
  });

  test.for([-5_000, 0, 5_000])(
    "no retry is early by more than a delivery took if the consumer's clock is wrong by %i ms",
    async (offsetMs, { onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, {
        retry: { attempts: 4, backoff: { kind: "constant", delay: "700ms" } },
      });
      const child = startProcess(system, onTestFinished, offsetMs);
      await system.publish(messageOf("fails"));
      await waitUntil(async () => (await system.letters("billing")).length === 1);
      const failures = child.lines
        .filter((line) => line.startsWith("failed "))
        .map((line) => line.split(" ").map(Number));
      expect(failures).toHaveLength(4);
      const { lockMs } = system.contract("billing").receive;
      // The consumer learns the clock of Service Bus by each delivery, as exactly as the time that the delivery took.
      let fastestMs = Infinity;
      for (const [index, [, atMs = Number.NaN, lockLeftMs = Number.NaN]] of failures.entries()) {
        const [, failedAtMs = -Infinity] = failures[index - 1] ?? [];
        const earlyMs = offsetMs < 0 ? fastestMs : 0;
        expect(atMs - failedAtMs, `retry ${index}`).toBeGreaterThanOrEqual(700 - earlyMs);
        // Both clocks round down.
        fastestMs = Math.min(fastestMs, lockMs - lockLeftMs + 1);
      }
    },
  );

  test("under immediate a killed process has spent an attempt, and after the last one its message is dead", async (context) => {
    const immediate = { retry: { attempts: 2, backoff: { kind: "immediate" } } };
    const system = await deployConsumed(context.onTestFinished, immediate, { strategy: "immediate" });
    await system.publish(messageOf("poison"));
    for (const attempt of [1, 2]) {
      const child = startProcess(system, context.onTestFinished);
      await waitUntil(() => child.lines.includes(`began poison ${attempt}`));
      expect(await system.letters("billing"), `attempt ${attempt}`).toEqual([]);
      child.kill("SIGKILL");
      await child.ended;
    }
    await waitUntil(async () => (await system.letters("billing")).length === 1);
    const [letter] = await system.letters("billing");
    expect(letter?.deadLetterReason).toBe("MaxDeliveryCountExceeded");
    expect(describeDeadLetter(letter, system.contract("billing"))["dlq-failure-reason"]).toBe("ATTEMPTS_EXHAUSTED");
    expect(await system.lab.peek("shop.billing")).toEqual([]);
  });

  test("a process that is told to stop returns its unfinished messages at once, and ends", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 3, backoff: constant } });
    await system.publish(messageOf("long"));
    const child = startProcess(system, context.onTestFinished);
    await waitUntil(() => child.lines.includes("began long 1"));
    child.kill("SIGTERM");
    await child.ended;
    expect(child.lines.at(-1)).toBe("stopped");
    const [message] = await system.lab.receive(system.lab.receiver("shop.billing"));
    expect(message).toMatchObject({ messageId: "long", deliveryCount: 0 });
    expect(message?.applicationProperties?.["redeliver-attempt"]).toBeUndefined();
  });

  test("a stop waits for running handlers, and returns messages whose handlers have not begun", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 3, backoff: constant } });
    let end = (): void => undefined;
    const consumer = await system.consuming(
      () =>
        new Promise((resolve) => {
          end = resolve;
        }),
      { concurrency: 1 },
    );
    await system.publish(messageOf("first"), messageOf("second"));
    await waitUntil(() => consumer.runs.length === 1);
    const stopped = consumer.stop("30s");
    await waitUntil(() => consumer.health().state === "stopping");
    end();
    await stopped;
    expect(consumer.runs).toHaveLength(1);
    expect(await system.lab.peek("shop.billing")).toMatchObject([{ messageId: "second", deliveryCount: 0 }]);
  });

  test("a message with a lost lock is dropped: the refusal is reported, and nothing is repeated", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 3, backoff: constant } });
    const stranger = system.lab.receiver("shop.billing");
    const consumer = await system.consuming(async ({ raw }) => {
      // Any client with the lock token can settle the message. The consumer then no longer has the lock.
      if (runs() === 1) await stranger.abandonMessage(raw as ServiceBusReceivedMessage);
    });
    const runs = (): number => consumer.runs.length;
    await system.publish(messageOf("late"));
    // Either may come first: one waits for a refusal, the other for a delivery.
    const kinds = (): readonly string[] => consumer.events.map(({ kind }) => kind);
    await waitUntil(() => kinds().includes("settled") && kinds().includes("settle-dropped"));
    await consumer.stop();
    expect(consumer.attemptsOf("late")).toEqual([1, 1]);
    expect(kinds().filter((kind) => kind.startsWith("settle"))).toHaveLength(2);
    expect(kinds()).not.toContain("settle-failed");
  });

  test("dropped connections among many messages lose none, and the second runs are counted", async (context) => {
    const system = await deployConsumed(context.onTestFinished, {
      retry: { attempts: 4, backoff: constant },
      crash: { deliveries: 10 },
    });
    const bodies = Array.from({ length: 300 }, (_, index) => `m${index}`);
    const done = new Set<string>();
    const consumer = await system.consuming(
      async ({ body }, { number }) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (number === 1 && Number(body.slice(1)) % 3 === 0) throw new Error("not yet");
        done.add(body);
      },
      { concurrency: 20, breaker: false },
    );
    await system.publish(...bodies.map(messageOf));
    for (const count of [50, 120, 200]) {
      await waitUntil(() => done.size >= count);
      system.lab.emulator.dropConnections();
    }
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
    await consumer.stop();
    expect(done.size).toBe(bodies.length);
    expect(await system.letters("billing")).toEqual([]);
    // At each of three drops the consumer held twenty messages. The copy of a message that failed twice makes another.
    const wanted = bodies.length + bodies.length / 3;
    expect(consumer.runs.length - wanted).toBeLessThanOrEqual(2 * 3 * 20);
    expect(consumer.runs.length).toBeGreaterThanOrEqual(wanted);
  });

  test("the consumer waits out an outage, logs it, and handles the messages published meanwhile", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 2, backoff: constant } });
    const consumer = await system.consuming(() => undefined);
    await system.lab.emulator.goOffline();
    await waitUntil(() => consumer.events.some(({ kind }) => kind === "reconnect-failed"));
    expect(consumer.health()).toMatchObject({ state: "reconnecting", isTaking: false });
    await system.lab.emulator.goOnline();
    await waitUntil(() => consumer.health().isTaking);
    await system.publish(messageOf("after"));
    await waitUntil(() => consumer.events.some(({ kind }) => kind === "settled"));
    expect(consumer.attemptsOf("after")).toEqual([1]);
  });
});

describe.concurrent("consume on Service Bus, refused at the start", () => {
  const codes = async (start: Promise<unknown>): Promise<readonly string[]> => {
    const error = await start.then(
      () => null,
      (cause: unknown) => cause,
    );
    if (!(error instanceof RefusedError)) throw new Error("it was not refused", { cause: error });
    return error.diagnostics.map(({ code, path, notes }) => [code, path, ...(notes ?? [])].join(" | "));
  };

  test("a missing or different entity is named with both values, and no message is taken", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 2, backoff: constant } });
    const { administration } = system.lab;
    const start = (): Promise<unknown> => system.consuming(() => undefined);
    await system.publish(messageOf("kept"));
    const queue = await administration.getQueue("shop.billing");
    await administration.updateQueue({ ...queue, maxDeliveryCount: 9, deadLetteringOnMessageExpiration: false });
    expect(await codes(start())).toEqual([
      "RD808 | shop.billing | maxDeliveryCount is 9; compiled is 2 | deadLetterOnExpiration is false; compiled is true",
    ]);
    await administration.updateQueue(queue);
    await administration.createRule("shop.orders", "billing", "more", { subject: "price.changed" });
    expect(await codes(start())).toEqual([
      'RD808 | shop.orders/Subscriptions/billing | rule more is subject = "price.changed"; compiled is not there',
    ]);
    await administration.deleteSubscription("shop.orders", "billing");
    expect(await codes(start())).toEqual(["RD805 | shop.orders/Subscriptions/billing"]);
    expect(await system.lab.peek("shop.billing")).toMatchObject([{ messageId: "kept", deliveryCount: 0 }]);
    await administration.deleteQueue("shop.billing");
    expect(await codes(start())).toEqual(["RD805 | shop.billing"]);
  });

  test("an unreachable connection string, and a malformed one", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, { retry: { attempts: 2, backoff: constant } });
    const start = (connection: unknown): Promise<unknown> =>
      consume(system.declared, "billing", { ...system.options, connection: connection as never }, () => undefined);
    const { connectionString } = system.lab.emulator;
    expect(await codes(start({ connectionString: connectionString.replace(/:\d+/, ":1") }))).toEqual([
      "RD804 | options.connection",
    ]);
    for (const connection of [{}, { connectionString: "amqp://localhost" }, { fullyQualifiedNamespace: "shop" }])
      expect((await codes(start(connection)))[0]).toMatch(/^RD802 \| options.connection/);
  });

  test("settings that cannot be read do not stop the consumer, and are logged", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, { retry: { attempts: 2, backoff: constant } });
    const { connectionString } = system.lab.emulator;
    const managementConnectionString = connectionString.replace(/:\d+/, ":1");
    const connection = { connectionString, managementConnectionString };
    const consumer = await system.consuming(() => undefined, { connection });
    expect(consumer.events[0]).toMatchObject({ kind: "not-compared" });
    await system.publish(messageOf("one"));
    await waitUntil(() => consumer.runs.length === 1);
  });
});
