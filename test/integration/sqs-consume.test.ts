import { describe, expect, test } from "vitest";

import { permanent, retryAfter } from "../../src/consume/failure.ts";
import { until } from "../support/deployed-system.ts";
import { attributes, deploy, type DeployedSystem, textsOf } from "../support/sqs/deployed-system.ts";
import { type Consuming, consuming, type ConsumingOptions, type Handle, untilCount } from "../support/sqs/consuming.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { sleep } from "../support/sqs/lab.ts";

const from = { orders: "all" };
const redrive = {
  from,
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "2s",
  errors: { permanent: ["ValidationError"] },
};
const visibility = {
  ...redrive,
  retry: { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 }, retryAfter: { max: "10s" } },
};
const order = { "routing-key": "order.placed", tenant: "a" };

const failing: Handle = () => {
  throw new Error("the bank is down");
};

describe.concurrent.each(sqsEmulators())("consume on $name $version", (emulator) => {
  const within = async (
    declared: object,
    handle: Handle,
    run: (system: DeployedSystem, consumer: Consuming) => Promise<void>,
    options: ConsumingOptions = {},
  ): Promise<void> => {
    await using system = await deploy(emulator, { billing: declared });
    await using consumer = await consuming(system, "billing", handle, options);
    await run(system, consumer);
  };

  test("redrive: every attempt by the queue's own timeout, never early, then an unchanged dead letter", async () =>
    within(redrive, failing, async (system, consumer) => {
      await system.lab.send(system.work("billing"), "order 1", { MessageAttributes: attributes(order) });
      await untilCount(system, "dead", "billing", 1);
      expect(consumer.attemptsOf("order 1")).toEqual([1, 2, 3]);
      for (const [index, { endedAtMs }] of consumer.runs.slice(0, -1).entries())
        expect((consumer.runs[index + 1]?.beganAtMs ?? 0) - endedAtMs).toBeGreaterThan(1_000);
      const [letter] = await system.lab.receive(system.dead("billing"), { waitSeconds: 1 });
      expect([letter?.Body, textsOf(letter?.MessageAttributes)]).toEqual(["order 1", order]);
      expect(await system.lab.count(system.work("billing"))).toBe(0);
    }));

  test("visibility: growing delays, never early; a delay from the handler takes their place", async () =>
    within(
      visibility,
      ({ body }, { number }) => {
        if (body === "asks" && number === 1) throw retryAfter("3s");
        if (body === "asks") return;
        throw new Error("the bank is down");
      },
      async (system, consumer) => {
        for (const body of ["fails", "asks"]) await system.lab.send(system.work("billing"), body);
        await untilCount(system, "dead", "billing", 1);
        await untilCount(system, "work", "billing", 0);
        expect([consumer.attemptsOf("fails"), consumer.attemptsOf("asks")]).toEqual([
          [1, 2, 3],
          [1, 2],
        ]);
        const gaps = (body: string): number[] => {
          const runs = consumer.runs.filter((run) => run.body === body);
          return runs.slice(1).map(({ beganAtMs }, index) => beganAtMs - (runs[index]?.endedAtMs ?? 0));
        };
        const [first = 0, second = 0] = gaps("fails");
        expect(first).toBeGreaterThanOrEqual(1_000);
        expect(second).toBeGreaterThanOrEqual(2_000);
        expect(gaps("asks")[0]).toBeGreaterThanOrEqual(3_000);
      },
    ));

  test("jitter: each delay lies within its bounds", async () =>
    within(
      { ...redrive, retry: { attempts: 2, backoff: { kind: "constant", delay: "1s", jitter: "100%" } } },
      (_, { number }) => {
        if (number === 1) throw new Error("once");
      },
      async (system, consumer) => {
        const bodies = Array.from({ length: 8 }, (_, index) => `order ${index}`);
        for (const body of bodies) await system.lab.send(system.work("billing"), body);
        await untilCount(system, "work", "billing", 0);
        for (const body of bodies) {
          const [one, two] = consumer.runs.filter((run) => run.body === body);
          expect((two?.beganAtMs ?? 0) - (one?.endedAtMs ?? 0)).toBeGreaterThanOrEqual(1_000);
        }
      },
    ));

  test("permanent, by name, by permanent() or by an unreadable body: dead at once, with reason and metadata", async () =>
    within(
      redrive,
      ({ body }) => {
        const named = Object.assign(new Error("no such field"), { name: "ValidationError" });
        throw body === "by name" ? new Error("outer", { cause: named }) : permanent("UNKNOWN_CUSTOMER");
      },
      async (system, consumer) => {
        for (const body of ['"by name"', '"by word"', "{ broken"])
          await system.lab.send(system.work("billing"), body, { MessageAttributes: attributes(order) });
        await untilCount(system, "dead", "billing", 3);
        await untilCount(system, "work", "billing", 0);
        const letters = new Map<string, Record<string, string>>();
        await until(30_000, async () => {
          for (const letter of await system.lab.receive(system.dead("billing"), { max: 10, waitSeconds: 1 }))
            letters.set(letter.Body ?? "", textsOf(letter.MessageAttributes));
          return letters.size === 3;
        });
        const reasons = [...letters].map(([body, each]) => [body, each["dlq-failure-reason"]]);
        expect(Object.fromEntries(reasons)).toEqual({
          '"by name"': "PERMANENT_FAILURE",
          '"by word"': "UNKNOWN_CUSTOMER",
          "{ broken": "UNREADABLE_MESSAGE",
        });
        for (const letter of letters.values()) {
          expect(letter).toMatchObject({
            ...order,
            "dlq-original-queue": system.work("billing").name,
            "dlq-retry-count": "1",
            "dlq-failing-consumer-info": expect.stringContaining("service=billing"),
            "dlq-exception-stack-trace-summary": expect.stringContaining("Error"),
          });
          expect(Date.parse(letter["dlq-failure-timestamp"] ?? "")).not.toBeNaN();
        }
        expect(consumer.runs).toHaveLength(2);
      },
      { body: "json" },
    ));

  test("a dead letter keeps all attributes of its message, and gets as many fields as fit", async () =>
    within(
      redrive,
      () => {
        throw permanent("UNKNOWN_CUSTOMER");
      },
      async (system) => {
        const own = (count: number): Record<string, string> =>
          Object.fromEntries(Array.from({ length: count }, (_, index) => [`own-${index}`, "value"]));
        for (const count of [8, 9, 10])
          await system.lab.send(system.work("billing"), `${count}`, { MessageAttributes: attributes(own(count)) });
        await untilCount(system, "dead", "billing", 3);
        const letters = new Map<string, Record<string, string>>();
        await until(30_000, async () => {
          for (const letter of await system.lab.receive(system.dead("billing"), { max: 10, waitSeconds: 1 }))
            letters.set(letter.Body ?? "", textsOf(letter.MessageAttributes));
          return letters.size === 3;
        });
        const queue = { "dlq-original-queue": system.work("billing").name };
        expect(Object.fromEntries(letters)).toEqual({
          8: { ...own(8), ...queue, "dlq-failure-reason": "UNKNOWN_CUSTOMER" },
          9: { ...own(9), ...queue },
          10: own(10),
        });
      },
    ));

  test("a handler that takes too long has failed, and its signal is aborted", async () => {
    const aborted: number[] = [];
    return within(
      { ...redrive, handlerTimeout: "1s" },
      async (_, { number, signal }) => {
        if (number === 2) return;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        aborted.push(number);
      },
      async (system, consumer) => {
        await system.lab.send(system.work("billing"), "slow");
        await untilCount(system, "work", "billing", 0);
        expect(aborted).toEqual([1]);
        expect(consumer.attemptsOf("slow")).toEqual([1, 2]);
        // SQS deletes the message a moment before the consumer gets the answer.
        const settled = () => consumer.events.filter(({ kind }) => kind === "settled");
        await until(30_000, () => settled().length === 2);
        expect(settled()).toMatchObject([{ outcome: "transient", reason: "TIMEOUT" }, { outcome: "success" }]);
      },
    );
  });

  test("a stop returns messages of long handlers, and takes nothing more", async () =>
    within(
      { ...redrive, handlerTimeout: "30s" },
      async ({ body }, { signal }) => {
        if (body === "long") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      async (system, consumer) => {
        const work = system.work("billing");
        await system.lab.send(work, "short");
        await untilCount(system, "work", "billing", 0);
        await system.lab.send(work, "long");
        await until(30_000, () => consumer.runs.length === 2);
        expect(consumer.health()).toMatchObject({ state: "running", isTaking: true, handling: 1 });
        await consumer.stop("8s");
        expect(consumer.events.filter(({ kind }) => kind === "returned")).toMatchObject([{ unfinished: true }]);
        expect(consumer.health()).toMatchObject({ state: "stopped", isTaking: false, handling: 0 });
        await system.lab.send(work, "later");
        await sleep(1_500);
        expect(consumer.runs).toHaveLength(2);
        const visible: (string | undefined)[] = [];
        await until(20_000, async () => {
          visible.push(...(await system.lab.receive(work, { max: 10, waitSeconds: 1 })).map(({ Body }) => Body));
          return visible.length === 2;
        });
        expect(visible.toSorted(), "long at once, though a crash would hide it for 31s").toEqual(["later", "long"]);
      },
    ));

  test("FIFO: a key waits for its failed message, other keys do not", async () =>
    within(
      { ...redrive, order: "per-key" },
      ({ body }, { number }) => {
        if (body === "a2" || (body === "a1" && number === 1)) throw new Error("not yet");
        if (body === "b2") throw permanent("UNKNOWN_CUSTOMER");
      },
      async (system, consumer) => {
        for (const body of ["a1", "a2", "a3", "b1", "b2", "b3"])
          await system.lab.send(system.work("billing"), body, {
            MessageGroupId: body.slice(0, 1),
            MessageDeduplicationId: body,
          });
        await untilCount(system, "work", "billing", 0);
        const bodies = consumer.runs.map(({ body }) => body);
        const ofKey = (key: string): string[] => bodies.filter((body) => body.startsWith(key));
        expect(ofKey("a")).toEqual(["a1", "a1", "a2", "a2", "a2", "a3"]);
        expect(ofKey("b")).toEqual(["b1", "b2", "b3"]);
        const letters: (string | undefined)[] = [];
        await until(30_000, async () => {
          const received = await system.lab.receive(system.dead("billing"), { max: 10, waitSeconds: 1 });
          letters.push(...received.map(({ Body, Attributes }) => `${Body} of ${Attributes?.MessageGroupId}`));
          return letters.length === 2;
        });
        expect(letters.toSorted()).toEqual(["a2 of a", "b2 of b"]);
      },
    ));

  test("an outage of a dependency does not push the queue into the dead queue", async () => {
    let isUp = false;
    return within(
      { ...visibility, retry: { attempts: 5, backoff: { kind: "constant", delay: "1s", jitter: "100%" } } },
      () => {
        if (!isUp) throw new Error("the bank is down");
      },
      async (system, consumer) => {
        const bodies = Array.from({ length: 12 }, (_, index) => `order ${index}`);
        for (const body of bodies) await system.lab.send(system.work("billing"), body);
        const pauses = (): number => consumer.events.filter(({ kind }) => kind === "paused").length;
        await until(120_000, () => pauses() === 3);
        const whileDown = consumer.runs.length;
        isUp = true;
        await untilCount(system, "work", "billing", 0);
        expect(await system.lab.count(system.dead("billing"))).toBe(0);
        // Three failures of first attempts, the attempts that ran with them, and up to three after each pause but the
        // last.
        expect(whileDown).toBeLessThanOrEqual(3 + 1 + 3 * 2);
        expect(new Set(consumer.runs.slice(whileDown).map(({ body }) => body)).size).toBe(12);
      },
      { concurrency: 2, breaker: { failures: 3, firstPause: "1s", longestPause: "4s" } },
    );
  });

  test("the consumer never holds more messages than handlers run", async () => {
    let now = 0;
    let most = 0;
    return within(
      { ...redrive, handlerTimeout: "10s" },
      async () => {
        most = Math.max(most, ++now);
        await sleep(50);
        now--;
      },
      async (system, consumer) => {
        const sending = Array.from({ length: 40 }, (_, index) =>
          system.lab.send(system.work("billing"), `order ${index}`),
        );
        await Promise.all(sending);
        await until(60_000, () => {
          expect(consumer.health().waiting).toBe(0);
          return consumer.runs.length === 40;
        });
        await untilCount(system, "work", "billing", 0);
        expect(most).toBeLessThanOrEqual(3);
        expect(consumer.runs.every(({ attempt }) => attempt === 1)).toBe(true);
      },
      { concurrency: 3 },
    );
  });
});
