import { describe, expect } from "vitest";

import type { Lab } from "../src/lab.ts";
import { waitUntil } from "../src/wait-until.ts";
import { receiveOne } from "./experiment.ts";
import { test } from "./lab-test.ts";

async function activeIn({ administration }: Lab, queue: string): Promise<number> {
  return (await administration.getQueueRuntimeProperties(queue)).activeMessageCount;
}

describe.concurrent("the management API", () => {
  test("registers entities, returns, changes, lists and counts them, and deletes them", async ({
    lab: { administration, client },
  }) => {
    const settings = { lockDuration: "PT30S", maxDeliveryCount: 5, deadLetteringOnMessageExpiration: true };
    const created = await administration.createQueue("orders", settings);
    expect(created).toMatchObject({ name: "orders", requiresSession: false, status: "Active", ...settings });
    const queue = await administration.getQueue("orders");
    expect(queue).toMatchObject(settings);
    await administration.updateQueue({ ...queue, maxDeliveryCount: 7 });
    await administration.createQueue("more");
    const queues = [];
    for await (const each of administration.listQueues()) queues.push([each.name, each.maxDeliveryCount]);
    expect(queues).toEqual([
      ["orders", 7],
      ["more", 10],
    ]);
    const sender = client.createSender("orders");
    await sender.sendMessages([{ body: "1" }, { body: "2" }]);
    await sender.scheduleMessages({ body: "3" }, new Date(Date.now() + 60_000));
    const counts = await administration.getQueueRuntimeProperties("orders");
    expect(counts).toMatchObject({ activeMessageCount: 2, scheduledMessageCount: 1, deadLetterMessageCount: 0 });
    await administration.deleteQueue("orders");
    expect(await administration.queueExists("orders")).toBe(false);
    await expect(administration.getQueue("orders")).rejects.toMatchObject({ code: "MessageEntityNotFoundError" });
  });

  test("gives a list in pages", async ({ lab: { administration } }) => {
    const names = Array.from({ length: 5 }, (_, index) => `queue-${index}`);
    for (const name of names) await administration.createQueue(name);
    const pages = [];
    for await (const page of administration.listQueues().byPage({ maxPageSize: 2 }))
      pages.push(page.map(({ name }) => name));
    expect(pages).toEqual([names.slice(0, 2), names.slice(2, 4), names.slice(4)]);
  });

  test("refuses the same as the service, and changes nothing then", async ({ lab: { administration } }) => {
    await administration.createQueue("orders");
    await expect(administration.createQueue("orders")).rejects.toMatchObject({
      code: "MessageEntityAlreadyExistsError",
    });
    const refused = [
      { lockDuration: "PT5M1S" },
      { lockDuration: "5 minutes" },
      { defaultMessageTimeToLive: "P5M" },
      { maxDeliveryCount: 0 },
      { forwardTo: "none" },
      { forwardTo: "bad" },
      { forwardTo: "orders", requiresSession: true },
    ];
    for (const settings of refused)
      await expect(administration.createQueue("bad", settings), JSON.stringify(settings)).rejects.toMatchObject({
        statusCode: 400,
      });
    await expect(administration.createQueue("x".repeat(261))).rejects.toMatchObject({ statusCode: 400 });
    const queue = await administration.getQueue("orders");
    await expect(administration.updateQueue({ ...queue, requiresSession: true })).rejects.toMatchObject({
      statusCode: 400,
    });
    await administration.createTopic("shop");
    await expect(administration.createSubscription("shop", "x".repeat(51))).rejects.toMatchObject({ statusCode: 400 });
    await expect(administration.createSubscription("none", "billing")).rejects.toMatchObject({ statusCode: 404 });
    expect(await administration.queueExists("bad")).toBe(false);
  });

  test("refuses rules that it does not emulate, so that no test passes by them", async ({
    lab: { administration },
  }) => {
    await administration.createTopic("shop");
    await administration.createSubscription("shop", "billing");
    const refused = [
      administration.createRule("shop", "billing", "compared", { sqlExpression: "price > 10" }),
      administration.createRule("shop", "billing", "correlated", { correlationId: "7" }),
      administration.createRule("shop", "billing", "acting", { subject: "a" }, { sqlExpression: "SET price = 0" }),
    ];
    for (const each of refused) await expect(each).rejects.toMatchObject({ statusCode: 400 });
    const rules = [];
    for await (const { name } of administration.listRules("shop", "billing")) rules.push(name);
    expect(rules).toEqual(["$Default"]);
  });
});

