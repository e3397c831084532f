import type { ServiceBusReceivedMessage } from "@azure/service-bus";
import { waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { type ConsumedSystem, deployConsumed } from "../support/servicebus/consuming.ts";

const billing = { retry: { attempts: 3, backoff: { kind: "constant", delay: "200ms" } } };
const fail = (): never => {
  throw new Error("the card was declined");
};

/** Written as docs/consuming-servicebus.md says. */
function asNew({ body, subject, applicationProperties = {} }: ServiceBusReceivedMessage, messageId: string) {
  const gone = /^(redeliver-attempt|redeliver-original-id|DeadLetterReason|DeadLetterErrorDescription|dlq-.*)$/;
  const kept = Object.entries(applicationProperties).filter(([name]) => !gone.test(name));
  return { body: body as unknown, messageId, applicationProperties: Object.fromEntries(kept), subject: subject ?? "" };
}

/** Takes one letter out of the dead-letter queue, after sending the new message that `make` makes of it. */
async function putBack({ lab }: ConsumedSystem, make: (letter: ServiceBusReceivedMessage) => object): Promise<void> {
  const letters = lab.receiver("shop.billing", { subQueueType: "deadLetter" });
  const [letter] = await lab.receive(letters);
  if (letter === undefined) throw new Error("there is a dead letter");
  await lab.client.createSender("shop.billing").sendMessages({ body: "", ...make(letter) });
  await letters.completeMessage(letter);
}

describe.concurrent("a dead letter of Service Bus", () => {
  for (const { duplicates, id } of [{ duplicates: "10m", id: "1:again-1" }, { id: "1" }] as const) {
    test(`has all of its attempts if it is sent again as the page says, ${duplicates === undefined ? "without" : "with"} duplicate detection`, async (context) => {
      const target = duplicates === undefined ? {} : { duplicates };
      const system = await deployConsumed(context.onTestFinished, billing, target);
      const { runs } = await system.consuming(fail);
      await system.publish({ body: "a", messageId: "1", subject: "order.placed" });
      const isDead = async (): Promise<boolean> => (await system.letters("billing")).length === 1;
      await waitUntil(isDead);
      await putBack(system, (letter) => asNew(letter, id));
      await waitUntil(async () => runs.length === 6 && (await isDead()));
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3]);
    });
  }

  test("has one attempt left if it is sent unchanged, and is dropped by duplicate detection", async (context) => {
    const asItIs = ({ body, messageId = "", applicationProperties = {} }: ServiceBusReceivedMessage): object => ({
      body: body as unknown,
      messageId,
      applicationProperties,
    });
    const attempts = async (duplicates: object): Promise<readonly number[]> => {
      const system = await deployConsumed(context.onTestFinished, billing, duplicates);
      const { runs } = await system.consuming(({ id }) => (id === "2" ? undefined : fail()));
      await system.publish({ body: "a", messageId: "1" });
      await waitUntil(async () => (await system.letters("billing")).length === 1);
      await putBack(system, asItIs);
      await system.publish({ body: "last", messageId: "2" });
      await waitUntil(() => runs.some(({ id }) => id === "2"));
      return runs.filter(({ id }) => id === "1").map(({ attempt }) => attempt);
    };
    expect(await attempts({})).toEqual([1, 2, 3, 3]);
    expect(await attempts({ duplicates: "10m" })).toEqual([1, 2, 3]);
  });
});
