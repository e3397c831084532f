import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { describe, test } from "vitest";

import { describeDeadLetter } from "../../src/consume/dead-letter/describe.ts";
import { deadLetterMetadata } from "../../src/consume/dead-letter/metadata.ts";
import { attributes, deploy } from "../support/sqs/deployed-system.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};

for (const emulator of sqsEmulators()) {
  describe.concurrent(`letters on ${emulator.name} ${emulator.version}`, { timeout: 60_000 }, () => {
    test("of a consumer say what it wrote; those that SQS moved say what is certain, also if they died before", async ({
      expect,
    }) => {
      const system = await deploy(emulator, { billing });
      try {
        const { lab, contract } = system;
        const [work, dead] = [system.work("billing"), system.dead("billing")];
        // As it lay in the dead queue in an earlier life, and was sent again with all that is on it.
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
  });
}