describe.concurrent("topics", () => {
  test("each subscription gets one copy of each message that its rules admit", async ({
    lab: { administration, client },
  }) => {
    await administration.createTopic("shop");
    await administration.createSubscription("shop", "all");
    await administration.createSubscription("shop", "some", {
      defaultRuleOptions: { name: "exact", filter: { subject: "order.placed" } },
    });
    await administration.createRule("shop", "some", "like", { sqlExpression: "sys.Label LIKE 'order.%'" });
    await administration.createSubscription("shop", "none");
    await administration.deleteRule("shop", "none", "$Default");
    expect(await administration.getRule("shop", "some", "exact")).toMatchObject({
      filter: { subject: "order.placed" },
    });
    const subjects = ["order.placed", "order.cancelled", "price.changed"];
    await client.createSender("shop").sendMessages(subjects.map((subject) => ({ body: subject, subject })));
    const seen = [];
    for (const name of ["all", "some", "none"]) {
      const peeked = await client.createReceiver("shop", name).peekMessages(10);
      seen.push(peeked.map(({ body }) => body as string));
    }
    expect(seen).toEqual([subjects, ["order.placed", "order.cancelled"], []]);
    expect(await administration.getSubscriptionRuntimeProperties("shop", "all")).toMatchObject({
      activeMessageCount: 3,
    });
  });

  test("a subscription has its own dead-letter queue, and forwards to a queue", async ({ lab }) => {
    const { administration, client } = lab;
    await lab.queue("work");
    await administration.createTopic("shop");
    await administration.createSubscription("shop", "billing", { forwardTo: "work" });
    await administration.createSubscription("shop", "mail", { maxDeliveryCount: 1 });
    await client.createSender("shop").sendMessages({ body: "1", messageId: "1" });
    expect(await lab.receive("work")).toMatchObject([{ body: "1", messageId: "1", deliveryCount: 0 }]);
    const receiver = client.createReceiver("shop", "mail");
    await receiver.abandonMessage(await receiveOne(lab, receiver));
    const dead = client.createReceiver("shop", "mail", { subQueueType: "deadLetter" });
    expect(await dead.peekMessages(1)).toMatchObject([{ deadLetterReason: "MaxDeliveryCountExceeded" }]);
    await expect(client.createReceiver("shop", "billing").receiveMessages(1)).rejects.toThrow(/forwards its messages/);
  });

  test("a scheduled message for a topic: every subscription gets it at its time", async ({ lab }) => {
    await lab.administration.createTopic("shop");
    await lab.administration.createSubscription("shop", "billing");
    const dueMs = Date.now() + 500;
    await lab.client.createSender("shop").scheduleMessages({ body: "1" }, new Date(dueMs));
    const receiver = lab.client.createReceiver("shop", "billing");
    expect(await lab.receive(receiver)).toMatchObject([{ body: "1" }]);
    expect(Date.now()).toBeGreaterThanOrEqual(dueMs);
  });
});

describe.concurrent("duplicates", () => {
  test("a known id is forgotten when its time is over", async ({ lab }) => {
    await lab.queue("orders", { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT20S" });
    const sender = lab.client.createSender("orders");
    await sender.sendMessages({ body: "first", messageId: "1" });
    await waitUntil(async () => {
      await sender.sendMessages({ body: "later", messageId: "1" });
      return (await activeIn(lab, "orders")) === 2;
    }, 45_000);
    expect((await lab.receive("orders", 2)).map(({ body }) => body)).toEqual(["first", "later"]);
  });
});
