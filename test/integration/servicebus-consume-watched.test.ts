import { trace } from "@opentelemetry/api";
import { describeDeadLetter, permanent } from "redeliver/consume";
import { openTelemetry } from "redeliver/opentelemetry";
import { beforeAll, describe, test } from "vitest";

import { deployConsumed } from "../support/servicebus/consuming.ts";
import { waitUntil as waitFor } from "../support/servicebus/wait.ts";
import { registerGlobals, startMonitoring } from "../support/telemetry.ts";

/** They run beside each other, and beside whatever else the machine does. */
const patient = { timeout: 240_000 };
const waitUntil = (condition: () => boolean | Promise<boolean>): Promise<void> => waitFor(condition, 120_000);

const constant = { kind: "constant", delay: "200ms" } as const;
/** The copy carries the time of its tier, and has to be received before it is over once more. */
const slow = { kind: "constant", delay: "10s" } as const;
const backoffs = { scheduled: constant, immediate: { kind: "immediate" }, "ttl-tier": slow } as const;
const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;
const messageOf = (body: string) => ({
  body: Buffer.from(body),
  messageId: body,
  subject: "order.placed",
  applicationProperties: { traceparent },
});

beforeAll(registerGlobals);

describe.concurrent("a watched consumer on Service Bus", patient, () => {
  for (const strategy of ["scheduled", "immediate", "ttl-tier"] as const)
    test(`${strategy}: all attempts are in the producer's trace, the dead letters too, and the metrics count them`, async ({
      expect,
      onTestFinished,
    }) => {
      const backoff = backoffs[strategy];
      const system = await deployConsumed(onTestFinished, { retry: { attempts: 2, backoff } }, { strategy });
      const monitoring = startMonitoring();
      onTestFinished(monitoring.shutdown);
      const active: (string | undefined)[] = [];
      const consumer = await system.consuming(
        ({ body }) => {
          active.push(trace.getActiveSpan()?.spanContext().traceId);
          if (body === "fails") throw new TypeError("secret");
          if (body === "dies") throw permanent("UNKNOWN_CUSTOMER");
        },
        { telemetry: openTelemetry(monitoring.options) },
      );
      await system.publish(...["fails", "dies", "works"].map(messageOf));
      await waitUntil(async () => (await system.letters("billing")).length === 2);
      await waitUntil(() => consumer.events.filter(({ kind }) => kind === "settled").length === 4);
      expect(consumer.attemptsOf("fails")).toEqual([1, 2]);
      const [first, second] = consumer.runsOf("fails");
      const waitedMs = (second?.beganAtMs ?? 0) - (first?.endedAtMs ?? Infinity);
      expect(waitedMs).toBeGreaterThanOrEqual(strategy === "immediate" ? 0 : strategy === "scheduled" ? 200 : 10_000);
      await waitUntil(() => monitoring.spans().length === 4);
      expect(active).toEqual(Array.from({ length: 4 }, () => traceId));
      for (const span of monitoring.spans()) {
        expect([span.spanContext().traceId, span.parentSpanContext?.spanId]).toEqual([traceId, spanId]);
        expect(JSON.stringify([span.attributes, span.events, span.status])).not.toContain("secret");
      }
      const letters = await system.letters("billing");
      expect(letters.map(({ applicationProperties: said }) => said?.["traceparent"])).toEqual([
        traceparent,
        traceparent,
      ]);
      const reasons = letters.map((letter) => describeDeadLetter(letter, system.contract("billing")));
      expect(reasons.map((each) => each["dlq-failure-reason"]).toSorted()).toEqual([
        "ATTEMPTS_EXHAUSTED",
        "UNKNOWN_CUSTOMER",
      ]);
      expect(await monitoring.metrics()).toMatchObject({
        "redeliver.processed{success}": 1,
        "redeliver.processed{transient}": 2,
        "redeliver.processed{permanent}": 1,
        "redeliver.retried": 1,
        "redeliver.dead_lettered": 2,
        "redeliver.attempts{transient}": { count: 1, sum: 2 },
      });
    });
});

describe.concurrent("consume on Service Bus, where dead letters go to one queue", patient, () => {
  test("they say there which queue they come from, and why they are dead", async ({ expect, onTestFinished }) => {
    const retry = { attempts: 2, backoff: { kind: "immediate" } };
    const system = await deployConsumed(onTestFinished, { retry }, { deadQueue: "shared" });
    const consumer = await system.consuming(({ body }) => {
      if (body === "dies") throw permanent("UNKNOWN_CUSTOMER");
      throw new Error("not yet");
    });
    const { deadQueue } = system.contract("billing");
    expect(deadQueue).toBe("shop.dead");
    await system.publish(messageOf("dies"), messageOf("fails"));
    await waitUntil(async () => (await system.lab.peek(deadQueue)).length === 2);
    await consumer.stop();
    const said = (await system.lab.peek(deadQueue)).map((letter) => [
      letter.messageId,
      letter.deadLetterSource,
      describeDeadLetter(letter, system.contract("billing"))["dlq-failure-reason"],
      describeDeadLetter(letter, system.contract("billing"))["dlq-original-queue"],
    ]);
    expect(said.toSorted()).toEqual([
      ["dies", "shop.billing", "UNKNOWN_CUSTOMER", "shop.billing"],
      ["fails", "shop.billing", "ATTEMPTS_EXHAUSTED", "shop.billing"],
    ]);
  });
});
