import { type Experiment, mustReceive, receiveCount, shortVisibility, timeUntil } from "./experiment.ts";
import { answerTo, type Lab, sleep } from "./lab.ts";

const visibilityFromReceive: Experiment = async (lab) => {
  const queue = await lab.createQueue(shortVisibility);
  await lab.send(queue, "order");
  const startedAt = performance.now();
  await mustReceive(lab, queue);
  return { ...(await timeUntil(lab, queue, startedAt, 1_000)) };
};

const changedVisibilityFromCall: Experiment = async (lab) => {
  const queue = await lab.createQueue({ VisibilityTimeout: "2" });
  await lab.send(queue, "order");
  const message = await mustReceive(lab, queue);
  await sleep(800);
  const startedAt = performance.now();
  await lab.changeVisibility(queue, message, 2);
  return { ...(await timeUntil(lab, queue, startedAt, 2_000)) };
};

const changedVisibilityIsForgotten: Experiment = async (lab) => {
  const queue = await lab.createQueue(shortVisibility);
  await lab.send(queue, "order");
  const gap = (startedAt: number): string => (performance.now() - startedAt < 3_000 ? "less than 3 s" : "3 s or more");
  const first = await mustReceive(lab, queue);
  const changedAt = performance.now();
  await lab.changeVisibility(queue, first, 3);
  await mustReceive(lab, queue);
  const changed = gap(changedAt);
  const receivedAt = performance.now();
  await mustReceive(lab, queue);
  return { changed, next: gap(receivedAt) };
};

const visibilityZero: Experiment = async (lab) => {
  const queue = await lab.createQueue();
  await lab.send(queue, "order");
  await lab.changeVisibility(queue, await mustReceive(lab, queue), 0);
  return receiveCount(await mustReceive(lab, queue));
};

const deleteAfterVisibility: Experiment = async (lab) => {
  const queue = await lab.createQueue(shortVisibility);
  await lab.send(queue, "order");
  const message = await mustReceive(lab, queue);
  await sleep(1_200);
  return { answer: await answerTo(lab.deleteMessage(queue, message)), left: await lab.count(queue) };
};

const changeAfterVisibility: Experiment = async (lab) => {
  const queue = await lab.createQueue(shortVisibility);
  await lab.send(queue, "order");
  const message = await mustReceive(lab, queue);
  await sleep(1_200);
  const answer = await answerTo(lab.changeVisibility(queue, message, 20));
  return { answer, visible: (await lab.receive(queue)).length > 0 };
};

/** The delays differ, so that the arrival time reveals the wrong one. */
const delayOf =
  (queueSeconds: number, messageSeconds?: number): Experiment =>
  async (lab) => {
    const queue = await lab.createQueue({ DelaySeconds: String(queueSeconds) });
    const startedAt = performance.now();
    await lab.send(queue, "order", messageSeconds === undefined ? {} : { DelaySeconds: messageSeconds });
    return { ...(await timeUntil(lab, queue, startedAt, 1_000 * (messageSeconds ?? queueSeconds))) };
  };

async function changeTo(lab: Lab, seconds: number, afterMs: number): Promise<string> {
  const queue = await lab.createQueue();
  await lab.send(queue, "order");
  const message = await mustReceive(lab, queue);
  await sleep(afterMs);
  return answerTo(lab.changeVisibility(queue, message, seconds));
}

export const visibilityExperiments = {
  "visibility-from-receive": visibilityFromReceive,
  "changed-visibility-from-call": changedVisibilityFromCall,
  "changed-visibility-is-forgotten": changedVisibilityIsForgotten,
  "visibility-zero-returns-at-once": visibilityZero,
  "delete-after-visibility": deleteAfterVisibility,
  "change-after-visibility": changeAfterVisibility,
  "queue-delay": delayOf(1),
  "message-delay-overrides": delayOf(900, 1),
  "change-beyond-12h": async (lab) => changeTo(lab, 43_201, 0),
  "change-beyond-total-12h": async (lab) => changeTo(lab, 43_200, 1_500),
} satisfies Readonly<Record<string, Experiment>>;
