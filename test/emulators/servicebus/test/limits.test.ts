import type { CreateQueueOptions, DeadLetterOptions } from "@azure/service-bus";
import { describe, expect, test } from "vitest";

import type { Observation } from "../src/known-gaps.ts";
import { type Lab, startLab } from "../src/lab.ts";
import { answerTo, receiveOne } from "./experiment.ts";

type Sku = "basic" | "standard" | "premium";
/** A request to a namespace of a tier, and its answer in each tier. */
interface Limit {
  /** Standard, if it is missing. */
  readonly sku?: Sku;
  /** The options of the queue "orders"; null for no queue. */
  readonly queue?: CreateQueueOptions | null;
  readonly ask: (lab: Lab) => Promise<readonly Observation[]>;
  readonly answers: readonly Observation[];
}

const text = (bytes: number): string => "x".repeat(bytes);
const body = (bytes: number): Buffer => Buffer.alloc(bytes);
const sent = (lab: Lab, message: object): Promise<string> =>
  answerTo(lab.client.createSender("orders").sendMessages({ body: "", ...message }));
const later = (): Date => new Date(Date.now() + 60_000);
const scheduled = (lab: Lab, message: object): Promise<string> =>
  answerTo(lab.client.createSender("orders").scheduleMessages({ body: "", ...message }, later()));

