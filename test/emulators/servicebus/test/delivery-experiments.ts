import { createClient } from "../src/clients.ts";
import type { ClaimName } from "../src/redeliver.ts";
import { waitUntil } from "../src/wait-until.ts";
import { answerTo, bodiesIn, type Experiment, reasonsIn, receiveOne, send, showing } from "./experiment.ts";

/** Deliveries, locks and dead letters. */
export const deliveryExperiments = {
  "count-on-abandon": showing([0, 1], async (lab) => {
    await lab.queue("orders");
    await send(lab, "orders", "1");
    const receiver = lab.receiver("orders");
    const first = await receiveOne(lab, receiver);
    await receiver.abandonMessage(first);
    const second = await receiveOne(lab, receiver);
    return [first.deliveryCount ?? null, second.deliveryCount ?? null];
  }),
  "count-on-lock-expiry": showing({ message: [0, 1], session: [0, 1] }, async (lab) => {
    await lab.queue("orders", { lockDuration: "PT1S" });
    await lab.queue("ordered", { lockDuration: "PT10S", requiresSession: true });
    await send(lab, "orders", "1");
    await lab.client.createSender("ordered").sendMessages({ body: "1", sessionId: "a" });
    const counts = { message: [] as (number | null)[], session: [] as (number | null)[] };
    for (let time = 0; time < 2; time++) {
      counts.message.push((await receiveOne(lab, "orders")).deliveryCount ?? null);
      const session = await lab.client.acceptNextSession("ordered", { maxAutoLockRenewalDurationInMs: 0 });
      counts.session.push((await receiveOne(lab, session)).deliveryCount ?? null);
    }
    return counts;
  }),
  "dead-after-max-delivery-count": showing(
    { counts: [0, 1, 2], reasons: [[], [], ["MaxDeliveryCountExceeded"]], left: [], dead: ["1"] },
    async (lab) => {
      await lab.queue("orders", { maxDeliveryCount: 3 });
      await send(lab, "orders", "1");
      const receiver = lab.receiver("orders");
      const counts = [];
      const reasons = [];
      for (let attempt = 1; attempt <= 3; attempt++) {
        const message = await receiveOne(lab, receiver);
        counts.push(message.deliveryCount ?? null);
        await receiver.abandonMessage(message);
        reasons.push(await reasonsIn(lab, "orders"));
      }
      return {
        counts,
        reasons,
        left: await bodiesIn(lab, "orders"),
        dead: await bodiesIn(lab, "orders/$DeadLetterQueue"),
      };
    },
  ),
  "session-close-is-not-counted": showing([0, 0, 0], async (lab) => {
    await lab.queue("orders", { requiresSession: true });
    await lab.client.createSender("orders").sendMessages({ body: "1", sessionId: "a" });
    const counts = [];
    for (let time = 0; time < 3; time++) {
      const receiver = await lab.client.acceptSession("orders", "a");
      counts.push((await receiveOne(lab, receiver)).deliveryCount ?? null);
      await receiver.close();
    }
    return counts;
  }),
  "session-outlives-its-connection": showing([0, 1], async (lab) => {
    await lab.queue("orders", { lockDuration: "PT5S", requiresSession: true });
    await lab.client.createSender("orders").sendMessages({ body: "1", sessionId: "a" });
    const lost = await lab.client.acceptNextSession("orders", { maxAutoLockRenewalDurationInMs: 0 });
    const counts = [(await receiveOne(lab, lost)).deliveryCount ?? null];
    lab.emulator.dropConnections();
    const client = createClient(lab.emulator);
    const next = await client.acceptNextSession("orders", { maxAutoLockRenewalDurationInMs: 0 });
    counts.push((await receiveOne(lab, next)).deliveryCount ?? null);
    await client.close();
    return counts;
  }),
  "late-settlement-is-refused": showing(
    { answers: Array<string>(3).fill("MessageLockLost"), isLater: true, left: ["1", "2"], dead: [] },
    async (lab) => {
      await lab.queue("orders", { lockDuration: "PT1S" });
      await send(lab, "orders", "1", "2");
      const receiver = lab.receiver("orders");
      const [one, two] = await lab.receive(receiver, 2);
      const [next] = await lab.receive(lab.receiver("orders"), 2);
      if (one === undefined || two === undefined) throw new Error("two were received");
      const answers = [
        await answerTo(receiver.renewMessageLock(one)),
        await answerTo(receiver.completeMessage(one)),
        await answerTo(receiver.deadLetterMessage(two)),
      ];
      const isLater = Number(next?.lockedUntilUtc) > Number(one.lockedUntilUtc);
      return { answers, isLater, left: await bodiesIn(lab, "orders"), dead: await reasonsIn(lab, "orders") };
    },
  ),
  "defer-counts": showing({ received: 0, count: 1 }, async (lab) => {
    await lab.queue("orders");
    await send(lab, "orders", "1");
    const receiver = lab.receiver("orders");
    const first = await receiveOne(lab, receiver);
    await receiver.deferMessage(first);
    const received = await receiver.receiveMessages(1, { maxWaitTimeInMs: 300 });
    if (first.sequenceNumber === undefined) throw new Error("a message without a sequence number");
    const [asked] = await receiver.receiveDeferredMessages(first.sequenceNumber);
    return { received: received.length, count: asked?.deliveryCount ?? null };
  }),
  "receive-and-delete-forgets": showing({ received: ["1", "2"], left: [] }, async (lab) => {
    await lab.queue("orders");
    await send(lab, "orders", "1", "2");
    const received = await lab.receive(lab.receiver("orders", { receiveMode: "receiveAndDelete" }), 2);
    return { received: received.map(({ body }) => String(body)), left: await bodiesIn(lab, "orders") };
  }),
  "dead-letters-stay": showing({ count: 0, again: "GeneralError", left: 1 }, async (lab) => {
    await lab.queue("orders", { maxDeliveryCount: 1, deadLetteringOnMessageExpiration: true });
    await lab.client.createSender("orders").sendMessages({ body: "1", timeToLive: 10_000 });
    const receiver = lab.receiver("orders");
    const message = await receiveOne(lab, receiver);
    await receiver.deadLetterMessage(message);
    const dead = lab.client.createReceiver("orders", { subQueueType: "deadLetter" });
    for (let time = 0; time < 3; time++) await dead.abandonMessage(await receiveOne(lab, dead));
    const letter = await receiveOne(lab, dead);
    const again = await answerTo(dead.deadLetterMessage(letter));
    await waitUntil(() => Date.now() > (message.expiresAtUtc?.getTime() ?? 0) + 500);
    return { count: letter.deliveryCount ?? null, again, left: (await lab.deadLetters("orders")).length };
  }),
  "dead-letters-are-forwarded": showing({ own: [], reason: "Broken", source: "orders" }, async (lab) => {
    await lab.queue("dead");
    await lab.queue("orders", { forwardDeadLetteredMessagesTo: "dead" });
    await send(lab, "orders", "1");
    const receiver = lab.receiver("orders");
    await receiver.deadLetterMessage(await receiveOne(lab, receiver), {
      deadLetterReason: "Broken",
      deadLetterErrorDescription: "No id.",
    });
    const [letter] = await lab.peek("dead");
    const { deadLetterReason: reason = null, deadLetterSource: source = null } = letter ?? {};
    return { own: await bodiesIn(lab, "orders"), reason, source };
  }),
  "dead-letters-wait-for-a-closed-queue": showing({ closed: [1, 0], open: [0, 1] }, async (lab) => {
    await lab.queue("dead", { status: "Disabled" });
    await lab.queue("orders", { forwardDeadLetteredMessagesTo: "dead", maxDeliveryCount: 1 });
    await send(lab, "orders", "1");
    const receiver = lab.receiver("orders");
    await receiver.abandonMessage(await receiveOne(lab, receiver));
    const counts = async (): Promise<readonly number[]> => {
      const [orders, dead] = await Promise.all(
        ["orders", "dead"].map(async (name) => lab.administration.getQueueRuntimeProperties(name)),
      );
      return [orders?.deadLetterMessageCount ?? 0, dead?.activeMessageCount ?? 0];
    };
    const closed = await counts();
    await lab.administration.updateQueue({ ...(await lab.administration.getQueue("dead")), status: "Active" });
    await waitUntil(async () => (await counts())[1] === 1);
    return { closed, open: await counts() };
  }),
} as const satisfies Partial<Record<ClaimName, Experiment>>;
