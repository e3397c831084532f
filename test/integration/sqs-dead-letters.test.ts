import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { describe, test } from "vitest";

import { describeDeadLetter } from "../../src/consume/dead-letter/describe.ts";
import { deadLetterMetadata } from "../../src/consume/dead-letter/metadata.ts";
import { attributes, deploy, textsOf } from "../support/sqs/deployed-system.ts";
import { mustReceive } from "../support/sqs/experiment.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};

describe.concurrent.each(sqsEmulators())("dead letters on $name $version", (emulator) => {
  test("of a consumer show its fields; those that SQS moved show the certain facts, also after an earlier death", async ({
    expect,
  }) => {
    const system = await deploy(emulator, { billing });
    try {
      const { lab, contract } = system;
      const [work, dead] = [system.work("billing"), system.dead("billing")];
      // The message died once before, and an operator sent it again with all its attributes.
      const earlier = deadLetterMetadata(new Error("unknown customer"), {
        workQueue: work.name,
        reason: "UNKNOWN_CUSTOMER",
        failedAt: new Date("2026-11-22T10:00:00.000Z"),
        attempt: 1,
        consumer: { service: "billing" },
      });
      const id = await lab.send(work, "transient", { MessageAttributes: attributes(earlier) });
      await lab.send(work, "permanent");
      const consumer = system.drive("billing", ({ body }) => (body === "permanent" ? "permanent" : "transient"));
      await consumer.pollUntil(async () => (await lab.count(dead)) === 2);
      const letters = new Map<string, unknown>();
      while (letters.size < 2) {
        const { Messages = [] } = await lab.sqs.send(
          new ReceiveMessageCommand({
            QueueUrl: dead.url,
            MaxNumberOfMessages: 10,
            WaitTimeSeconds: 1,
            MessageSystemAttributeNames: ["DeadLetterQueueSourceArn"],
            MessageAttributeNames: ["All"],
          }),
        );
        for (const message of Messages) letters.set(message.Body ?? "", message);
      }
      const describe = (body: string) => describeDeadLetter(letters.get(body), contract("billing"));
      expect(describe("permanent")).toEqual({
        "dlq-original-queue": work.name,
        "dlq-failure-reason": "PERMANENT_FAILURE",
      });
      const namesTheSource = gapOf("dead-letter-names-source", emulator.name) === undefined;
      expect(describe("transient")).toEqual(
        namesTheSource
          ? {
              "dlq-original-queue": work.name,
              "dlq-failure-reason": "ATTEMPTS_EXHAUSTED",
              "dlq-retry-count": "2",
              "dlq-original-message-id": id,
            }
          : earlier,
      );
      expect(describeDeadLetter(letters.get("transient"))).toEqual(
        namesTheSource ? { "dlq-original-queue": work.name, "dlq-original-message-id": id } : earlier,
      );
    } finally {
      await system.dispose();
    }
  });

  test.for([
    ["redrive", { kind: "immediate" }],
    ["visibility", { kind: "steps", delays: ["1s"] }],
  ] as const)(
    "sent again by hand have all of their attempts and their own attributes, under %s",
    async ([strategy, backoff], { expect }) => {
      const retried = { ...billing, retry: { attempts: 2, backoff } };
      const system = await deploy(emulator, { billing: retried }, strategy);
      try {
        const [work, dead] = [system.work("billing"), system.dead("billing")];
        await system.lab.send(work, "order", { MessageAttributes: attributes({ "routing-key": "order.placed" }) });
        const consumer = system.drive("billing", () => "transient");
        const isDead = async (): Promise<boolean> => (await system.lab.count(dead)) === 1;
        await consumer.pollUntil(isDead);
        const letter = await mustReceive(system.lab, dead);
        expect(letter.Attributes?.ApproximateReceiveCount).toBe("3");
        await system.lab.send(work, letter.Body ?? "", {
          MessageAttributes: attributes(textsOf(letter.MessageAttributes)),
        });
        await system.lab.deleteMessage(dead, letter);
        await consumer.pollUntil(isDead);
        expect(consumer.seen.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2]);
        const again = await mustReceive(system.lab, dead);
        expect(textsOf(again.MessageAttributes)).toEqual({ "routing-key": "order.placed" });
      } finally {
        await system.dispose();
      }
    },
  );
});
