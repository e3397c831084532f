import type { Decision } from "../../decide.ts";
import {
  always,
  atOnce,
  attemptsOf,
  type Behaviour,
  consumerOf,
  delaysOf,
  isDead,
  isEmpty,
  scheduled,
} from "./behaviour.ts";

const properties = { tenant: "a", paid: true };
const jitter = {
  ...scheduled,
  from: { orders: ["jitter"] },
  handlerTimeout: "10s",
  retry: { attempts: 2, backoff: { kind: "constant", delay: "1s", jitter: "100%" } },
};

function permanentAtOnce(name: string, declared: object): Behaviour {
  return {
    consumers: consumerOf(name, declared),
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: name, applicationProperties: properties });
      const consumer = system.drive(name, always("permanent"));
      expect([await consumer.poll(10_000), attemptsOf(consumer)]).toEqual([true, [1]]);
      const [letter, ...others] = await system.letters(name);
      expect(letter).toMatchObject({
        body: "order 1",
        messageId: "1",
        subject: name,
        deadLetterReason: "PERMANENT_FAILURE",
        deadLetterErrorDescription: "what the error of order 1 says",
        applicationProperties: properties,
      });
      expect([others, await isEmpty(system, name), await consumer.poll()]).toEqual([[], true, false]);
    },
  };
}

