import { waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { deployConsumed, messageOf } from "../support/servicebus/consuming.ts";

const constant = { kind: "constant", delay: "200ms" } as const;

describe.concurrent("consume on Service Bus, when connections and dependencies fail together", () => {
  test("a lost connection requests no message when a handler becomes free", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, {
      retry: { attempts: 3, backoff: constant },
      crash: { deliveries: 10 },
    });
    const held = Promise.withResolvers<void>();
    const consumer = await system.consuming(() => held.promise, { concurrency: 2, breaker: false });
    const count = (kind: string): number => consumer.events.filter((event) => event.kind === kind).length;
    await system.publish(messageOf("one"), messageOf("two"));
    await waitUntil(() => consumer.runs.length === 2);
    // The handlers belong to the first connection, so the second one receives no message.
    system.lab.emulator.dropConnections();
    await waitUntil(() => count("reconnected") === 1);
    system.lab.emulator.dropConnections();
    await waitUntil(() => count("lost") === 2);
    held.resolve();
    await waitUntil(() => count("reconnected") === 2);
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
    expect([count("settle-dropped"), count("settled")]).toEqual([2, 2]);
    expect(await system.letters("billing")).toEqual([]);
  });

  test("the breaker pauses, then tries single messages; no message dies of the outage, and none is taken in a pause", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 6, backoff: constant } });
    let isUp = false;
    const consumer = await system.consuming(
      () => {
        if (!isUp) throw new Error("the bank is down");
      },
      { concurrency: 2, breaker: { failures: 3, firstPause: "300ms", longestPause: "1s" } },
    );
    const count = (kind: string): number => consumer.events.filter((event) => event.kind === kind).length;
    const bodies = Array.from({ length: 12 }, (_, index) => `m${index}`);
    await system.publish(...bodies.map(messageOf));
    await waitUntil(() => count("paused") === 4);
    // Three failures of first attempts, the attempts that ran with them, and up to three after each pause but the last.
    expect(consumer.runs.length).toBeLessThanOrEqual(3 + 1 + 3 * 3);
    isUp = true;
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
    expect(count("resumed")).toBe(1);
    expect(await system.letters("billing")).toEqual([]);
    expect(new Set(consumer.runs.map(({ body }) => body)).size).toBe(bodies.length);
    expect(consumer.health()).toMatchObject({ state: "running", suspicion: 0 });
  });

  test("after a pause that ends while Service Bus is silent, a probe follows once it answers", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 6, backoff: constant } });
    const { emulator } = system.lab;
    let isUp = false;
    const consumer = await system.consuming(
      () => {
        if (!isUp) throw new Error("the bank is down");
      },
      { concurrency: 1, breaker: { failures: 1, firstPause: "2s", longestPause: "2s" } },
    );
    const kinds = (): readonly string[] => consumer.events.map(({ kind }) => kind);
    await system.publish(messageOf("one"));
    await waitUntil(() => kinds().includes("paused"));
    await emulator.goOffline();
    await waitUntil(() => kinds().includes("probing"));
    expect(consumer.health()).toMatchObject({ state: "reconnecting", isTaking: false });
    isUp = true;
    await emulator.goOnline();
    await waitUntil(() => kinds().includes("resumed"));
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
    expect(await system.letters("billing")).toEqual([]);
  });
});
