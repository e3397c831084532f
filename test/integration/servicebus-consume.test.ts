import { waitUntil } from "@redeliver/servicebus-emulator";
import { describeDeadLetter, permanent, retryAfter } from "redeliver/consume";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { deployConsumed } from "../support/servicebus/consuming.ts";

class ValidationError extends Error {
  override readonly name = "ValidationError";
}

const exponential = { kind: "exponential", first: "300ms", factor: 2, max: "10s" } as const;

describe.concurrent("consume on Service Bus", () => {
  test("attempts are as declared, numbered and never early, and the last one makes a dead letter with the reason", async (context) => {
    const system = await deployConsumed(context.onTestFinished, { retry: { attempts: 4, backoff: exponential } });
    const consumer = await system.consuming(({ body }, { number }) => {
      if (body === "always" || (body === "second" && number === 1)) throw new Error(`no ${body}`);
    });
    const messages = ["fine", "second", "always"].map((body) => ({
      body: Buffer.from(body),
      messageId: body,
      subject: "order.placed",
      correlationId: `order of ${body}`,
      applicationProperties: { tenant: 7 },
    }));
    await system.publish(...messages);
    await waitUntil(async () => (await system.letters("billing")).length === 1);
    expect(consumer.attemptsOf("fine")).toEqual([1]);
    expect(consumer.attemptsOf("second")).toEqual([1, 2]);
    expect(consumer.attemptsOf("always")).toEqual([1, 2, 3, 4]);
    const runs = consumer.runsOf("always");
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(["always"]));
    for (const [index, delayMs] of [300, 600, 1_200].entries())
      expect((runs[index + 1]?.beganAtMs ?? 0) - (runs[index]?.endedAtMs ?? Infinity)).toBeGreaterThanOrEqual(delayMs);
    const [letter] = await system.letters("billing");
    expect(letter).toMatchObject({
      messageId: "always:r4",
      subject: "order.placed",
      correlationId: "order of always",
      deadLetterReason: "ATTEMPTS_EXHAUSTED",
      deadLetterErrorDescription: "Error: no always",
    });
    expect(letter?.applicationProperties).toMatchObject({
      tenant: 7,
      "dlq-original-queue": "shop.billing",
      "dlq-failure-reason": "ATTEMPTS_EXHAUSTED",
      "dlq-retry-count": "4",
      "dlq-original-message-id": "always",
      "dlq-business-correlation-id": "order of always",
      "dlq-exception-stack-trace-summary": expect.stringContaining("servicebus-consume.test.ts"),
    });
    expect(describeDeadLetter(letter, system.contract("billing"))).toMatchObject({
      "dlq-failure-reason": "ATTEMPTS_EXHAUSTED",
      "dlq-original-message-id": "always",
    });
    await consumer.stop();
    expect(await system.lab.peek("shop.billing")).toEqual([]);
    expect(new Set(consumer.events.map(({ kind }) => kind))).toEqual(
      new Set(["started", "settled", "stopping", "stopped"]),
    );
  });

  test("a permanent failure is dead at once, with the handler's reason", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, {
      retry: { attempts: 4, backoff: exponential },
      errors: { permanent: ["ValidationError"] },
    });
    const consumer = await system.consuming(
      ({ body }) => {
        const { id } = body as unknown as { readonly id: string };
        if (id === "declared") throw new ValidationError("it is wrong");
        if (id === "reason") throw permanent("UNKNOWN_CUSTOMER", new Error("there is none"));
      },
      { body: "json", schema: z.object({ id: z.string() }) as never },
    );
    const bodies = ['{"id":"declared"}', '{"id":"reason"}', "{", '{"id":1}', '{"id":"fine"}'];
    await system.publish(...bodies.map((body, index) => ({ body: Buffer.from(body), messageId: `m${index}` })));
    await waitUntil(async () => (await system.letters("billing")).length === 4);
    await consumer.stop();
    expect(await system.lab.peek("shop.billing")).toEqual([]);
    const letters = new Map((await system.letters("billing")).map((letter) => [letter.messageId, letter]));
    const said = (id: string): unknown => [
      letters.get(id)?.deadLetterReason,
      letters.get(id)?.applicationProperties?.["dlq-failure-reason"],
      letters.get(id)?.deadLetterErrorDescription,
    ];
    expect(said("m0")).toEqual(["PERMANENT_FAILURE", "PERMANENT_FAILURE", "ValidationError: it is wrong"]);
    expect(said("m1")).toEqual(["UNKNOWN_CUSTOMER", "UNKNOWN_CUSTOMER", "PermanentError: UNKNOWN_CUSTOMER"]);
    for (const id of ["m2", "m3"])
      expect(said(id)).toEqual(["UNREADABLE_MESSAGE", "UNREADABLE_MESSAGE", expect.stringContaining("the body")]);
    expect(consumer.runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  test("a handler that takes too long is aborted and retried; a delay from the handler is kept, up to the maximum", async (context) => {
    const system = await deployConsumed(context.onTestFinished, {
      retry: { attempts: 3, backoff: { kind: "constant", delay: "100ms", jitter: "50%" }, retryAfter: { max: "1s" } },
      handlerTimeout: "500ms",
    });
    let aborted = 0;
    const consumer = await system.consuming(async ({ body }, { number, signal }) => {
      if (number > 1) return;
      if (body === "asks") throw retryAfter("800ms");
      if (body === "asks too much") throw retryAfter("1h");
      if (body === "jittered") throw new Error("not yet");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      aborted += 1;
    });
    const bodies = ["asks", "asks too much", "jittered", "hangs"];
    await system.publish(...bodies.map((body) => ({ body: Buffer.from(body), messageId: body })));
    await waitUntil(() => bodies.every((body) => consumer.attemptsOf(body).length === 2));
    expect(aborted).toBe(1);
    const waitedMs = (body: string): number => {
      const [first, second] = consumer.runsOf(body);
      return (second?.beganAtMs ?? 0) - (first?.beganAtMs ?? Infinity);
    };
    expect(waitedMs("asks")).toBeGreaterThanOrEqual(800);
    expect(waitedMs("asks too much")).toBeGreaterThanOrEqual(1_000);
    expect(waitedMs("jittered")).toBeGreaterThanOrEqual(50);
    expect(waitedMs("hangs")).toBeGreaterThanOrEqual(500);
    expect(consumer.events).toContainEqual(
      expect.objectContaining({ kind: "settled", messageId: "hangs", reason: "TIMEOUT" }),
    );
    expect(consumer.events).toContainEqual(
      expect.objectContaining({ kind: "delay-not-kept", messageId: "asks too much", longestMs: 1_000 }),
    );
  });

  test("without delays Service Bus counts: as many deliveries as attempts, then dead", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, { retry: { attempts: 3, backoff: { kind: "immediate" } } });
    const consumer = await system.consuming(() => {
      throw new Error("never");
    });
    await system.publish({ body: Buffer.from("always"), messageId: "always" });
    await waitUntil(async () => (await system.letters("billing")).length === 1);
    expect(consumer.attemptsOf("always")).toEqual([1, 2, 3]);
    const [letter] = await system.letters("billing");
    expect(letter?.deadLetterReason).toBe("MaxDeliveryCountExceeded");
    expect(describeDeadLetter(letter, system.contract("billing"))).toEqual({
      "dlq-original-queue": "shop.billing",
      "dlq-failure-reason": "ATTEMPTS_EXHAUSTED",
      "dlq-retry-count": "3",
      "dlq-original-message-id": "always",
    });
    expect(describeDeadLetter(letter)).toEqual({ "dlq-original-message-id": "always" });
  });
});
