import { waitUntil } from "@redeliver/servicebus-emulator";
import { permanent } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { deployConsumed, messageOf } from "../support/servicebus/consuming.ts";

const deadQueue = "shop.dead";
const backoffs = { immediate: { kind: "immediate" }, scheduled: { kind: "constant", delay: "200ms" } } as const;

describe.concurrent("the shared dead queue is removed while a consumer of Service Bus runs", () => {
  for (const strategy of ["immediate", "scheduled"] as const)
    test(`${strategy}: dead letters stay in their own dead-letter queue until the shared one is back; others are handled`, async (context) => {
      const declared = { retry: { attempts: 2, backoff: backoffs[strategy] } };
      const system = await deployConsumed(context.onTestFinished, declared, { strategy, deadQueue: "shared" });
      expect(system.contract("billing").deadQueue).toBe(deadQueue);
      const consumer = await system.consuming(({ body }) => {
        if (body === "dies") throw permanent("UNKNOWN_CUSTOMER");
        if (body === "fails") throw new Error("not yet");
      });
      const { lab } = system;
      const deadIn = async (bodies: Promise<readonly { readonly body: unknown }[]>): Promise<readonly string[]> =>
        (await bodies).map(({ body }) => String(body)).toSorted();
      await lab.administration.deleteQueue(deadQueue);
      await system.publish(messageOf("dies"), messageOf("fails"), messageOf("succeeds"));
      await waitUntil(async () => (await lab.deadLetters("shop.billing")).length === 2);
      await waitUntil(async () => (await lab.peek("shop.billing")).length === 0);
      expect(await deadIn(lab.deadLetters("shop.billing"))).toEqual(["dies", "fails"]);
      expect(consumer.attemptsOf("succeeds")).toEqual([1]);
      expect(consumer.attemptsOf("fails")).toEqual([1, 2]);
      expect(consumer.events.map(({ kind }) => kind)).not.toContain("lost");
      await lab.queue(deadQueue);
      await waitUntil(async () => (await lab.peek(deadQueue)).length === 2);
      expect(await deadIn(lab.peek(deadQueue))).toEqual(["dies", "fails"]);
      expect(await lab.deadLetters("shop.billing")).toEqual([]);
      await consumer.stop();
    });
});
