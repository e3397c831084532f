import type { Message } from "@aws-sdk/client-sqs";
import { type Experiment, failTimes, mustReceive, pollUntilMoved, shortVisibility } from "./experiment.ts";
import { answerTo, type Lab, type Queue, redrivePolicy, sleep } from "./lab.ts";

const bodyOf = (message: Message | undefined): string | null => message?.Body ?? null;

/** Sends one message for each name; its first letter is its group. */
async function sendAll(lab: Lab, queue: Queue, ...names: readonly string[]): Promise<void> {
  for (const name of names) await lab.send(queue, name, { MessageGroupId: name.slice(0, 1) });
}

const inFlightBlocksGroup: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue();
  await sendAll(lab, queue, "a1", "a2", "b1");
  const [first, second] = [await mustReceive(lab, queue), await mustReceive(lab, queue)];
  const [third] = await lab.receive(queue);
  return [bodyOf(first), bodyOf(second), bodyOf(third)];
};

const retryKeepsOrder: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue(shortVisibility);
  await sendAll(lab, queue, "a1", "a2");
  const first = await mustReceive(lab, queue);
  const second = await mustReceive(lab, queue);
  await lab.deleteMessage(queue, second);
  return [bodyOf(first), bodyOf(second), bodyOf(await mustReceive(lab, queue))];
};

const batchHoldsGroup: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue();
  await sendAll(lab, queue, "a1", "a2", "a3");
  return (await lab.receive(queue, { max: 10, waitSeconds: 1 })).map(bodyOf);
};

/** It is unknown if the moving receive also delivers the next message of the group. So this reads on until it comes. */
const deadLetterFreesGroup: Experiment = async (lab) => {
  const dead = await lab.createFifoQueue();
  const work = await lab.createFifoQueue({ ...shortVisibility, ...redrivePolicy(dead, 2) });
  await sendAll(lab, work, "a1", "a2");
  const delivered = (await failTimes(lab, work, 3)).map(bodyOf);
  return { delivered, dead: (await lab.receive(dead, { max: 10, waitSeconds: 1 })).map(bodyOf) };
};

const deadLetterId: Experiment = async (lab) => {
  const dead = await lab.createFifoQueue();
  const work = await lab.createFifoQueue({ ...shortVisibility, ...redrivePolicy(dead, 1) });
  const id = await lab.send(work, "a1", { MessageGroupId: "a", MessageDeduplicationId: "own" });
  await failTimes(lab, work, 1);
  await pollUntilMoved(lab, work, dead);
  const deduplicationId = (await mustReceive(lab, dead)).Attributes?.MessageDeduplicationId ?? null;
  return deduplicationId === id ? "message id" : deduplicationId;
};

const releaseFirstOfBatch: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue();
  await sendAll(lab, queue, "a1", "a2");
  const first = (await lab.receive(queue, { max: 10, waitSeconds: 1 })).find((message) => message.Body === "a1");
  if (first === undefined) throw new Error("the batch did not hold a1");
  await lab.changeVisibility(queue, first, 0);
  return (await lab.receive(queue, { max: 10, waitSeconds: 1 })).map(bodyOf);
};

const deduplicates: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue();
  await sendAll(lab, queue, "a1", "a1");
  return (await lab.receive(queue, { max: 10, waitSeconds: 1 })).map(bodyOf);
};

const deleteAfterVisibility: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue(shortVisibility);
  await sendAll(lab, queue, "a1");
  const message = await mustReceive(lab, queue);
  await sleep(1_500);
  return answerTo(lab.deleteMessage(queue, message));
};

const messageDelay: Experiment = async (lab) => {
  const queue = await lab.createFifoQueue();
  return answerTo(lab.send(queue, "a1", { MessageGroupId: "a", DelaySeconds: 1 }));
};

export const fifoExperiments = {
  "fifo-in-flight-blocks-group": inFlightBlocksGroup,
  "fifo-retry-keeps-order": retryKeepsOrder,
  "fifo-batch-holds-group": batchHoldsGroup,
  "fifo-dead-letter-frees-group": deadLetterFreesGroup,
  "fifo-dead-letter-id": deadLetterId,
  "fifo-release-first-of-batch": releaseFirstOfBatch,
  "fifo-deduplicates": deduplicates,
  "fifo-delete-after-visibility": deleteAfterVisibility,
  "fifo-message-delay": messageDelay,
} satisfies Readonly<Record<string, Experiment>>;
