import type { Lab } from "../src/lab.ts";
import type { ClaimName } from "../src/redeliver.ts";
import { waitUntil } from "../src/wait-until.ts";
import { answerTo, bodiesIn, type Experiment, reasonsIn, receiveOne, send, showing } from "./experiment.ts";

const deadLettering = { deadLetteringOnMessageExpiration: true };

/** The subjects that a subscription with one rule lets in. */
async function letIn(
  lab: Lab,
  filter: { readonly subject: string } | { readonly sqlExpression: string },
  subjects: readonly (string | undefined)[],
): Promise<readonly string[]> {
  await lab.administration.createTopic("shop");
  await lab.administration.createSubscription("shop", "one", { defaultRuleOptions: { name: "rule", filter } });
  const messages = subjects.map((subject) => ({
    body: subject ?? "none",
    ...(subject === undefined ? {} : { subject }),
  }));
  await lab.client.createSender("shop").sendMessages(messages);
  return bodiesIn(lab, "shop/Subscriptions/one");
}

/** Time to live, forwarding, sending and topics. */
export const routingExperiments = {
  "shorter-time-to-live-counts": showing(["TTLExpiredException", "TTLExpiredException"], async (lab) => {
    await lab.queue("short", { ...deadLettering, defaultMessageTimeToLive: "PT1S" });
    await lab.queue("long", { ...deadLettering, defaultMessageTimeToLive: "PT1H" });
    await lab.client.createSender("short").sendMessages({ body: "1", timeToLive: 3_600_000 });
    await lab.client.createSender("long").sendMessages({ body: "2", timeToLive: 1_000 });
    const reasons = async (): Promise<string[]> =>
      (await Promise.all(["short", "long"].map(async (queue) => reasonsIn(lab, queue)))).flat();
    await waitUntil(async () => (await reasons()).length === 2);
    return reasons();
  }),
  "expiry-dead-letters": showing({ isEarly: false, kept: ["TTLExpiredException"], dropped: [] }, async (lab) => {
    await lab.queue("kept", { ...deadLettering, defaultMessageTimeToLive: "PT1S" });
    await lab.queue("dropped", { defaultMessageTimeToLive: "PT1S" });
    const sentAtMs = Date.now();
    for (const queue of ["kept", "dropped"]) await send(lab, queue, queue);
    await waitUntil(async () => (await lab.deadLetters("kept")).length === 1);
    const isEarly = Date.now() < sentAtMs + 1_000;
    await waitUntil(async () => (await lab.peek("dropped")).length === 0);
    return { isEarly, kept: await reasonsIn(lab, "kept"), dropped: await reasonsIn(lab, "dropped") };
  }),
  "expiry-waits-for-the-lock": showing({ locked: ["1"], left: [], dead: ["TTLExpiredException"] }, async (lab) => {
    await lab.queue("orders", deadLettering);
    const receiver = lab.receiver("orders");
    await lab.client.createSender("orders").sendMessages({ body: "1", timeToLive: 10_000 });
    const message = await receiveOne(lab, receiver);
    await waitUntil(() => Date.now() > (message.expiresAtUtc?.getTime() ?? 0) + 200);
    const locked = await bodiesIn(lab, "orders");
    await receiver.abandonMessage(message);
    return { locked, left: await bodiesIn(lab, "orders"), dead: await reasonsIn(lab, "orders") };
  }),
  "no-expiry-while-forwarding": showing({ carried: false, there: ["1"] }, async (lab) => {
    await lab.queue("next", deadLettering);
    await lab.queue("orders", { ...deadLettering, forwardTo: "next", defaultMessageTimeToLive: "PT1S" });
    await send(lab, "orders", "1");
    const [message] = await lab.peek("next");
    return { carried: message?.timeToLive === 1_000, there: await bodiesIn(lab, "next") };
  }),
  "time-to-live-is-carried": showing(["TTLExpiredException"], async (lab) => {
    await lab.queue("next", deadLettering);
    await lab.queue("tier", {
      ...deadLettering,
      defaultMessageTimeToLive: "PT1S",
      forwardDeadLetteredMessagesTo: "next",
    });
    await send(lab, "tier", "1");
    await waitUntil(async () => (await lab.deadLetters("next")).length === 1);
    return reasonsIn(lab, "next");
  }),
  "four-hops": showing({ stuck: ["MaxTransferHopCountExceeded"], arrived: ["2"], dead: [] }, async (lab) => {
    const names = ["a", "b", "c", "d", "e", "f"];
    await lab.queue("dead");
    for (const [index, name] of [...names.entries()].toReversed()) {
      const forwardTo = names[index + 1];
      const forwarding = forwardTo === undefined ? {} : { forwardTo, forwardDeadLetteredMessagesTo: "dead" };
      await lab.queue(name, forwarding);
    }
    await send(lab, "a", "1");
    await send(lab, "b", "2");
    return { stuck: await reasonsIn(lab, "e"), arrived: await bodiesIn(lab, "f"), dead: await bodiesIn(lab, "dead") };
  }),
  "closed-destination-dead-letters": showing({ dead: 1 }, async (lab) => {
    await lab.queue("next", { status: "Disabled" });
    await lab.queue("orders", { forwardTo: "next" });
    await send(lab, "orders", "1");
    return { dead: (await lab.deadLetters("orders")).length };
  }),
  "forwarded-into-sessions": showing({ there: ["in-session"], dead: ["without"] }, async (lab) => {
    await lab.queue("next", { requiresSession: true });
    await lab.queue("orders", { forwardTo: "next" });
    await send(lab, "orders", "without");
    await lab.client.createSender("orders").sendMessages({ body: "in-session", sessionId: "customer-1" });
    const dead = await lab.deadLetters("orders");
    return { there: await bodiesIn(lab, "next"), dead: dead.map(({ body }) => String(body)) };
  }),
  "session-wanted": showing(["Session ID is null."], async (lab) => {
    await lab.administration.createTopic("shop");
    await lab.administration.createSubscription("shop", "billing", { requiresSession: true });
    await send(lab, "shop", "1");
    return reasonsIn(lab, "shop/Subscriptions/billing");
  }),
  "send-wants-its-entity": showing(["MessagingEntityNotFound", "MessagingEntityDisabled"], async (lab) => {
    await lab.queue("closed", { status: "Disabled" });
    return [await answerTo(send(lab, "none", "1")), await answerTo(send(lab, "closed", "1"))];
  }),
  "too-large-is-refused": showing(["MessageSizeExceeded", "MessageSizeExceeded", "no answer"], async (lab) => {
    await lab.queue("orders");
    const sender = lab.client.createSender("orders");
    const [body, later] = ["x".repeat(263_000), new Date(Date.now() + 60_000)];
    return [
      await answerTo(sender.sendMessages({ body })),
      await answerTo(sender.sendMessages({ body, scheduledEnqueueTimeUtc: later })),
      await answerTo(sender.scheduleMessages({ body }, later, { abortSignal: AbortSignal.timeout(1_000) })),
    ];
  }),
  "forwarding-entity-takes": showing(["1"], async (lab) => {
    await lab.queue("next");
    await lab.queue("orders", { forwardTo: "next" });
    await send(lab, "orders", "1");
    return bodiesIn(lab, "next");
  }),
  "duplicates-are-dropped": showing({ answer: "accepted", there: ["first", "other"] }, async (lab) => {
    await lab.queue("orders", { requiresDuplicateDetection: true });
    const sender = lab.client.createSender("orders");
    await sender.sendMessages({ body: "first", messageId: "1" });
    const answer = await answerTo(sender.sendMessages({ body: "second", messageId: "1", subject: "other" }));
    const scheduledEnqueueTimeUtc = new Date(Date.now() + 60_000);
    await sender.sendMessages({ body: "third", messageId: "1", scheduledEnqueueTimeUtc });
    await sender.scheduleMessages({ body: "fourth", messageId: "1" }, scheduledEnqueueTimeUtc);
    await sender.sendMessages([1, 2].map(() => ({ body: "other", messageId: "2" })));
    return { answer, there: await bodiesIn(lab, "orders") };
  }),
  "scheduled-is-a-new-message": showing({ body: "1", early: false, dead: [] }, async (lab) => {
    await lab.queue("orders", deadLettering);
    const due = new Date(Date.now() + 12_000);
    const copy = { body: "1", timeToLive: 10_000, scheduledEnqueueTimeUtc: due };
    await lab.client.createSender("orders").sendMessages(copy);
    const message = await receiveOne(lab, "orders");
    return { body: String(message.body), early: Date.now() < due.getTime(), dead: await reasonsIn(lab, "orders") };
  }),
  "topic-reaches-all": showing([["1"], ["1"]], async (lab) => {
    await lab.administration.createTopic("shop");
    for (const name of ["one", "other"]) await lab.administration.createSubscription("shop", name);
    await lab.administration.createRule("shop", "one", "again", { sqlExpression: "1=1" });
    await send(lab, "shop", "1");
    return Promise.all(["one", "other"].map(async (name) => bodiesIn(lab, `shop/Subscriptions/${name}`)));
  }),
  "rules-compare": showing(["order.placed"], async (lab) =>
    letIn(lab, { subject: "order.placed" }, ["order.placed", "Order.placed", "order", undefined]),
  ),
  "sql-compares": showing(["a_bc", "a_bcd", "exact"], async (lab) =>
    letIn(lab, { sqlExpression: "sys.Label LIKE 'a!_b_%' ESCAPE '!' OR sys.Label = 'exact'" }, [
      "a_bc",
      "a_bcd",
      "a_b",
      "axbc",
      "exact",
      "exactly",
      undefined,
    ]),
  ),
} as const satisfies Partial<Record<ClaimName, Experiment>>;
