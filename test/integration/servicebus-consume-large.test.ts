import { waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { describeDeadLetter, permanent } from "../../src/consume/index.ts";
import type { ServicebusTargetInput } from "../support/servicebus/register.ts";
import { type ConsumedSystem, deployConsumed } from "../support/servicebus/consuming.ts";

const retry = { attempts: 3, backoff: { kind: "steps", delays: ["300ms", "600ms"] } };
const premium: Partial<ServicebusTargetInput> = { sku: "premium" };
const failing = (): never => {
  throw new Error("the card was declined");
};
const kilobyte = "x".repeat(1_000);

/** Sends each message alone: a batch repeats the properties of its first message. */
async function publish({ lab }: ConsumedSystem, message: object): Promise<void> {
  const sender = lab.client.createSender("shop.orders");
  await sender.sendMessages({ body: "", messageId: "1", subject: "a", ...message });
  await sender.close();
}

/** Counting transfers no message. */
async function oneIsDead({ lab: { administration } }: ConsumedSystem): Promise<void> {
  const count = async () => (await administration.getQueueRuntimeProperties("shop.billing")).deadLetterMessageCount;
  await waitUntil(async () => (await count()) === 1);
}

/** In the premium tier each entity has its own limit on message size. */
async function allow({ lab: { administration } }: ConsumedSystem, maxMessageSizeInKilobytes: number): Promise<void> {
  for (const name of ["shop.billing"])
    await administration.updateQueue({ ...(await administration.getQueue(name)), maxMessageSizeInKilobytes });
  await administration.updateTopic({ ...(await administration.getTopic("shop.orders")), maxMessageSizeInKilobytes });
}

/** Messages that the tier accepts and whose copies fit, too. */
const fitting = [
  {
    name: "2 MB in the premium tier",
    target: premium,
    bytes: 2_000_000,
    properties: { own: kilobyte },
    kilobytes: 4_096,
  },
  { name: "200 KB in the standard tier", target: {}, bytes: 200_000, properties: {} },
  { name: "255 KB with properties in the standard tier", target: {}, bytes: 255_000, properties: { own: kilobyte } },
  { name: "1 MB less 2 KB in the premium tier", target: premium, bytes: 1_046_528, properties: { own: kilobyte } },
  {
    name: "nothing, with 63 KB of properties",
    target: {},
    bytes: 0,
    properties: { a: "x".repeat(31_900), b: "x".repeat(31_900) },
  },
];

/** Properties of this total size, each small enough. */
function full(bytes: number): Readonly<Record<string, string>> {
  return { a: "x".repeat(32_000), b: "x".repeat(32_000), c: "x".repeat(bytes - 64_000) };
}

/** Messages that the tier accepts and whose copies are too large for it. */
const tooLarge = [
  { name: "262 000 bytes in the standard tier", target: {}, message: { body: Buffer.alloc(262_000) } },
  { name: "1 MB in the premium tier", target: premium, message: { body: Buffer.alloc(1_048_500) } },
  {
    name: "2 MB in the premium tier, where the entity takes no more,",
    target: premium,
    message: { body: Buffer.alloc(2_097_000) },
    kilobytes: 2_048,
  },
  { name: "nothing, with 64 KB of properties,", target: {}, message: { applicationProperties: full(65_400) } },
];

describe.concurrent("a large message", () => {
  for (const { name, target, bytes, properties, kilobytes } of fitting) {
    test(`of ${name} has all of its attempts, at their times`, async ({ onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, { retry }, target);
      if (kilobytes !== undefined) await allow(system, kilobytes);
      const { runs } = await system.consuming(failing, { body: "bytes" as never });
      await publish(system, { body: Buffer.alloc(bytes), applicationProperties: properties });
      await oneIsDead(system);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      const waits = runs.slice(1).map(({ beganAtMs }, index) => beganAtMs - (runs[index]?.endedAtMs ?? 0));
      expect(waits[0]).toBeGreaterThanOrEqual(300);
      expect(waits[1]).toBeGreaterThanOrEqual(600);
      const [letter] = await system.letters("billing");
      expect(letter).toMatchObject({ deadLetterReason: "ATTEMPTS_EXHAUSTED" });
      expect(letter?.body).toHaveLength(bytes);
    });
  }

  for (const { name, target, message, kilobytes } of tooLarge) {
    test(`of ${name} is dead after its first attempt, with the reason`, async ({ onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, { retry }, target);
      if (kilobytes !== undefined) await allow(system, kilobytes);
      const { runs, events } = await system.consuming(failing, { body: "bytes" as never });
      await publish(system, message);
      await oneIsDead(system);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1]);
      const [letter] = await system.letters("billing");
      expect(letter?.deadLetterReason).toBe("MESSAGE_TOO_LARGE");
      expect(describeDeadLetter(letter)["dlq-failure-reason"] ?? "MESSAGE_TOO_LARGE").toBe("MESSAGE_TOO_LARGE");
      expect(events.filter(({ kind }) => kind === "settle-failed")).toEqual([]);
    });
  }

  test("that is dead has its size and the handler's error", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, { retry });
    await system.consuming(failing, { body: "bytes" as never });
    await publish(system, { body: Buffer.alloc(262_000) });
    await oneIsDead(system);
    const [letter] = await system.letters("billing");
    expect(letter?.deadLetterErrorDescription).toMatch(
      /^a copy of it has 262,\d{3} bytes, and shop\.billing takes 262,144; its attempt ended with: Error: the card was declined$/,
    );
    expect(describeDeadLetter(letter)).toMatchObject({
      "dlq-failure-reason": "MESSAGE_TOO_LARGE",
      "dlq-retry-count": "1",
      "dlq-original-message-id": "1",
    });
  });

  test("that Service Bus alone finds too large is dead at once, too", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, { retry });
    const sent: number[] = [];
    system.lab.emulator.watch({
      refuse: (path) => {
        if (path !== "shop.billing") return null;
        return sent.push(1) > 0 ? { condition: "amqp:link:message-size-exceeded", description: "too large" } : null;
      },
    });
    const { runs } = await system.consuming(failing);
    await publish(system, { body: "1" });
    await oneIsDead(system);
    expect(runs).toHaveLength(1);
    expect(sent).toHaveLength(1);
    expect((await system.letters("billing"))[0]?.deadLetterReason).toBe("MESSAGE_TOO_LARGE");
  });

  test("that fails permanently is dead like a small one, with as many fields as fit", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, { retry });
    const fail = (): never => {
      throw permanent("CARD_EXPIRED");
    };
    await system.consuming(fail);
    await publish(system, { applicationProperties: full(64_800) });
    await oneIsDead(system);
    const [letter] = await system.letters("billing");
    expect(letter).toMatchObject({ deadLetterReason: "CARD_EXPIRED" });
    expect(letter?.applicationProperties).not.toHaveProperty("dlq-failing-consumer-info");
  });
});