/** The number, the times and the end of a message's attempts. */
export const attemptBehaviours = {
  "immediate: N deliveries, then one dead letter with MaxDeliveryCountExceeded, as it was sent": {
    consumers: consumerOf("at-once", atOnce),
    run: async (system, expect) => {
      const order = { subject: "at-once", applicationProperties: properties };
      await system.publish({ body: "order 1", messageId: "1", ...order });
      const consumer = system.drive("at-once", always("transient"));
      await consumer.pollUntil(async () => isDead(system, "at-once"));
      expect(await consumer.poll(), "delivery N + 1").toBe(false);
      expect(consumer.seen.map(({ attempt, message }) => [attempt, message.deliveryCount])).toEqual([
        [1, 0],
        [2, 1],
        [3, 2],
      ]);
      const [letter] = await system.letters("at-once");
      expect(letter).toMatchObject({ body: "order 1", messageId: "1", deadLetterReason: "MaxDeliveryCountExceeded" });
      expect(letter).toMatchObject(order);
      expect(await isEmpty(system, "at-once")).toBe(true);
    },
  },
  "scheduled: each attempt comes at its time, never early, and the last failure is a dead letter": {
    consumers: consumerOf("scheduled", scheduled),
    run: async (system, expect) => {
      const order = { subject: "scheduled", applicationProperties: properties };
      await system.publish({ body: "order 1", messageId: "1", ...order });
      const consumer = system.drive("scheduled", always("transient"));
      await consumer.pollUntil(async () => isDead(system, "scheduled"));
      expect(attemptsOf(consumer)).toEqual([1, 2, 3]);
      expect(consumer.seen.map(({ message }) => message.messageId)).toEqual(["1", "1:r2", "1:r3"]);
      const [first, second] = delaysOf(consumer);
      expect(first).toBeGreaterThanOrEqual(1_000);
      expect(second).toBeGreaterThanOrEqual(2_000);
      const [letter] = await system.letters("scheduled");
      expect(letter).toMatchObject({
        body: "order 1",
        subject: "scheduled",
        deadLetterReason: "ATTEMPTS_EXHAUSTED",
        deadLetterErrorDescription: "what the error of order 1 says",
        applicationProperties: { ...properties, "redeliver-original-id": "1" },
      });
      expect(await isEmpty(system, "scheduled")).toBe(true);
    },
  },
  "jitter: the shortest delay and the longest, and neither is early": {
    consumers: { soonest: jitter, latest: jitter },
    run: async (system, expect) => {
      await system.publish({ body: "order 1", subject: "jitter" });
      const once = ({ attempt }: { readonly attempt: number }): Decision => (attempt === 1 ? "transient" : "success");
      const soonest = system.drive("soonest", once, { draw: () => 0 });
      const latest = system.drive("latest", once, { draw: () => 1 });
      await Promise.all([soonest, latest].map(async (each) => each.pollUntil(() => each.seen.length === 2)));
      expect(delaysOf(soonest)[0]).toBeGreaterThanOrEqual(1_000);
      expect(delaysOf(latest)[0]).toBeGreaterThanOrEqual(2_000);
    },
  },
  "ttl-tier, which only its name chooses: an attempt does not come before its tier has expired": {
    // The copy carries the time to live of its tier. The consumer must receive it before that ends again.
    consumers: consumerOf("tiered", {
      ...scheduled,
      retry: { attempts: 2, backoff: { kind: "constant", delay: "10s" } },
    }),
    target: { strategy: "ttl-tier" },
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: "tiered" });
      const consumer = system.drive("tiered", always("transient"));
      await consumer.pollUntil(async () => isDead(system, "tiered"));
      expect(attemptsOf(consumer)).toEqual([1, 2]);
      expect(delaysOf(consumer)[0]).toBeGreaterThanOrEqual(10_000);
      const [letter] = await system.letters("tiered");
      expect(letter).toMatchObject({ body: "order 1", messageId: "1:r2", deadLetterReason: "ATTEMPTS_EXHAUSTED" });
    },
  },
  "a delay that the handler asks for is waited out": {
    consumers: consumerOf("asking", { ...scheduled, retry: { ...scheduled.retry, retryAfter: { max: "5s" } } }),
    run: async (system, expect) => {
      await system.publish({ body: "order 1", subject: "asking" });
      const consumer = system.drive("asking", ({ attempt }) => (attempt === 1 ? { askMs: 2_500 } : "success"));
      await consumer.pollUntil(() => consumer.seen.length === 2);
      expect(delaysOf(consumer)[0]).toBeGreaterThanOrEqual(2_500);
      expect(await isEmpty(system, "asking")).toBe(true);
    },
  },
  "an id as long as can be: Service Bus takes the copies, and duplicate detection tells them apart": {
    consumers: consumerOf("long-id", scheduled),
    target: { duplicates: "5m" },
    run: async (system, expect) => {
      // The longest possible ids, equal but for their ends.
      const ids = ["a", "b"].map((end) => "x".repeat(127) + end);
      await system.publish(...ids.map((id) => ({ body: id.at(-1), messageId: id, subject: "long-id" })));
      const consumer = system.drive("long-id", always("transient"));
      await consumer.pollUntil(async () => isDead(system, "long-id", 2));
      for (const id of ids) {
        const runs = consumer.seen.filter(({ body }) => body === id.at(-1));
        expect(runs.map(({ attempt, originalId }) => [attempt, originalId])).toEqual([
          [1, id],
          [2, id],
          [3, id],
        ]);
      }
      const letters = await system.letters("long-id");
      expect(letters.map(({ deadLetterReason }) => deadLetterReason)).toEqual([
        "ATTEMPTS_EXHAUSTED",
        "ATTEMPTS_EXHAUSTED",
      ]);
      expect(new Set(letters.map(({ messageId }) => messageId)).size).toBe(2);
      expect(await isEmpty(system, "long-id")).toBe(true);
    },
  },
  "success on attempt k ends it, also on the last": {
    consumers: consumerOf("succeeding", scheduled),
    run: async (system, expect) => {
      const subject = "succeeding";
      await system.publish({ body: "2", subject }, { body: "3", subject });
      const consumer = system.drive("succeeding", ({ body, attempt }) =>
        attempt === Number(body) ? "success" : "transient",
      );
      await consumer.pollUntil(() => consumer.seen.length === 5);
      expect([attemptsOf(consumer, "2"), attemptsOf(consumer, "3")]).toEqual([
        [1, 2],
        [1, 2, 3],
      ]);
      expect([await isEmpty(system, "succeeding"), await isDead(system, "succeeding", 0)]).toEqual([true, true]);
    },
  },
  "immediate: a permanent failure is a dead letter at once, with reason and description": permanentAtOnce(
    "permanent-at-once",
    atOnce,
  ),
  "scheduled: a permanent failure is a dead letter at once, with reason and description": permanentAtOnce(
    "permanent-scheduled",
    scheduled,
  ),
} as const satisfies Readonly<Record<string, Behaviour>>;
