import { type Message, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";

import type { SqsEvent } from "../../../src/brokers/sqs/prove/semantics.ts";
import { answerTo, type Lab, type Queue, redrivePolicy, sleep } from "./lab.ts";
import { isSettled, type Observation, predictionFor, type RandomCourse } from "./random-course.ts";

/** Longer than a short visibility timeout or delay, and the time to look for a message that must be there then. */
const waitMs = 1_200;
const patienceMs = 8_000;

/**
 * Plays a course on an emulator and records the observations. It skips actions that the semantics calls impossible,
 * such as deleting a message that was never received. If the answer to a receive would depend on the machine's speed,
 * it waits until it does not.
 */
export async function playCourse(lab: Lab, course: RandomCourse, tag: string): Promise<readonly Observation[]> {
  const queues = await createQueues(lab, course, tag);
  const observations: Observation[] = [];
  let prediction = predictionFor(course);
  const see = (observation: Observation): void => {
    observations.push(observation);
    prediction = prediction.after(observation);
  };
  const settle = async (): Promise<void> => {
    if (isSettled(prediction)) return;
    await sleep(waitMs);
    see({ kind: "waited" });
  };
  const [first] = course.queues;
  const group = first?.fifo === true ? { MessageGroupId: "group", MessageDeduplicationId: "id" } : {};
  await lab.send(queues[0] as Queue, "message", group);
  let held: { readonly message: Message; readonly index: number } | null = null;
  for (const action of course.actions) {
    // The observation cannot be explained, so the rest would show nothing.
    if (prediction.states.length === 0) break;
    switch (action.kind) {
      case "wait":
        await settle();
        break;
      case "receive": {
        const queue = queues[action.queue];
        if (queue === undefined) break;
        await settle();
        const name = course.queues[action.queue]?.name ?? "";
        const isExplained = (count: number | null): boolean =>
          prediction.after({ kind: "received", queue: name, receiveCount: count }).states.length > 0;
        const message = await receive(lab, queue, isExplained(null));
        if (message !== undefined) held = { message, index: action.queue };
        see({ kind: "received", queue: name, receiveCount: countOf(message) });
        break;
      }
      case "delete":
      case "change-visibility": {
        const event: SqsEvent =
          action.kind === "delete"
            ? { kind: "delete" }
            : { kind: "change-visibility", fromSeconds: action.seconds, toSeconds: action.seconds };
        const from = held === null ? undefined : queues[held.index];
        const name = held === null ? "" : (course.queues[held.index]?.name ?? "");
        if (held === null || from === undefined || !isPossible(prediction.states, name)) break;
        const request =
          action.kind === "delete"
            ? lab.deleteMessage(from, held.message)
            : lab.changeVisibility(from, held.message, action.seconds);
        see({ kind: "answered", event, refused: (await answerTo(request)) !== "accepted" });
        break;
      }
      default:
        action satisfies never;
    }
  }
  see({ kind: "found", queue: await find(lab, course, queues) });
  return observations;
}

/**
 * True if the receipt is that of the last receive, and the message is still hidden. Other tests ask about late calls.
 */
function isPossible(states: ReturnType<typeof predictionFor>["states"], queue: string): boolean {
  return states.every(({ place }) => place.kind === "queue" && place.queue === queue && place.status === "in-flight");
}

/** A receive that may be empty is made once. One that must return a message is repeated until it does. */
async function receive(lab: Lab, queue: Queue, mayBeEmpty: boolean): Promise<Message | undefined> {
  return mayBeEmpty ? (await lab.receive(queue))[0] : lab.receiveWithin(queue, patienceMs);
}

function countOf(message: Message | undefined): number | null {
  return message === undefined ? null : Number(message.Attributes?.ApproximateReceiveCount);
}

async function createQueues(lab: Lab, { queues }: RandomCourse, tag: string): Promise<readonly Queue[]> {
  const made: Queue[] = [];
  for (const { name, fifo, visibilityTimeoutSeconds, delaySeconds } of queues) {
    const attributes = { VisibilityTimeout: String(visibilityTimeoutSeconds), DelaySeconds: String(delaySeconds) };
    made.push(await lab.createQueue({ ...attributes, ...(fifo ? { FifoQueue: "true" } : {}) }, `${tag}-${name}`));
  }
  for (const [index, { redrive }] of queues.entries()) {
    const target = made[queues.findIndex(({ name }) => name === redrive?.deadQueue)];
    if (redrive === null || target === undefined) continue;
    const Attributes = redrivePolicy(target, redrive.maxReceiveCount);
    await lab.sqs.send(new SetQueueAttributesCommand({ QueueUrl: made[index]?.url ?? "", Attributes }));
  }
  return made;
}

/** The queue that holds the message; null for none. */
async function find(lab: Lab, { queues }: RandomCourse, made: readonly Queue[]): Promise<string | null> {
  const counts = await Promise.all(made.map(async (queue) => lab.count(queue)));
  const index = counts.findIndex((count) => count > 0);
  return index === -1 ? null : (queues[index]?.name ?? null);
}