async function inTurn<Item>(items: readonly Item[], ask: (item: Item) => Promise<Observation>): Promise<Observation[]> {
  const answers: Observation[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}

/** Settles one message of a queue with this operation. */
async function settled(lab: Lab, settle: "deadLetterMessage" | "abandonMessage", options: object): Promise<string> {
  await lab.client.createSender("orders").sendMessages({ body: "1", applicationProperties: { own: text(30_000) } });
  const receiver = lab.receiver("orders");
  const message = await receiveOne(lab, receiver);
  const answer = await answerTo(receiver[settle](message, options as DeadLetterOptions & Record<string, string>));
  await receiver.close();
  return answer;
}

const limits: Readonly<Record<string, Limit>> = {
  "a message has 256 KB with its properties": {
    ask: async (lab) => {
      const own = { applicationProperties: { own: text(1_000) } };
      return inTurn([{ body: body(262_000) }, { body: body(262_000), ...own }], (each) => sent(lab, each));
    },
    answers: ["accepted", "MessageSizeExceeded"],
  },
  "a scheduled message has the same limit, and a larger request to schedule gets no answer": {
    ask: async (lab) => {
      const sentForLater = await inTurn([200_000, 263_000], (bytes) =>
        sent(lab, { body: body(bytes), scheduledEnqueueTimeUtc: later() }),
      );
      return [...sentForLater, ...(await inTurn([200_000, 263_000], (bytes) => scheduled(lab, { body: body(bytes) })))];
    },
    answers: ["accepted", "MessageSizeExceeded", "accepted", "ServiceTimeout"],
  },
  "a message has 1 MB unless its entity sets another limit": {
    sku: "premium",
    ask: async (lab) => inTurn([1_000_000, 1_050_000], (bytes) => sent(lab, { body: body(bytes) })),
    answers: ["accepted", "MessageSizeExceeded"],
  },
  "a message has its entity's limit, but a batch and a request to schedule have 1 MB": {
    sku: "premium",
    queue: { maxMessageSizeInKilobytes: 4_096 },
    ask: async (lab) => {
      const two = [1, 2].map(() => ({ body: body(600_000) }));
      const message = { body: body(3_000_000) };
      return [
        await sent(lab, message),
        await sent(lab, { ...message, scheduledEnqueueTimeUtc: later() }),
        await answerTo(lab.client.createSender("orders").sendMessages(two)),
        await scheduled(lab, message),
      ];
    },
    answers: ["accepted", "accepted", "MessageSizeExceeded", "ServiceTimeout"],
  },
  "an entity sets the size of a message only in the premium tier, from 1 to 100 MB": {
    sku: "premium",
    ask: async (lab) =>
      inTurn([1_023, 102_400, 102_401], (maxMessageSizeInKilobytes) =>
        answerTo(lab.queue(`orders-${maxMessageSizeInKilobytes}`, { maxMessageSizeInKilobytes })),
      ),
    answers: ["400", "accepted", "400"],
  },
  "an entity of another tier cannot set it": {
    queue: null,
    ask: async (lab) => [await answerTo(lab.queue("orders", { maxMessageSizeInKilobytes: 1_024 }))],
    answers: ["400"],
  },
  "a property has 32 KB, and so has its name, and all have 64 KB": {
    ask: async (lab) => {
      const properties = [
        { a: text(32_768) },
        { a: text(32_769) },
        { [text(32_769)]: "a" },
        { a: text(32_000), b: text(32_000) },
        { a: text(32_000), b: text(32_000), c: text(2_000) },
      ];
      return inTurn(properties, (applicationProperties) => sent(lab, { applicationProperties }));
    },
    answers: ["accepted", "GeneralError", "GeneralError", "accepted", "GeneralError"],
  },
  "a dead letter's reason and description have 4 096 characters, and all its properties 64 KB": {
    ask: async (lab) => {
      const deaths = [
        { deadLetterReason: text(4_096), deadLetterErrorDescription: text(4_096) },
        { deadLetterReason: text(4_097) },
        { deadLetterErrorDescription: text(4_097) },
        { a: text(32_000), b: text(32_000) },
      ];
      return inTurn(deaths, (each) => settled(lab, "deadLetterMessage", each));
    },
    answers: ["accepted", "GeneralError", "GeneralError", "GeneralError"],
  },
  "an abandoned message has 64 KB of properties as well": {
    ask: async (lab) => {
      const changes = [{ a: text(1_000) }, { a: text(32_000), b: text(32_000) }];
      return inTurn(changes, (each) => settled(lab, "abandonMessage", each));
    },
    answers: ["accepted", "GeneralError"],
  },
  "ids have 128 characters": {
    // The SDK itself refuses a longer one.
    ask: async (lab) => inTurn([{ messageId: text(128) }, { sessionId: text(128) }], (each) => sent(lab, each)),
    answers: ["accepted", "accepted"],
  },
  "ids of messages are remembered for 20 s to 7 d": {
    ask: async (lab) =>
      inTurn(["PT19S", "PT20S", "P7D", "P7DT1S"], (duplicateDetectionHistoryTimeWindow) =>
        answerTo(
          lab.queue(`of-${duplicateDetectionHistoryTimeWindow}`, {
            requiresDuplicateDetection: true,
            duplicateDetectionHistoryTimeWindow,
          }),
        ),
      ),
    answers: ["400", "accepted", "accepted", "400"],
  },
  "an entity that deletes itself on idle waits at least 5 min": {
    ask: async (lab) =>
      inTurn(["PT4M59S", "PT5M"], (autoDeleteOnIdle) => answerTo(lab.queue(autoDeleteOnIdle, { autoDeleteOnIdle }))),
    answers: ["400", "accepted"],
  },
  "a SQL filter has 1 024 characters": {
    ask: async (lab) => {
      await lab.administration.createTopic("shop");
      await lab.administration.createSubscription("shop", "one");
      const filter = (length: number): string => `sys.Label = '${text(length - 14)}'`;
      return inTurn([1_024, 1_025], (length) =>
        answerTo(lab.administration.createRule("shop", "one", `of-${length}`, { sqlExpression: filter(length) })),
      );
    },
    answers: ["accepted", "400"],
  },
  "a full queue takes nothing, and its dead letters count": {
    queue: { maxSizeInMegabytes: 1 },
    ask: async (lab) => {
      const answers = await inTurn([1, 2, 3, 4, 5, 6], () => sent(lab, { body: body(200_000) }));
      const receiver = lab.receiver("orders");
      for (const message of await lab.receive(receiver, 2)) await receiver.deadLetterMessage(message);
      answers.push(await sent(lab, { body: "1" }));
      for (const message of await lab.receive(receiver, 1)) await receiver.completeMessage(message);
      return [...answers.slice(4), await sent(lab, { body: "1" })];
    },
    answers: ["accepted", "accepted", "QuotaExceeded", "accepted"],
  },
  "the basic tier has only queues, with fewer features": {
    sku: "basic",
    queue: { defaultMessageTimeToLive: "P14D" },
    ask: async (lab) => {
      const options = [
        { requiresSession: true },
        { requiresDuplicateDetection: true },
        { forwardTo: "orders" },
        { forwardDeadLetteredMessagesTo: "orders" },
        { autoDeleteOnIdle: "P10675199DT2H48M5.4775807S" },
        { defaultMessageTimeToLive: "P15D" },
      ];
      return [
        await answerTo(lab.administration.createTopic("shop")),
        ...(await inTurn(options, (each) => answerTo(lab.queue("more", each)))),
        await sent(lab, { scheduledEnqueueTimeUtc: later() }),
      ];
    },
    answers: ["400", "400", "400", "400", "400", "400", "400", "accepted"],
  },
};

describe.concurrent("a limit of Service Bus", () => {
  for (const [name, { sku = "standard", queue = {}, ask, answers }] of Object.entries(limits)) {
    test(`${sku}: ${name}`, async ({ onTestFinished }) => {
      // Some requests get no answer. A busy machine needs seconds for one of 1 MB that does.
      const retryOptions = { maxRetries: 0, timeoutInMs: 15_000 };
      const lab = await startLab(onTestFinished, { sku, retryOptions });
      if (queue !== null) await lab.queue("orders", queue);
      expect(await ask(lab)).toEqual(answers);
    });
  }
});
