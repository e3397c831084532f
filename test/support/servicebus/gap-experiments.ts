import { answerTo, bodiesIn, type Experiment, reasonsIn, receiveOne, send } from "./experiment.ts";
import { type GapName, gaps } from "./known-gaps.ts";
import type { Lab } from "./lab.ts";
import { waitUntil } from "./wait.ts";

const runs: Readonly<Record<GapName, Experiment["run"]>> = {
  "expires-on-time": async (lab) => {
    await lab.queue("orders", { deadLetteringOnMessageExpiration: true, defaultMessageTimeToLive: "PT1S" });
    await send(lab, "orders", "1");
    // Counting is no receiving.
    const count = async (): Promise<number> =>
      (await lab.administration.getQueueRuntimeProperties("orders")).deadLetterMessageCount;
    await waitUntil(async () => (await count()) === 1);
    return { reasons: await reasonsIn(lab, "orders") };
  },
  "first-possibility": async (lab) => {
    await lab.queue("dead");
    await lab.queue("orders", { forwardDeadLetteredMessagesTo: "dead", maxDeliveryCount: 1 });
    await send(lab, "orders", "1");
    const receiver = lab.receiver("orders");
    await receiver.abandonMessage(await receiveOne(lab, receiver));
    return { count: (await receiveOne(lab, "dead")).deliveryCount ?? null };
  },
  "takes-short-locks": async (lab) => answerTo(lab.queue("orders", { lockDuration: "PT1S" })),
  "needs-no-tls": async (lab) => {
    await lab.queue("orders");
    return answerTo(lab.client.createSender("orders").sendMessages({ body: "1" }));
  },
  "rules-have-no-actions": async (lab) => {
    await createSubscription(lab);
    const { administration } = lab;
    return answerTo(
      administration.createRule("shop", "one", "acting", { subject: "a" }, { sqlExpression: "SET a = 0" }),
    );
  },
  "filters-see-the-subject": async (lab) => {
    await createSubscription(lab);
    return [
      await answerTo(lab.administration.createRule("shop", "one", "sql", { sqlExpression: "price > 10" })),
      await answerTo(lab.administration.createRule("shop", "one", "correlation", { correlationId: "7" })),
    ];
  },
  "has-no-tiers": async (lab) => {
    await lab.queue("orders");
    return answerTo(lab.client.createSender("orders").sendMessages({ body: "x".repeat(300_000) }));
  },
  "is-never-full": async (lab) => {
    await lab.queue("orders", { maxSizeInMegabytes: 1 });
    const sender = lab.client.createSender("orders");
    const bodies = Array.from({ length: 6 }, () => ({ body: "x".repeat(200_000) }));
    const answers = [];
    for (const body of bodies) answers.push(await answerTo(sender.sendMessages(body)));
    const { activeMessageCount } = await lab.administration.getQueueRuntimeProperties("orders");
    return { answer: answers.at(-1) ?? null, messages: activeMessageCount };
  },
  "deletes-nothing-on-idle": async (lab) => {
    const answer = await answerTo(lab.queue("orders", { autoDeleteOnIdle: "PT1S" }));
    const laterMs = Date.now() + 1_500;
    await waitUntil(() => Date.now() > laterMs);
    return { answer, exists: await lab.administration.queueExists("orders") };
  },
  "has-no-partitions": async (lab) => {
    await lab.queue("orders", { enablePartitioning: true });
    for (const body of ["1", "2", "3"]) await send(lab, "orders", body);
    return bodiesIn(lab, "orders");
  },
  "has-no-transfer-queue": async (lab) => {
    await lab.queue("orders");
    return answerTo(lab.receiver("orders", { subQueueType: "transferDeadLetter" }).receiveMessages(1));
  },
  "takes-rings": async (lab) => {
    await lab.queue("a");
    await lab.queue("b", { forwardTo: "a" });
    const a = await lab.administration.getQueue("a");
    const answer = await answerTo(lab.administration.updateQueue({ ...a, forwardTo: "b" }));
    await send(lab, "a", "1");
    return { answer, reasons: [...(await reasonsIn(lab, "a")), ...(await reasonsIn(lab, "b"))] };
  },
};

async function createSubscription({ administration }: Lab): Promise<void> {
  await administration.createTopic("shop");
  await administration.createSubscription("shop", "one");
}

export const gapExperiments: Readonly<Record<GapName, Experiment>> = Object.fromEntries(
  Object.entries(runs).map(([name, run]) => [name, { run, shows: gaps[name as GapName].observed }]),
) as Record<GapName, Experiment>;
