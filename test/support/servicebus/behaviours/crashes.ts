import type { Decision } from "../../decide.ts";
import type { ServicebusContract } from "../drive.ts";
import {
  always,
  atOnce,
  attemptsOf,
  type Behaviour,
  consumerOf,
  isDead,
  isEmpty,
  scheduled,
  soon,
} from "./behaviour.ts";

/** Attempt 1 schedules its copy and crashes. The next time it fails as it should. */
function crashingAfterCopy(): (delivery: { readonly attempt: number }) => Decision {
  let crashes = 0;
  return ({ attempt }) => {
    if (attempt > 1) return "success";
    return crashes++ === 0 ? { crashAfter: 1, of: "transient" } : "transient";
  };
}

const threeCrashes = { ...scheduled, crash: { deliveries: 3 } };
/** Microsoft's emulator remembers an id for this time. */
const duplicates = "5m";

/** The results of crashes, returns and copies that are sent twice. */
export const crashBehaviours = {
  "scheduled: a consumer that crashes ends at the crash budget, after as many locks": {
    consumers: consumerOf("crashing", scheduled),
    target: soon,
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: "crashing" });
      const consumer = system.drive("crashing", always("crash"));
      await consumer.pollUntil(async () => isDead(system, "crashing"));
      expect(attemptsOf(consumer), "the same attempt, as often as the budget says").toEqual([1, 1]);
      expect(await system.letters("crashing")).toMatchObject([{ deadLetterReason: "MaxDeliveryCountExceeded" }]);
      const [first, second] = consumer.seen;
      const lockedUntilMs = first?.message.lockedUntilUtc?.getTime();
      expect(second?.receivedAtMs, "not before the lock is over").toBeGreaterThanOrEqual(lockedUntilMs ?? Infinity);
    },
  },
  "scheduled: each attempt has the whole crash budget, and crashes cost no attempt": {
    consumers: consumerOf("crashing-at-times", { ...scheduled, retry: { ...scheduled.retry, attempts: 2 } }),
    target: soon,
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: "crashing-at-times" });
      const endings: readonly Decision[] = ["crash", "transient", "crash", "success"];
      let run = 0;
      const consumer = system.drive("crashing-at-times", () => endings[run++] ?? "success");
      await consumer.pollUntil(() => consumer.seen.length === 4);
      expect(attemptsOf(consumer)).toEqual([1, 1, 2, 2]);
      const ended = [await isEmpty(system, "crashing-at-times"), await isDead(system, "crashing-at-times", 0)];
      expect(ended).toEqual([true, true]);
    },
  },
  "immediate: crashes and failures spend the same attempts": {
    consumers: consumerOf("one-counter", atOnce),
    target: soon,
    run: async (system, expect) => {
      await system.publish({ body: "order 1", subject: "one-counter" });
      const endings: readonly Decision[] = ["transient", "crash", "transient"];
      const consumer = system.drive("one-counter", ({ attempt }) => endings[attempt - 1] ?? "success");
      await consumer.pollUntil(async () => isDead(system, "one-counter"));
      expect(attemptsOf(consumer)).toEqual([1, 2, 3]);
    },
  },
  "a crash between copy and completion doubles the message and loses nothing": {
    consumers: consumerOf("doubling", threeCrashes),
    target: soon,
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: "doubling" });
      const consumer = system.drive("doubling", crashingAfterCopy());
      await consumer.pollUntil(async () => consumer.seen.length === 4 && isEmpty(system, "doubling"));
      expect(attemptsOf(consumer).toSorted()).toEqual([1, 1, 2, 2]);
      expect(await isDead(system, "doubling", 0)).toBe(true);
    },
  },
  "duplicate detection drops the second of two copies, and no retry": {
    consumers: consumerOf("deduplicated", threeCrashes),
    target: { ...soon, duplicates },
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: "deduplicated" });
      const consumer = system.drive("deduplicated", crashingAfterCopy());
      await consumer.pollUntil(async () => consumer.seen.length >= 3 && isEmpty(system, "deduplicated"));
      expect(attemptsOf(consumer).toSorted()).toEqual([1, 1, 2]);
      expect(await isDead(system, "deduplicated", 0)).toBe(true);
    },
  },
  "duplicate detection does not eat the retries: all attempts are made, then one dead letter": {
    consumers: consumerOf("sent-twice", scheduled),
    target: { duplicates },
    run: async (system, expect) => {
      await system.publish({ body: "order 1", messageId: "1", subject: "sent-twice" });
      await system.publish({ body: "sent twice", messageId: "1", subject: "sent-twice" });
      const consumer = system.drive("sent-twice", always("transient"));
      await consumer.pollUntil(async () => isDead(system, "sent-twice"));
      expect(consumer.seen.map(({ body, attempt }) => [body, attempt])).toEqual([
        ["order 1", 1],
        ["order 1", 2],
        ["order 1", 3],
      ]);
    },
  },
  "a consumer whose copies keep the id loses the message: the harness sees it": {
    consumers: consumerOf("keeping-the-id", scheduled),
    target: { duplicates },
    run: async (system, expect) => {
      const right = system.contract("keeping-the-id");
      const wrong = JSON.parse(
        JSON.stringify(right).replaceAll(/"messageIdSuffix":"[^"]*"/g, '"messageIdSuffix":""'),
      ) as ServicebusContract;
      await system.publish({ body: "order 1", messageId: "1", subject: "keeping-the-id" });
      const consumer = system.drive("keeping-the-id", always("transient"), { contract: wrong });
      expect(await consumer.poll(10_000)).toBe(true);
      expect([await isEmpty(system, "keeping-the-id"), await isDead(system, "keeping-the-id", 0)]).toEqual([
        true,
        true,
      ]);
    },
  },
} as const satisfies Readonly<Record<string, Behaviour>>;
