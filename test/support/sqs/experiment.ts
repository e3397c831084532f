import type { Message } from "@aws-sdk/client-sqs";
import type { Observation } from "./claim.ts";
import { type Lab, type Queue, type QueueAttributes, redrivePolicy, sleep } from "./lab.ts";

/** Asks an emulator about one claim and says what was to be seen; it judges nothing. */
export type Experiment = (lab: Lab) => Promise<Observation>;

/** How long an experiment waits for what must come. What must not come is looked for after something that must. */
export const patienceMs = 6_000;

/** The shortest visibility timeout that leaves time to do something within it. */
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

/** Receives a number of deliveries, each of which runs out of its visibility timeout. */
export async function failTimes(lab: Lab, queue: Queue, times: number): Promise<readonly Message[]> {
  const messages: Message[] = [];
  while (messages.length < times) messages.push(await mustReceive(lab, queue));
  return messages;
}

/** Polls a queue until the message has moved to the other one. @returns how many messages the polls got */
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
 * Whether a message comes before or long after its time. Measured from before the call that starts the clock until after the
 * receive, so that a busy machine never makes it early.
 */
export async function timeUntil(lab: Lab, queue: Queue, startedAt: number, dueAfterMs: number): Promise<Timing> {
  await mustReceive(lab, queue);
  const elapsedMs = performance.now() - startedAt;
  return { early: elapsedMs < dueAfterMs, late: elapsedMs > dueAfterMs + 3_000 };
}
