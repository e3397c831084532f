import { describe, expect } from "vitest";

import { type Lab, startLab } from "../src/lab.ts";
import { waitUntil } from "../src/wait-until.ts";
import { receiveOne } from "./experiment.ts";
import { test } from "./lab-test.ts";

const sessions = { requiresSession: true };
const renewsNothing = { maxAutoLockRenewalDurationInMs: 0 };

async function send({ client }: Lab, ...bodies: readonly string[]): Promise<void> {
  // The first letter is the session.
  await client.createSender("orders").sendMessages(bodies.map((body) => ({ body, sessionId: body.slice(0, 1) })));
}

describe.concurrent("sessions", () => {
  test("one receiver has a session, in order, even after an abandon; no other can accept it", async ({ lab }) => {
    await lab.queue("orders", sessions);
    await send(lab, "a1", "b1", "a2");
    const receiver = await lab.client.acceptSession("orders", "a");
    await expect(lab.client.acceptSession("orders", "a")).rejects.toMatchObject({ code: "SessionCannotBeLocked" });
    await receiver.abandonMessage(await receiveOne(lab, receiver));
    const again = await lab.receive(receiver, 2);
    expect(again.map(({ body, deliveryCount }) => [body, deliveryCount])).toEqual([
      ["a1", 1],
      ["a2", 0],
    ]);
    for (const message of again) await receiver.completeMessage(message);
    const other = await lab.client.acceptNextSession("orders");
    expect([other.sessionId, (await lab.receive(other)).map(({ body }) => body)]).toEqual(["b", ["b1"]]);
  });

  test("a receiver that waits for the next session gets the first one with messages", async ({ lab }) => {
    await lab.queue("orders", sessions);
    const waiting = lab.client.acceptNextSession("orders");
    await send(lab, "a1");
    const receiver = await waiting;
    expect([receiver.sessionId, (await lab.receive(receiver)).map(({ body }) => body)]).toEqual(["a", ["a1"]]);
  });

  test("without a session in time the SDK gives its own error", async ({ onTestFinished }) => {
    const lab = await startLab(onTestFinished, { retryOptions: { timeoutInMs: 1_000, maxRetries: 0 } });
    await lab.queue("orders", sessions);
    await expect(lab.client.acceptNextSession("orders")).rejects.toMatchObject({ code: "ServiceTimeout" });
  });

  test("a closed session returns its messages and counts nothing, and keeps its state", async ({ lab }) => {
    await lab.queue("orders", { ...sessions, maxDeliveryCount: 1 });
    await send(lab, "a1");
    const first = await lab.client.acceptSession("orders", "a");
    await first.setSessionState({ seen: 1 });
    await lab.receive(first);
    await first.close();
    const second = await lab.client.acceptSession("orders", "a");
    expect(await second.getSessionState()).toEqual({ seen: 1 });
    expect(await lab.receive(second)).toMatchObject([{ body: "a1", deliveryCount: 0 }]);
  });

  test("a session whose lock ends counts a delivery of each held message, and accepts no settlement", async ({
    lab,
  }) => {
    await lab.queue("orders", { ...sessions, lockDuration: "PT1S" });
    await send(lab, "a1");
    const first = await lab.client.acceptSession("orders", "a", renewsNothing);
    const held = await receiveOne(lab, first);
    const second = await lab.client.acceptNextSession("orders", renewsNothing);
    expect(await lab.receive(second)).toMatchObject([{ body: "a1", deliveryCount: 1 }]);
    await expect(first.completeMessage(held)).rejects.toMatchObject({ code: "SessionLockLost" });
  });

  test("a session's lock can be renewed, by hand or by the SDK, and its messages stay with it", async ({ lab }) => {
    // Long enough that a machine may pause this long and lose no lock.
    await lab.queue("orders", { ...sessions, lockDuration: "PT10S" });
    await send(lab, "a1", "b1");
    const byHand = await lab.client.acceptSession("orders", "a", renewsNothing);
    const bySdk = await lab.client.acceptSession("orders", "b");
    const [[one], [two]] = await Promise.all([lab.receive(byHand), lab.receive(bySdk)]);
    const endMs = Date.now() + 12_000;
    while (Date.now() < endMs) {
      expect((await byHand.renewSessionLock()).getTime()).toBeGreaterThan(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    if (one !== undefined) await byHand.completeMessage(one);
    if (two !== undefined) await bySdk.completeMessage(two);
    expect((await lab.administration.getQueueRuntimeProperties("orders")).activeMessageCount).toBe(0);
  });

  test("a queue with sessions refuses a message without a session, and a receiver without one", async ({ lab }) => {
    await lab.queue("orders", sessions);
    await lab.queue("plain");
    await expect(lab.client.createSender("orders").sendMessages({ body: "1" })).rejects.toThrow(
      /SessionId was not set/,
    );
    await expect(lab.receiver("orders").receiveMessages(1)).rejects.toThrow(/requires sessions/);
    await expect(lab.client.acceptSession("plain", "a")).rejects.toThrow();
  });

  test("nobody receives a deferred message of a dead-letter queue", async ({ onTestFinished }) => {
    const lab = await startLab(onTestFinished);
    await lab.queue("orders", sessions);
    await lab.client.createSender("orders").sendMessages({ body: "1", sessionId: "a" });
    const session = await lab.client.acceptSession("orders", "a");
    for (const message of await session.receiveMessages(1)) await session.deadLetterMessage(message);
    const dead = lab.receiver("orders", { subQueueType: "deadLetter" });
    const [letter] = await lab.receive(dead);
    if (letter?.sequenceNumber === undefined) throw new Error("no letter");
    await dead.deferMessage(letter);
    const asked = dead.receiveDeferredMessages(letter.sequenceNumber);
    await expect(asked).rejects.toMatchObject({ code: "SessionLockLost" });
  });
});

describe.concurrent("connections", () => {
  test("a cut connection leaves held messages locked, and the SDK reconnects by itself", async ({ lab }) => {
    await lab.queue("orders", { lockDuration: "PT5S" });
    const seen: [unknown, number | undefined][] = [];
    const receiver = lab.receiver("orders");
    const sent = Promise.withResolvers<void>();
    receiver.subscribe(
      {
        processMessage: async ({ body, deliveryCount }) => {
          seen.push([body, deliveryCount]);
          // A cut before the sender has its answer makes the SDK send the message again.
          await sent.promise;
          if (seen.length === 1) lab.emulator.dropConnections();
        },
        processError: async () => undefined,
      },
      { maxConcurrentCalls: 1 },
    );
    await lab.client.createSender("orders").sendMessages({ body: "1" });
    sent.resolve();
    // The SDK waits up to 60 s for the answer to a settlement that it sent before it noticed the cut. Source: its
    // `settleMessage`, `retryOptions.timeoutInMs`.
    await waitUntil(() => seen.length === 2);
    expect(seen).toEqual([
      ["1", 0],
      ["1", 1],
    ]);
  });

  test("messages and schedules survive a broker that is away", async ({ lab }) => {
    await lab.queue("orders");
    const seen: unknown[] = [];
    const sender = lab.client.createSender("orders");
    await sender.scheduleMessages({ body: "2" }, new Date(Date.now() + 2_000));
    lab.receiver("orders").subscribe({
      processMessage: async ({ body }) => void seen.push(body),
      processError: async () => undefined,
    });
    await sender.sendMessages({ body: "1" });
    // Waits for the settlement too: without it the message would come again when its lock ends.
    await waitUntil(async () => seen.length > 0 && (await lab.peek("orders")).every(({ body }) => body !== "1"));
    await lab.emulator.goOffline();
    await lab.emulator.goOnline();
    await waitUntil(() => seen.length === 2);
    expect(seen.toSorted()).toEqual(["1", "2"]);
  });
});
