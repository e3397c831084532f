import type { Message } from "@aws-sdk/client-sqs";
import type { Observation } from "./claim.ts";
import { type Lab, type Queue, type QueueAttributes, redrivePolicy, sleep } from "./lab.ts";

/** Asks an emulator about one claim and returns the observation; it judges nothing. */
export type Experiment = (lab: Lab) => Promise<Observation>;

/** The time that an experiment waits for an expected message. It looks for an unexpected one after an expected one. */
export const patienceMs = 6_000;

/** The shortest visibility timeout that leaves time for an action. */
export const shortVisibility: QueueAttributes = { VisibilityTimeout: "1" };

export interface Pair {
  readonly work: Queue;
  readonly dead: Queue;
}

export async function createPair(lab: Lab, maxReceiveCount: number, attributes: QueueAttributes = {}): Promise<Pair> {
  const dead = await lab.createQueue();
  const policy = redrivePolicy(dead, maxReceiveCount);
  return { dead, work: await lab.createQueue({ ...shortVisibility, ...policy, ...attributes }) };
}

/** Receives a message that must come. */
export async function mustReceive(lab: Lab, queue: Queue): Promise<Message> {
  const message = await lab.receiveWithin(queue, patienceMs);
  if (message === undefined) throw new Error(`no message in ${queue.name} within ${patienceMs} ms`);
  return message;
}

/** Receives a number of deliveries, and lets the visibility timeout of each pass. */
export async function failTimes(lab: Lab, queue: Queue, times: number): Promise<readonly Message[]> {
  const messages: Message[] = [];
  while (messages.length < times) messages.push(await mustReceive(lab, queue));
  return messages;
}

/** Polls a queue until the message has moved to the other one. @returns the number of messages in the polls */
export async function pollUntilMoved(lab: Lab, from: Queue, to: Queue): Promise<number> {
  const deadline = performance.now() + patienceMs;
  let delivered = 0;
  while ((await lab.count(to)) === 0) {
    if (performance.now() > deadline) throw new Error(`nothing moved from ${from.name} within ${patienceMs} ms`);
    delivered += (await lab.receive(from)).length;
    await sleep(50);
  }
  return delivered;
}

export const receiveCount = (message: Message | undefined): string =>
  message?.Attributes?.ApproximateReceiveCount ?? "none";

export interface Timing {
  readonly early: boolean;
  readonly late: boolean;
}

/**
 * Tells if a message comes before its time or long after it. The measurement starts before the call that starts the
 * clock, and ends after the receive. So a busy machine never makes it early.
 */
export async function timeUntil(lab: Lab, queue: Queue, startedAt: number, dueAfterMs: number): Promise<Timing> {
  await mustReceive(lab, queue);
  const elapsedMs = performance.now() - startedAt;
  return { early: elapsedMs < dueAfterMs, late: elapsedMs > dueAfterMs + 3_000 };
}
