import type { ServiceBusReceivedMessage } from "@azure/service-bus";
import { describe, test } from "vitest";

import { describeDeadLetter } from "../../src/consume/dead-letter/describe.ts";
import { deadLetterMetadata } from "../../src/consume/dead-letter/metadata.ts";
import { compile, renderDiagnostics } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { startLab } from "../support/servicebus/lab.ts";
import { waitUntil } from "../support/servicebus/wait.ts";

/** The contract of a consumer that abandons what has failed, or of one that schedules a copy. */
function contractWith(backoff: object) {
  const billing = { from: { orders: "all" }, retry: { attempts: 2, backoff } };
  const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } });
  const compiled = compile(system, { broker: "servicebus", sku: "standard" });
  if (!compiled.ok) throw new Error(renderDiagnostics(compiled.diagnostics));
  const [contract] = compiled.value.contracts;
  if (contract === undefined) throw new Error("no contract");
  return contract;
}

const metadata = deadLetterMetadata(new Error("there is none"), {
  workQueue: "shop.billing",
  reason: "UNKNOWN_CUSTOMER",
  failedAt: new Date("2026-11-22T10:00:00.000Z"),
  attempt: 1,
  consumer: { service: "billing" },
});

describe.concurrent("letters of Service Bus", () => {
  test("say why they are dead: by the consumer's word, by its crashes or failures, by time", async ({
    expect,
    onTestFinished,
  }) => {
    const lab = await startLab(onTestFinished);
    await lab.queue("shop.billing", { maxDeliveryCount: 2, deadLetteringOnMessageExpiration: true });
    const sender = lab.client.createSender("shop.billing");
    await sender.sendMessages([
      { body: "1", messageId: "word", correlationId: "order-9" },
      // It was dead before, and was sent again with all that was on it.
      { body: "1", messageId: "deliveries", applicationProperties: metadata },
    ]);
    const receiver = lab.receiver("shop.billing");
    // A client goes on with a peek where it ended the one before, so what was seen is kept.
    const letters: ServiceBusReceivedMessage[] = [];
    const isDead = async (count: number): Promise<boolean> => {
      letters.push(...(await lab.deadLetters("shop.billing")));
      return letters.length === count;
    };
    while (!(await isDead(2))) {
      for (const message of await receiver.receiveMessages(2, { maxWaitTimeInMs: 1_000 })) {
        if (message.messageId === "deliveries") await receiver.abandonMessage(message);
        else {
          const deadLetterReason = "UNKNOWN_CUSTOMER";
          await receiver.deadLetterMessage(message, { deadLetterReason, deadLetterErrorDescription: "there is none" });
        }
      }
    }
    await sender.sendMessages({ body: "1", messageId: "time", timeToLive: 1_000 });
    await waitUntil(() => isDead(3));
    const described = (contract?: Parameters<typeof describeDeadLetter>[1]) =>
      Object.fromEntries(letters.map((letter) => [letter.messageId, describeDeadLetter(letter, contract)]));
    const queue = { "dlq-original-queue": "shop.billing" };
    const word = {
      "dlq-failure-reason": "UNKNOWN_CUSTOMER",
      "dlq-original-message-id": "word",
      "dlq-business-correlation-id": "order-9",
      "dlq-exception-stack-trace-summary": "there is none",
    };
    const time = { "dlq-failure-reason": "EXPIRED", "dlq-original-message-id": "time" };
    const deliveries = { "dlq-original-message-id": "deliveries" };
    expect(described(contractWith({ kind: "immediate" }))).toEqual({
      word: { ...queue, ...word },
      time: { ...queue, ...time },
      deliveries: { ...queue, ...deliveries, "dlq-failure-reason": "ATTEMPTS_EXHAUSTED", "dlq-retry-count": "2" },
    });
    expect(described(contractWith({ kind: "constant", delay: "1s" }))).toEqual({
      word: { ...queue, ...word },
      time: { ...queue, ...time },
      deliveries: { ...queue, ...deliveries, "dlq-failure-reason": "CRASH_LIMIT" },
    });
    const alone = described();
    expect(alone["deliveries"]?.["dlq-failure-reason"]).toBeUndefined();
    expect(alone["word"]?.["dlq-failure-reason"]).toBe("UNKNOWN_CUSTOMER");
  });
});
