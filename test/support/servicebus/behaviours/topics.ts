import { waitUntil } from "@redeliver/servicebus-emulator";

import { always, atOnce, type Behaviour, consumerOf, isEmpty, scheduled } from "./behaviour.ts";

const ordered = { ...atOnce, order: "per-key" };
const all = { handlerTimeout: "10s", ...scheduled };

/**
 * A chain of this many hops from the topic's subscription into the work queue, and the place where a message of it
 * comes to rest.
 */
function chained(hops: number, rest: { readonly at: string; readonly reason?: string }): Behaviour {
  const name = `after-${hops}-hops`;
  const relays = Array.from({ length: hops - 1 }, (_, index) => `relay-${index + 1}-of-${hops}`);
  return {
    consumers: consumerOf(name, atOnce),
    relays,
    run: async (system, expect) => {
      await system.publish({ body: "order 1", subject: name });
      await waitUntil(async () => (await system.peek(rest.at)).length === 1);
      const [message] = await system.peek(rest.at);
      expect(message?.deadLetterReason).toBe(rest.reason);
    },
  };
}

/** The receivers of a message, their order, and its way to them. */
export const topicBehaviours = {
  "a session waits for its failed message, another one does not, and a dead one lets the others pass": {
    consumers: consumerOf("ordered", ordered),
    run: async (system, expect) => {
      const bodies = ["a1", "a2", "b1", "a3", "b2"];
      const subject = "ordered";
      await system.publish(...bodies.map((body) => ({ body, messageId: body, subject, sessionId: body.slice(0, 1) })));
      const consumer = system.drive("ordered", ({ body, attempt }) => {
        if (body === "a2") return "transient";
        return body === "a1" && attempt === 1 ? "transient" : "success";
      });
      await consumer.pollUntil(() => ["a3", "b2"].every((last) => consumer.seen.some(({ body }) => body === last)));
      const seenOf = (session: string): string[] =>
        consumer.seen.map(({ body }) => body).filter((body) => body.startsWith(session));
      expect(seenOf("a")).toEqual(["a1", "a1", "a2", "a2", "a2", "a3"]);
      expect(seenOf("b")).toEqual(["b1", "b2"]);
      expect(await system.letters("ordered")).toMatchObject([
        { body: "a2", sessionId: "a", deadLetterReason: "MaxDeliveryCountExceeded" },
      ]);
    },
  },
  "a consumer that goes away in the middle of a session leaves its order, and counts no delivery": {
    consumers: consumerOf("leaving", ordered),
    run: async (system, expect) => {
      const subject = "leaving";
      await system.publish(...["a1", "a2"].map((body) => ({ body, messageId: body, subject, sessionId: "a" })));
      let crashes = 0;
      const consumer = system.drive("leaving", ({ body }) => (body === "a1" && crashes++ === 0 ? "crash" : "success"));
      await consumer.pollUntil(() => consumer.seen.some(({ body }) => body === "a2"));
      expect(consumer.seen.map(({ body, message }) => [body, message.deliveryCount])).toEqual([
        ["a1", 0],
        ["a1", 0],
        ["a2", 0],
      ]);
    },
  },
  "a topic reaches every consumer that asks for the message, and a retry only its own": {
    consumers: {
      billing: { ...all, from: { orders: ["order.placed", "order.cancelled"] } },
      mail: { ...all, from: { orders: ["order.#"] } },
      audit: { ...all, from: { orders: ["price.changed"] } },
    },
    run: async (system, expect) => {
      await system.publish({ body: "order 1", subject: "order.placed" }, { body: "price 1", subject: "price.changed" });
      await system.publish({ body: "nobody's", subject: "stock.changed" });
      const billing = system.drive("billing", ({ attempt }) => (attempt === 1 ? "transient" : "success"));
      const mail = system.drive("mail", always("success"));
      const audit = system.drive("audit", always("success"));
      const consumers = [billing, mail, audit];
      await billing.pollUntil(() => billing.seen.length === 2);
      await Promise.all([mail, audit].map(async (each) => each.pollUntil(() => each.seen.length === 1)));
      await Promise.all(consumers.map(async (each) => each.poll()));
      const seen = consumers.map((each) => each.seen.map(({ body, attempt }) => `${body}: ${attempt}`));
      expect(seen).toEqual([["order 1: 1", "order 1: 2"], ["order 1: 1"], ["price 1: 1"]]);
      expect(await isEmpty(system, "billing", "mail", "audit")).toBe(true);
    },
  },
  "the dead letters of all consumers come to the one dead queue, each with its reason": {
    consumers: { ...consumerOf("rejecting", atOnce), ...consumerOf("exhausting", atOnce) },
    target: { deadQueue: "shared" },
    run: async (system, expect) => {
      const { deadQueue } = system.contract("rejecting");
      expect(system.contract("exhausting").deadQueue).toBe(deadQueue);
      await system.publish(...["rejecting", "exhausting"].map((subject) => ({ body: subject, subject })));
      const rejecting = system.drive("rejecting", always("permanent"));
      const exhausting = system.drive("exhausting", always("transient"));
      await rejecting.pollUntil(() => rejecting.seen.length === 1);
      await exhausting.pollUntil(() => exhausting.seen.length === 3);
      await waitUntil(async () => (await system.peek(deadQueue)).length === 2);
      const letters = await system.peek(deadQueue);
      expect(letters.map(({ body, deadLetterReason }) => `${body}: ${deadLetterReason}`).toSorted()).toEqual([
        "exhausting: MaxDeliveryCountExceeded",
        "rejecting: PERMANENT_FAILURE",
      ]);
      expect(await isEmpty(system, "rejecting", "exhausting")).toBe(true);
    },
  },
  "nothing in the one dead queue is lost to time, however short its message's own time to live": {
    consumers: { ...consumerOf("expiring", atOnce) },
    target: { deadQueue: "shared" },
    run: async (system, expect) => {
      const { deadQueue } = system.contract("expiring");
      const subject = "expiring";
      await system.publish({ body: "short", subject, timeToLive: 12_000 }, { body: "long", subject });
      const consumer = system.drive("expiring", ({ body }) => (body === "short" ? "permanent" : "transient"));
      await consumer.pollUntil(() => consumer.seen.length === 4);
      const expired = `${deadQueue}/$DeadLetterQueue`;
      await waitUntil(async () => (await system.peek(expired)).length === 1);
      expect(await system.peek(deadQueue)).toMatchObject([
        { body: "long", deadLetterReason: "MaxDeliveryCountExceeded" },
      ]);
      expect(await system.peek(expired)).toMatchObject([{ body: "short", deadLetterReason: "TTLExpiredException" }]);
      expect(await isEmpty(system, "expiring")).toBe(true);
    },
  },
  "a message arrives over four hops": chained(4, { at: "shop.after-4-hops" }),
  "a message dies where it would be forwarded a fifth time": chained(5, {
    at: "relay-4-of-5/$DeadLetterQueue",
    reason: "MaxTransferHopCountExceeded",
  }),
} as const satisfies Readonly<Record<string, Behaviour>>;
