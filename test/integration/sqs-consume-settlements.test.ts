import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";

import { permanent } from "../../src/consume/failure.ts";
import { until } from "../support/deployed-system.ts";
import { type Consuming, consuming, type Handle, untilCount } from "../support/sqs/consuming.ts";
import { deploy, type DeployedSystem, textsOf } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { type Fate, type RecordingProxy, startRecordingProxy } from "../support/sqs/recording-proxy.ts";

const standard = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "linear", first: "1s" } },
  handlerTimeout: "2s",
};
// Long enough to settle a message in time on a busy machine.
const fifo = {
  ...standard,
  order: "per-key",
  retry: { attempts: 3, backoff: { kind: "constant", delay: "2s" } },
  handlerTimeout: "10s",
};
const fail: Handle = () => {
  throw permanent("UNKNOWN_CUSTOMER");
};
const stale: Fate = { error: "ReceiptHandleIsInvalid", status: 400 };
const denied: Fate = { error: "AccessDenied", status: 403 };

interface Faulty {
  readonly system: DeployedSystem;
  readonly proxy: RecordingProxy;
  readonly start: (handle: Handle) => Promise<Consuming>;
}

for (const emulator of sqsEmulators()) {
  describe.concurrent(`a deletion that fails after the dead letter was sent, on ${emulator.name} ${emulator.version}`, () => {
    const within = async (declared: object, run: (faulty: Faulty) => Promise<void>): Promise<void> => {
      await using system = await deploy(emulator, { billing: declared });
      await using proxy = await startRecordingProxy(emulator.endpoint);
      await using consumers = new AsyncDisposableStack();
      await run({
        system,
        proxy,
        start: async (handle) =>
          consumers.use(await consuming(system, "billing", handle, { endpoint: proxy.endpoint })),
      });
    };
    const send = async ({ lab, work }: DeployedSystem): Promise<string> => {
      const isFifo = work("billing").name.endsWith(".fifo");
      const inGroup = { MessageGroupId: "a", MessageDeduplicationId: "order-1" };
      return lab.send(work("billing"), "order 1", isFifo ? inGroup : {});
    };
    /** The message of each dead letter. A copy names its original, and a message that SQS moved has kept its id. */
    const lettersOf = async ({ lab, dead }: DeployedSystem, count: number): Promise<readonly string[]> => {
      const ids: string[] = [];
      await until(60_000, async () => {
        for (const { MessageAttributes, MessageId = "" } of await lab.receive(dead("billing"), { max: 10 }))
          ids.push(textsOf(MessageAttributes)["dlq-original-message-id"] ?? MessageId);
        return ids.length >= count;
      });
      return ids;
    };

    for (const [kind, declared, letters] of [
      ["standard: the message comes again, and its second dead letter is known by its id", standard, 2],
      ["FIFO: the message comes again, and its second dead letter is dropped as a duplicate", fifo, 1],
    ] as const)
      test(kind, async () =>
        within(declared, async ({ system, proxy, start }) => {
          let refusals = 0;
          const consumer = await start(fail);
          proxy.decide(({ operation }) => (operation === "DeleteMessage" && refusals++ === 0 ? stale : "pass"));
          const id = await send(system);
          await untilCount(system, "work", "billing", 0);
          expect(consumer.attemptsOf("order 1")).toEqual([1, 2]);
          expect(proxy.calls.filter(({ operation }) => operation === "SendMessage")).toHaveLength(2);
          expect(await system.lab.count(system.dead("billing"))).toBe(letters);
          expect(await lettersOf(system, letters)).toEqual(Array.from({ length: letters }, () => id));
          await until(60_000, () => consumer.events.some(({ kind: each }) => each === "settled"));
          const kinds = consumer.events.map(({ kind: each }) => each).filter((each) => each.startsWith("settle"));
          expect(kinds).toEqual(["settle-dropped", "settled"]);
        }),
      );

    test("the dead queue is deleted: the message stays until there is one again, and is not lost", async () =>
      within({ ...standard, handlerTimeout: "60s" }, async ({ system, start }) => {
        const { name, url } = system.dead("billing");
        const consumer = await start(fail);
        await system.lab.sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
        const id = await send(system);
        await until(60_000, () => consumer.events.some(({ kind }) => kind === "settle-failed"));
        expect(await system.lab.count(system.work("billing"))).toBe(1);
        await system.lab.createQueue({}, name);
        await untilCount(system, "work", "billing", 0);
        expect(consumer.attemptsOf("order 1")).toEqual([1]);
        expect(await lettersOf(system, 1)).toEqual([id]);
      }));

    test("the deletion fails until the message has come again: both are deleted, and nothing comes a third time", async () =>
      within(standard, async ({ system, proxy, start }) => {
        const consumer = await start(fail);
        const isAgain = (): boolean => consumer.attemptsOf("order 1").length === 2;
        proxy.decide(({ operation }) => (operation === "DeleteMessage" && !isAgain() ? "cut-call" : "pass"));
        const id = await send(system);
        await until(120_000, isAgain);
        await untilCount(system, "work", "billing", 0);
        // When a later receive has made a receipt stale, a deletion with it fails on ElasticMQ. On moto it succeeds
        // and deletes nothing.
        await until(120_000, () => consumer.health().handling === 0);
        const kinds = consumer.events.map(({ kind }) => kind).filter((kind) => /^(settled|settle-dropped)$/.test(kind));
        expect(kinds.toSorted()).toEqual([emulator.name === "moto" ? "settled" : "settle-dropped", "settled"]);
        expect(consumer.attemptsOf("order 1")).toEqual([1, 2]);
        expect(await lettersOf(system, 2)).toEqual([id, id]);
      }));

    test("the deletion is never allowed: one dead letter for each possible receive, and no more", async () =>
      within(standard, async ({ system, proxy, start }) => {
        const consumer = await start(fail);
        proxy.decide(({ operation }) => (operation === "DeleteMessage" ? denied : "pass"));
        const id = await send(system);
        // After the last of them SQS moves the message itself.
        await until(180_000, async () => (await system.lab.count(system.dead("billing"))) === 4);
        expect(await system.lab.count(system.work("billing"))).toBe(0);
        expect(consumer.attemptsOf("order 1")).toEqual([1, 2, 3]);
        expect(await lettersOf(system, 4)).toEqual([id, id, id, id]);
        expect(consumer.events.filter(({ kind }) => kind === "settled")).toEqual([]);
      }));
  });
}
