import { describe, expect, test } from "vitest";

import { deploy, attributes, textsOf, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import type { Decision } from "../support/decide.ts";
import type { DrivenConsumer } from "../support/sqs/drive.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { type Queue, sleep } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const from = { orders: "all" };
const constant = { kind: "constant", delay: "1s" };
/** One second for the handler and one for the delay: a visibility timeout of 2 s. */
const redrive = { from, retry: { attempts: 3, backoff: constant }, handlerTimeout: "1s" };
/** The consumer sets 1 s, then 2 s, after each failure. */
const exponential = { kind: "exponential", first: "1s", factor: 2 };
const visibility = { from, retry: { attempts: 3, backoff: exponential }, handlerTimeout: "1s" };
const order = { "routing-key": "order.placed", tenant: "a" };

type Consumers = Readonly<Record<string, object>>;

/** Emulators round visibility timeouts to whole seconds. */
const roundedMs = 1_000;

/** The milliseconds from the end of each run of the handler to the next delivery. */
function delaysOf({ seen }: DrivenConsumer): number[] {
  return seen.slice(1).map(({ receivedAtMs }, index) => receivedAtMs - (seen[index]?.settledAtMs ?? 0));
}

/**
 * The longest time after each run of the handler at which a request still found the queue empty. A message that came as
 * soon as it was due has at most its delay here, on a slow machine too.
 */
function emptyFor({ seen, emptyAtMs }: DrivenConsumer): number[] {
  return seen.slice(1).map(({ askedAtMs }, index) => {
    const last = emptyAtMs.findLast((atMs) => atMs < askedAtMs) ?? -Infinity;
    return Math.max(0, last - (seen[index]?.answeredAtMs ?? Infinity));
  });
}

/**
 * The milliseconds from before each receive to the next delivery. A queue's visibility timeout cannot be longer than
 * this.
 */
function gapsOf({ seen }: DrivenConsumer): number[] {
  return seen.slice(1).map(({ receivedAtMs }, index) => receivedAtMs - (seen[index]?.askedAtMs ?? 0));
}

async function isDead(system: DeployedSystem, consumer: string, messages = 1): Promise<boolean> {
  return (await system.lab.count(system.dead(consumer))) === messages;
}

/** Receives all visible messages of a queue. */
async function drain({ lab }: DeployedSystem, queue: Queue): Promise<readonly { body: string; attributes: object }[]> {
  const messages = await lab.receive(queue, { max: 10 });
  return messages.map(({ Body = "", MessageAttributes }) => ({ body: Body, attributes: textsOf(MessageAttributes) }));
}

/** Polls queues again and again. @returns the number of deliveries */
async function pollAll({ lab }: DeployedSystem, queues: readonly Queue[], times: number): Promise<number> {
  let delivered = 0;
  for (let round = 0; round < times; round++) {
    for (const queue of queues) delivered += (await lab.receive(queue, { max: 10 })).length;
    await sleep(250);
  }
  return delivered;
}

const always =
  (decision: Decision): (() => Decision) =>
  () =>
    decision;

for (const emulator of sqsEmulators()) {
  const within = async (consumers: Consumers, run: (system: DeployedSystem) => Promise<void>): Promise<void> =>
    withSystem(emulator, consumers, run);

  // Concurrent, because each test mostly waits for visibility timeouts.
  describe.concurrent(`on ${emulator.name} ${emulator.version}`, () => {
    test("redrive: N deliveries, nothing on receive N + 1, one unchanged dead letter, and no more deliveries", async () =>
      within({ billing: redrive }, async (system) => {
        const { lab, applied } = system;
        const [work, dead] = [system.work("billing"), system.dead("billing")];
        const id = await lab.send(work, "order 1", { MessageAttributes: attributes(order) });
        const consumer = system.drive("billing", always("transient"));
        await consumer.pollUntil(() => consumer.seen.length === 3);
        expect(consumer.seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
        for (const gapMs of gapsOf(consumer)) expect(gapMs).toBeGreaterThanOrEqual(2_000);
        await sleep(2_100);
        expect(await lab.count(work), "still there while nobody receives").toBe(1);
        expect(await consumer.poll(), "receive N + 1").toBe(0);
        expect([await lab.count(work), await lab.count(dead)]).toEqual([0, 1]);
        const [letter] = await lab.receive(dead);
        expect([letter?.MessageId, letter?.Body]).toEqual([id, "order 1"]);
        expect(textsOf(letter?.MessageAttributes)).toEqual(order);
        expect(await pollAll(system, [...applied.queues.values()], 10), "deliveries after the end").toBe(0);
        expect(consumer.seen).toHaveLength(3);
      }));

    test("visibility: each attempt comes at its time, never early, and the last failure ends in the dead queue", async () =>
      within({ billing: visibility }, async (system) => {
        await system.lab.send(system.work("billing"), "order 1", { MessageAttributes: attributes(order) });
        const consumer = system.drive("billing", always("transient"));
        await consumer.pollUntil(async () => isDead(system, "billing"));
        expect(consumer.seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
        const delays = delaysOf(consumer);
        for (const [index, declaredMs] of [1_000, 2_000].entries()) {
          expect(delays[index]).toBeGreaterThanOrEqual(declaredMs);
          expect(emptyFor(consumer)[index]).toBeLessThanOrEqual(declaredMs + roundedMs);
        }
        expect(await drain(system, system.dead("billing"))).toEqual([{ body: "order 1", attributes: order }]);
      }));

    test("a delay from the handler is kept, and one with jitter lies within its bounds", async () =>
      within(
        {
          billing: { ...visibility, retry: { ...visibility.retry, retryAfter: { max: "5s" } } },
          mail: { ...visibility, retry: { attempts: 2, backoff: { ...constant, jitter: "100%" } } },
        },
        async (system) => {
          await system.lab.send(system.work("billing"), "order 1");
          await system.lab.send(system.work("mail"), "order 1");
          const asking = system.drive("billing", ({ attempt }) => (attempt === 1 ? { askMs: 2_500 } : "success"));
          const mail = system.drive("mail", ({ attempt }) => (attempt === 1 ? "transient" : "success"));
          const both = [asking, mail].map(async (each) => each.pollUntil(() => each.seen.length === 2));
          await Promise.all(both);
          expect(delaysOf(asking)[0], "rounded up to whole seconds").toBeGreaterThanOrEqual(3_000);
          expect(emptyFor(asking)[0]).toBeLessThanOrEqual(3_000 + roundedMs);
          expect(delaysOf(mail)[0]).toBeGreaterThanOrEqual(1_000);
          expect(emptyFor(mail)[0]).toBeLessThanOrEqual(2_000 + roundedMs);
        },
      ));

    test("success on attempt k ends the message, also on the last attempt", async () =>
      within({ billing: visibility }, async (system) => {
        const work = system.work("billing");
        await system.lab.send(work, "2");
        await system.lab.send(work, "3");
        const consumer = system.drive("billing", ({ body, attempt }) =>
          attempt === Number(body) ? "success" : "transient",
        );
        await consumer.pollUntil(() => consumer.seen.length === 5);
        await sleep(1_000);
        expect(await pollAll(system, [...system.applied.queues.values()], 4)).toBe(0);
        expect([await system.lab.count(work), await isDead(system, "billing", 0)]).toEqual([0, true]);
        expect(consumer.seen.filter(({ body }) => body === "2").map(({ attempt }) => attempt)).toEqual([1, 2]);
      }));

    test("a permanent failure is a dead letter at once, with its reason", async () =>
      within({ billing: redrive }, async (system) => {
        await system.lab.send(system.work("billing"), "order 1", { MessageAttributes: attributes(order) });
        const consumer = system.drive("billing", always("permanent"));
        await consumer.pollUntil(() => consumer.seen.length === 1);
        expect([await system.lab.count(system.work("billing")), await isDead(system, "billing")]).toEqual([0, true]);
        const reason = { "dlq-original-queue": system.work("billing").name, "dlq-failure-reason": "PERMANENT_FAILURE" };
        const [letter] = await drain(system, system.dead("billing"));
        expect(letter).toEqual({ body: "order 1", attributes: { ...order, ...reason } });
      }));

    test("a crash between the two steps of a dead letter doubles it and loses nothing", async () =>
      within({ billing: redrive }, async (system) => {
        await system.lab.send(system.work("billing"), "order 1");
        const consumer = system.drive("billing", ({ attempt }) =>
          attempt === 1 ? { crashAfter: 1, of: "permanent" } : "permanent",
        );
        await consumer.pollUntil(() => consumer.seen.length === 2);
        expect([await system.lab.count(system.work("billing")), await isDead(system, "billing", 2)]).toEqual([0, true]);
      }));

    test("crashes, returns and failures spend the same attempts", async () =>
      within({ billing: { ...redrive, handlerTimeout: "3s" } }, async (system) => {
        await system.lab.send(system.work("billing"), "order 1");
        const endings: readonly Decision[] = ["return", "crash", "transient"];
        const consumer = system.drive("billing", ({ attempt }) => endings[attempt - 1] ?? "success");
        await consumer.pollUntil(async () => isDead(system, "billing"));
        expect(consumer.seen).toHaveLength(3);
        const [, afterCrash] = gapsOf(consumer);
        expect(emptyFor(consumer)[0], "handed back, it comes at once").toBeLessThanOrEqual(roundedMs);
        expect(afterCrash, "after a crash it waits for the visibility timeout").toBeGreaterThanOrEqual(4_000);
      }));

    test("a queue without a receiver never dead-letters", async () =>
      within({ billing: redrive }, async (system) => {
        await system.lab.send(system.work("billing"), "order 1");
        const consumer = system.drive("billing", always("transient"));
        await consumer.pollUntil(() => consumer.seen.length === 3);
        await sleep(5_000);
        expect([await system.lab.count(system.work("billing")), await isDead(system, "billing", 0)]).toEqual([1, true]);
        await consumer.pollUntil(async () => isDead(system, "billing"));
        expect(consumer.seen).toHaveLength(3);
      }));

    test("FIFO: a group waits for its failed message, another group does not, and a dead message lets the others pass", async () =>
      within({ billing: { ...redrive, order: "per-key" } }, async (system) => {
        const work = system.work("billing");
        for (const body of ["a1", "a2", "b1", "a3"])
          await system.lab.send(work, body, { MessageGroupId: body.slice(0, 1), MessageDeduplicationId: body });
        const consumer = system.drive("billing", ({ body, attempt }) => {
          if (body === "a2") return "transient";
          return body === "a1" && attempt === 1 ? "transient" : "success";
        });
        await consumer.pollUntil(() => consumer.seen.some(({ body }) => body === "a3"), 28_000);
        const bodies = consumer.seen.map(({ body }) => body);
        expect(bodies.filter((body) => body.startsWith("a"))).toEqual(["a1", "a1", "a2", "a2", "a2", "a3"]);
        expect(bodies.indexOf("b1"), "before the second attempt of a1").toBe(1);
        expect((await drain(system, system.dead("billing"))).map(({ body }) => body)).toEqual(["a2"]);
      }));

    test("FIFO: a permanent failure keeps its group, and the next message of the group continues", async () =>
      within({ billing: { ...redrive, order: "per-key" } }, async (system) => {
        for (const body of ["a1", "a2"])
          await system.lab.send(system.work("billing"), body, { MessageGroupId: "a", MessageDeduplicationId: body });
        const consumer = system.drive("billing", ({ body }) => (body === "a1" ? "permanent" : "success"));
        await consumer.pollUntil(() => consumer.seen.length === 2);
        const [letter] = await system.lab.receive(system.dead("billing"));
        expect([letter?.Body, letter?.Attributes?.MessageGroupId]).toEqual(["a1", "a"]);
      }));

    topicTests(emulator);
  });
}

function topicTests(emulator: SqsEmulator): void {
  const consumers = {
    billing: { ...visibility, from: { orders: ["order.placed", "order.cancelled"] } },
    mail: { ...visibility, from: { orders: ["order.#"] } },
    audit: { ...visibility, from: { orders: ["price.changed"] } },
  };
  if (gapOf("topic-reaches-all", emulator.name) !== undefined) {
    test("topics and subscriptions are skipped, because this emulator has no SNS", async () =>
      withSystem(emulator, consumers, async ({ applied }) => {
        expect(applied.topics.size).toBe(0);
        expect(applied.leftOut.filter((each) => each.endsWith("ElasticMQ has no SNS"))).toHaveLength(4);
      }));
    return;
  }
  test("a topic reaches every consumer that takes the message, and a retry only its own", async () =>
    withSystem(emulator, consumers, async (system) => {
      const [topic = ""] = system.applied.topics.values();
      await system.lab.publish(topic, "order 1", attributes(order));
      await system.lab.publish(topic, "price 1", attributes({ "routing-key": "price.changed" }));
      const billing = system.drive("billing", ({ attempt }) => (attempt === 1 ? "transient" : "success"));
      const mail = system.drive("mail", always("success"));
      const audit = system.drive("audit", always("success"));
      await billing.pollUntil(() => billing.seen.length === 2);
      for (let poll = 0; poll < 5; poll++) await Promise.all([billing, mail, audit].map(async (each) => each.poll()));
      const bodies = [billing, mail, audit].map(({ seen }) => seen.map(({ body, attempt }) => `${body}: ${attempt}`));
      expect(bodies).toEqual([["order 1: 1", "order 1: 2"], ["order 1: 1"], ["price 1: 1"]]);
      expect(textsOf(mail.seen[0]?.message.MessageAttributes), "raw, with its attributes").toEqual(order);
      for (const queue of system.applied.queues.values()) expect(await system.lab.count(queue), queue.name).toBe(0);
    }));
}

async function withSystem(
  emulator: SqsEmulator,
  consumers: Consumers,
  run: (system: DeployedSystem) => Promise<void>,
): Promise<void> {
  await using system = await deploy(emulator, consumers);
  await run(system);
}
