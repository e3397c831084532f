import { waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { deployConsumed, type Handle } from "../support/servicebus/consuming.ts";

// Producers send straight to the work queue. There is no topic and no subscription before it.

const errors = { permanent: ["ValidationError"] };
const immediately = { attempts: 3, backoff: { kind: "immediate" } };
const delayed = { attempts: 3, backoff: { kind: "constant", delay: "500ms" } };
const cases = [
  { name: "immediate", sku: "standard", billing: { retry: immediately }, delayMs: 0 },
  { name: "scheduled", sku: "standard", billing: { retry: delayed }, delayMs: 500 },
  { name: "ttl-tier", sku: "standard", billing: { retry: delayed }, delayMs: 500 },
  { name: "scheduled", sku: "basic", billing: { retry: delayed }, delayMs: 500 },
  { name: "immediate", sku: "standard", billing: { retry: immediately, order: "per-key" }, delayMs: 0 },
  { name: "scheduled", sku: "standard", billing: { retry: delayed, queue: "invoices" }, delayMs: 500 },
] as const;

const failing: Handle = ({ body }) => {
  if (body === "fine") return;
  const name = body === "permanent" ? "ValidationError" : "Error";
  throw Object.assign(new Error("the bank is down"), { name });
};

describe.concurrent("straight to the queue of Service Bus", () => {
  for (const { name: strategy, sku, billing, delayMs } of cases) {
    const perKey = "order" in billing;
    const queue = "queue" in billing ? billing.queue : "shop.billing";
    test(`${strategy}, ${sku}${perKey ? ", per key" : ""}, to ${queue}`, async ({ onTestFinished }) => {
      const declared = { from: undefined, errors, ...billing };
      const system = await deployConsumed(onTestFinished, declared, { sku, strategy });
      expect(system.contract("billing").workQueue).toBe(queue);
      expect(system.compiled.topology.subscriptions).toEqual([]);
      const consumer = await system.consuming(failing);
      const session = perKey ? { sessionId: "customer 1" } : {};
      const messages = ["transient", "permanent", "fine"].map((body) => {
        return { body: Buffer.from(body), messageId: body, subject: "any", ...session };
      });
      await system.lab.client.createSender(queue).sendMessages(messages);
      await waitUntil(async () => (await system.letters("billing")).length === 2);
      await waitUntil(() => consumer.attemptsOf("fine").length === 1);
      expect(consumer.attemptsOf("transient")).toEqual([1, 2, 3]);
      expect(consumer.attemptsOf("permanent")).toEqual([1]);
      const runs = consumer.runsOf("transient");
      for (const [index, { beganAtMs }] of runs.slice(1).entries())
        expect(beganAtMs - (runs[index]?.endedAtMs ?? 0)).toBeGreaterThanOrEqual(delayMs);
      if (perKey) {
        const order = consumer.runs.map(({ body, attempt }) => `${body} ${attempt}`);
        expect(order).toEqual(["transient 1", "transient 2", "transient 3", "permanent 1", "fine 1"]);
      }
      await consumer.stop();
      expect(await system.lab.peek(queue)).toEqual([]);
    });
  }

  const schemes = [
    [{ queue: "q-{consumer}" }, "q-billing", "shop.orders"],
    [{ source: "{source}" }, "shop.billing", "orders"],
    [{ queue: "{consumer}-of-{system}", source: "events-{source}" }, "billing-of-shop", "events-orders"],
  ] as const;
  for (const strategy of ["scheduled", "ttl-tier"] as const)
    test.for(schemes)(`${strategy}, with the names %j, beside a source`, async ([names, queue, topic], context) => {
      const declared = { from: { orders: "all" }, errors, retry: delayed };
      const system = await deployConsumed(context.onTestFinished, declared, { sku: "standard", strategy }, names);
      expect(system.contract("billing").workQueue).toBe(queue);
      const consumer = await system.consuming(failing);
      const { client } = system.lab;
      const message = (body: string) => ({ body: Buffer.from(body), messageId: body, subject: "any" });
      await client.createSender(topic).sendMessages(message("transient"));
      await client.createSender(queue).sendMessages([message("permanent"), message("fine")]);
      await waitUntil(async () => (await system.letters("billing")).length === 2);
      await waitUntil(() => consumer.attemptsOf("fine").length === 1);
      expect(["transient", "permanent"].map(consumer.attemptsOf)).toEqual([[1, 2, 3], [1]]);
    });
});
