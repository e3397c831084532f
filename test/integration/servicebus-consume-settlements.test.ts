import type { ServiceBusReceivedMessage } from "@azure/service-bus";
import { type Heard, waitUntil, type Watcher } from "@redeliver/servicebus-emulator";
import { permanent } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { type ConsumedSystem, deployConsumed, type Handle, messageOf } from "../support/servicebus/consuming.ts";

const declared = { retry: { attempts: 3, backoff: { kind: "constant", delay: "500ms" } }, crash: { deliveries: 5 } };
const failsOnce: Handle = (_, { number }) => {
  if (number === 1) throw new Error("not yet");
};
const isEmpty = async ({ lab }: ConsumedSystem): Promise<boolean> => (await lab.peek("shop.billing")).length === 0;

/** The first settlement of this kind, for any message, meets this fate. */
function firstMeets(kind: "complete" | "dead-letter", fate: "unanswered" | "lost"): Required<Pick<Watcher, "fateOf">> {
  let isMet = false;
  return {
    fateOf: (settlement) => {
      if (isMet || settlement.kind !== kind) return "answered";
      isMet = true;
      return fate;
    },
  };
}

describe.concurrent("a completion on Service Bus fails after its copy was made, with the connection intact", () => {
  const copiesIn = (heard: readonly Heard[]): readonly string[] =>
    heard.flatMap((each) =>
      each.kind === "sent" && each.path === "shop.billing" ? [String(each.content.message_id)] : [],
    );

  for (const [where, duplicates, wanted] of [
    ["where nothing looks for duplicates", {}, [1, 1, 2, 2]],
    ["where duplicates are detected", { duplicates: "10m" }, [1, 1, 2]],
  ] as const) {
    test(`it is refused, and the message comes again before its copy, ${where}`, async ({ onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, declared, duplicates);
      const stranger = system.lab.receiver("shop.billing");
      const heard: Heard[] = [];
      const raw = Promise.withResolvers<ServiceBusReceivedMessage>();
      let isLost = false;
      system.lab.emulator.watch({
        heard: (each) => void heard.push(each),
        // Any client with the lock token can end the lock. The copy is there, and the consumer has no answer yet.
        mayAnswer: async () => {
          if (isLost) return;
          isLost = true;
          await stranger.abandonMessage(await raw.promise);
        },
      });
      const consumer = await system.consuming((message, attempt) => {
        raw.resolve(message.raw as ServiceBusReceivedMessage);
        return failsOnce(message, attempt);
      });
      await system.publish(messageOf("once"));
      await waitUntil(() => consumer.attemptsOf("once").length === wanted.length);
      await waitUntil(() => isEmpty(system));
      await consumer.stop();
      expect(consumer.attemptsOf("once").toSorted()).toEqual(wanted);
      expect(copiesIn(heard), "both are known as the same attempt").toEqual(["once:r2", "once:r2"]);
      const kinds = consumer.events.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "settle-dropped")).toHaveLength(1);
      expect(kinds).not.toContain("settle-failed");
      expect(await system.letters("billing")).toEqual([]);
    });

    test(`it is lost, and the message comes again after its copy, ${where}`, async ({ onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, declared, duplicates);
      const heard: Heard[] = [];
      system.lab.emulator.watch({ heard: (each) => void heard.push(each), ...firstMeets("complete", "lost") });
      const consumer = await system.consuming(failsOnce, { concurrency: 2 });
      await system.publish(messageOf("once"));
      // The lock really expires, because the consumer renews no lock of a message that it is settling.
      await waitUntil(() => consumer.attemptsOf("once").length === wanted.length);
      await waitUntil(() => isEmpty(system));
      await waitUntil(() => consumer.events.some(({ kind }) => kind === "settle-dropped"));
      await consumer.stop();
      expect(consumer.attemptsOf("once").toSorted()).toEqual(wanted);
      expect(copiesIn(heard)).toEqual(["once:r2", "once:r2"]);
      expect(await system.letters("billing")).toEqual([]);
    });
  }

  test("it is lost, and repeated within the lock: it succeeds, and nothing comes twice", async (context) => {
    const system = await deployConsumed(context.onTestFinished, declared, { lock: "60s" });
    system.lab.emulator.watch(firstMeets("complete", "lost"));
    const consumer = await system.consuming(failsOnce, { concurrency: 1 });
    await system.publish(messageOf("once"));
    await waitUntil(() => consumer.attemptsOf("once").length === 2);
    await waitUntil(() => isEmpty(system));
    await consumer.stop();
    expect(consumer.attemptsOf("once")).toEqual([1, 2]);
    const kinds = consumer.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("settle"));
    expect(kinds).toEqual(["settle-failed", "settled", "settled"]);
  });

  test("it succeeds without an answer: nothing comes twice, and its handler's place is free for the copy", async (context) => {
    const system = await deployConsumed(context.onTestFinished, declared);
    system.lab.emulator.watch(firstMeets("complete", "unanswered"));
    const consumer = await system.consuming(failsOnce, { concurrency: 1 });
    await system.publish(messageOf("once"));
    await waitUntil(() => consumer.attemptsOf("once").length === 2);
    await waitUntil(() => isEmpty(system));
    await waitUntil(() => consumer.health().handling === 0);
    expect(consumer.attemptsOf("once")).toEqual([1, 2]);
    expect(consumer.events.filter(({ kind }) => kind === "settle-dropped")).toHaveLength(1);
  });
});

describe.concurrent("a dead-lettering on Service Bus without an answer", () => {
  for (const [fate, attempts] of [
    ["unanswered", [1]],
    ["lost", [1, 1]],
  ] as const)
    test(`${fate}: one dead letter, and the consumer takes the next message`, async ({ onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, declared);
      system.lab.emulator.watch(firstMeets("dead-letter", fate));
      const consumer = await system.consuming(
        ({ body }) => {
          if (body === "wrong") throw permanent("UNKNOWN_CUSTOMER");
        },
        { concurrency: 1 },
      );
      await system.publish(messageOf("wrong"), messageOf("next"));
      await waitUntil(() => consumer.attemptsOf("next").length === 1);
      await waitUntil(() => isEmpty(system));
      await consumer.stop();
      expect(consumer.attemptsOf("wrong")).toEqual(attempts);
      expect(consumer.attemptsOf("next")).toEqual([1]);
      const letters = await system.letters("billing");
      expect(letters.map(({ messageId }) => messageId)).toEqual(["wrong"]);
    });
});
