import { type Heard, waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import {
  askingDeclared,
  attemptsInAll,
  endsOf,
  everyEnding,
  everyEndingDeclared,
  fateOf,
  lateDeclared,
  meet,
  unreadable,
} from "../support/consume/every-ending.ts";
import { onePlaceChangesOf } from "../support/consume/one-place-changes.ts";
import { deployConsumed } from "../support/servicebus/consuming.ts";
import type { ServicebusContract } from "../support/servicebus/drive.ts";
import { type HeardAt, heardChangesOf } from "../support/servicebus/heard-changes.ts";
import { breachesOf, type Ended } from "../support/servicebus/keeps-contract.ts";

/** The body of a message names its outcome. */
const ended = (body: string, attempt: number): "success" | "transient" | "permanent" => {
  if (body.startsWith("permanent")) return "permanent";
  return body.startsWith("transient") || (body.startsWith("once") && attempt === 1) ? "transient" : "success";
};

const messageOf = (body: string) => ({
  body: Buffer.from(body),
  messageId: body,
  subject: "order.placed",
  applicationProperties: { tenant: "a" },
});

/**
 * Records the clients' frames. It delays the answer to a schedule, so that the record shows a client that does not
 * wait.
 */
function listen(): {
  readonly heard: Heard[];
  readonly atMs: number[];
  readonly watcher: { heard: (each: Heard) => void; mayAnswer: () => Promise<void> };
} {
  const heard: Heard[] = [];
  const atMs: number[] = [];
  return {
    heard,
    atMs,
    watcher: {
      heard: (each) => {
        heard.push(each);
        atMs.push(Date.now());
      },
      mayAnswer: () => new Promise((resolve) => setTimeout(resolve, 300)),
    },
  };
}

const attempts = 3;
const strategies = {
  scheduled: {
    attempts,
    backoff: { kind: "exponential", first: "100ms", factor: 3, jitter: "20%" },
    ...askingDeclared,
  },
  immediate: { attempts, backoff: { kind: "immediate" } },
  "ttl-tier": { attempts, backoff: { kind: "exponential", first: "6s", factor: 2 } },
} as const;

/** Among its properties are those of an earlier death. A copy carries the others. */
const carriedMessage = (name: string) => ({
  ...messageOf(name),
  body: Buffer.from(name === unreadable.name ? unreadable.body : JSON.stringify(name)),
  contentType: "application/json",
  correlationId: "order-4711",
  replyTo: "answers",
  applicationProperties: { tenant: "a", count: 3, DeadLetterReason: "old", DeadLetterErrorDescription: "old" },
});

interface Recorded extends HeardAt {
  readonly contract: ServicebusContract;
  readonly judge: (contract: ServicebusContract, at: HeardAt) => readonly string[];
}

const recorded = new Map<string, Recorded>();

describe.concurrent("the contract on the wire of Service Bus", () => {
  test.for(Object.entries(strategies))(
    "%s: consume does exactly its operations after each attempt, with their values",
    async ([strategy, retry], { onTestFinished }) => {
      const target = { strategy: strategy as keyof typeof strategies, lock: "60s" } as const;
      const system = await deployConsumed(onTestFinished, { ...everyEndingDeclared, ...lateDeclared, retry }, target);
      const contract = system.contract("billing");
      const hasDelays = contract.retryAfter !== undefined;
      const { heard, atMs, watcher } = listen();
      system.lab.emulator.watch({ ...watcher, mayAnswer: () => new Promise((resolve) => setTimeout(resolve, 20)) });
      const endedAt = new Map<string, number>();
      const names = everyEnding(attempts);
      const consumer = await system.consuming(
        ({ body }, { number, signal }) =>
          meet(fateOf(body, number, hasDelays), signal, () =>
            endedAt.set(`${JSON.stringify(body)} ${number}`, Date.now()),
          ),
        { breaker: false, concurrency: 40, body: "json" },
      );
      await system.publish(...[...names, unreadable.name].map(carriedMessage));
      const isOver = (name: string): boolean => consumer.attemptsOf(name).length >= attemptsInAll([name], attempts);
      await waitUntil(() => names.every(isOver) && consumer.health().handling === 0);
      await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
      await consumer.stop();
      const ended: Ended = (body, attempt) => endsOf(body, attempt, hasDelays);
      const judge = (of: ServicebusContract, at: HeardAt): readonly string[] =>
        breachesOf(of, at.heard, at.atMs, ended, (body, attempt) => endedAt.get(`${body} ${attempt}`) ?? null);
      recorded.set(strategy, { contract, heard, atMs, judge });
      expect(judge(contract, { heard, atMs })).toEqual([]);
    },
  );
});

// Runs last, because the comparisons use all of the processor.
describe("a single deviation on the wire of Service Bus", () => {
  test.for(Object.keys(strategies))("%s: is reported", (strategy) => {
    const { contract, judge, ...at } = recorded.get(strategy) as Recorded;
    const { outcomes, retryAfter } = contract;
    const contracts = onePlaceChangesOf({ outcomes, retryAfter }, { skip: ["description", "return"], shift: 60_000 });
    const untold = contracts.filter(({ value }) => {
      const changed = { ...contract, ...value } as ServicebusContract;
      return judge(changed, at).length === 0;
    });
    // A copy no longer has the properties of an earlier death, and it has its original id. So later attempts remove
    // nothing and add nothing.
    const isSeen = ({ what }: { readonly what: string }): boolean =>
      !/byAttempt\[1\]\[0\]\.(removeApplicationProperties|applicationProperties\.redeliver-original-id)/.test(what) &&
      !what.endsWith(".delayMs: another text") &&
      // No copy is refused here: servicebus-consume-large.test.ts tests that.
      !what.includes(".ifTooLarge.");
    expect(untold.filter(isSeen).map(({ what }) => what)).toEqual([]);
    const changed = heardChangesOf(at, contract.workQueue);
    expect(changed.filter(({ value }) => judge(contract, value).length === 0).map(({ what }) => what)).toEqual([]);
  });
});

describe.concurrent("a failing copy on Service Bus", () => {
  // On a slow machine the cut may come late. The delay is so long that the copy still comes after it.
  const once = { retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } }, crash: { deliveries: 5 } };
  const failsOnce = (_: unknown, { number }: { readonly number: number }): void => {
    if (number === 1) throw new Error("not yet");
  };
  const isCopy = (messageId: unknown): boolean => String(messageId).endsWith(":r2");

  test("a refused copy is sent again, and its message stays until then", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, once);
    let refusals = 0;
    const { heard, atMs, watcher } = listen();
    system.lab.emulator.watch({
      ...watcher,
      refuse: (_, { message_id: id }) => {
        if (!isCopy(id) || refusals === 2) return null;
        refusals += 1;
        return { condition: "com.microsoft:server-busy", description: "Too many requests." };
      },
    });
    const consumer = await system.consuming(failsOnce);
    await system.publish(messageOf("once"));
    await waitUntil(() => consumer.attemptsOf("once").length === 2);
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
    expect(consumer.attemptsOf("once")).toEqual([1, 2]);
    expect(consumer.events.filter(({ kind }) => kind === "settle-failed")).toHaveLength(2);
    expect(breachesOf(system.contract("billing"), heard, atMs, ended)).toEqual([]);
  });

  for (const [name, duplicates, wanted] of [
    ["doubles it where nothing looks for duplicates", {}, [1, 1, 2, 2]],
    ["doubles nothing where duplicates are detected", { duplicates: "10m" }, [1, 1, 2]],
  ] as const) {
    test(`the connection is cut between copy and completion ${name}`, async ({ onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, once, duplicates);
      const { emulator } = system.lab;
      let isCut = false;
      let deliveries = 0;
      emulator.watch({
        heard: ({ kind }) => {
          if (kind === "delivered") deliveries += 1;
        },
        mayAnswer: () => {
          if (isCut) return Promise.resolve();
          isCut = true;
          setImmediate(emulator.dropConnections);
          return new Promise(() => undefined);
        },
      });
      // The cut must hit the consumer and not the publisher.
      const published = Promise.withResolvers<void>();
      const consumer = await system.consuming(async (message, attempt) => {
        await published.promise;
        failsOnce(message, attempt);
      });
      await system.publish(messageOf("once"));
      published.resolve();
      await waitUntil(() => consumer.attemptsOf("once").length === wanted.length);
      await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
      expect(consumer.attemptsOf("once").toSorted()).toEqual(wanted);
      expect(await system.letters("billing")).toEqual([]);
      expect(consumer.events.filter(({ kind }) => kind === "settle-dropped")).toHaveLength(1);
      // The consumer receives no message that it does not handle.
      expect(deliveries).toBe(wanted.length);
    });
  }
});
