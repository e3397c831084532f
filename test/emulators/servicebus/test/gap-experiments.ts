import { type GapName, gaps } from "../src/known-gaps.ts";
import type { Lab } from "../src/lab.ts";
import { waitUntil } from "../src/wait-until.ts";
import { answerTo, bodiesIn, type Experiment, reasonsIn, receiveOne, send } from "./experiment.ts";

const runs: Readonly<Record<GapName, Experiment["run"]>> = {
  "expires-on-time": async (lab) => {
    await lab.queue("orders", { deadLetteringOnMessageExpiration: true, defaultMessageTimeToLive: "PT1S" });
    await send(lab, "orders", "1");
    // Counting receives no message.
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
  "takes-small-queues": async (lab) => answerTo(lab.queue("orders", { maxSizeInMegabytes: 1 })),
  "deletes-nothing-on-idle": async (lab) => answerTo(lab.queue("orders", { autoDeleteOnIdle: "PT5M" })),
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
