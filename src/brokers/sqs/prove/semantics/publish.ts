import type { SnsSubscription, SnsTopic, SqsQueue } from "../../compile/topology.ts";
import type { Context } from "./context.ts";
import { isTaken } from "./filter-policy.ts";
import type {
  Circumstances,
  LossCause,
  MessageState,
  Outcome,
  Place,
  Publication,
  SentMessage,
} from "./message-state.ts";

/** The most attributes that one message of SQS may have. Claim: topic-raw-attributes. */
const mostAttributes = 10;

const noCircumstances: Circumstances = Object.freeze({});

/** A new message, or one without a place. */
function stateAt(place: Place, groupId: string | null = null): MessageState {
  return { place, receiveCount: 0, receivesHere: 0, groupId };
}

function lost(cause: LossCause, queue: string | null): MessageState {
  return stateAt({ kind: "lost", cause, queue });
}

function refused(by: string, error: string): readonly Outcome[] {
  return [[stateAt({ kind: "refused", by, error })]];
}

/** Claims: queue-delay, message-delay-overrides. */
function arrived(queue: SqsQueue, groupId: string | null, delaySeconds: number = queue.delaySeconds): MessageState {
  const { name } = queue;
  const place: Place =
    delaySeconds > 0
      ? { kind: "queue", queue: name, status: "delayed" }
      : { kind: "queue", queue: name, status: "visible", handled: false };
  return stateAt(place, queue.fifo ? groupId : null);
}

/** See `Semantics.send`. Claims: send-wants-its-queue, fifo-send-wants-group, fifo-message-delay. */
export function send({ queues }: Context, message: SentMessage): readonly Outcome[] {
  const { queue: name, groupId, deduplicationId, delaySeconds } = message;
  const queue = queues.get(name);
  if (queue === undefined) return refused(name, "QueueDoesNotExist");
  if (queue.fifo && (groupId === undefined || deduplicationId === undefined)) return refused(name, "MissingParameter");
  // A FIFO queue tolerates a delay of 0 per message, and its own delay applies then.
  if (queue.fifo && delaySeconds !== undefined && delaySeconds > 0) return refused(name, "InvalidParameterValue");
  if (!queue.fifo && deduplicationId !== undefined) return refused(name, "InvalidParameterValue");
  if (delaySeconds !== undefined && delaySeconds > 900) return refused(name, "InvalidParameterValue");
  return [[arrived(queue, groupId ?? null, queue.fifo ? undefined : delaySeconds)]];
}

/** See `Semantics.publish`. Claims: topic-reaches-all, topic-filter, fifo-topic-wants-group, topic-raw-attributes. */
export function publish(
  context: Context,
  { topic: name, attributes = {}, groupId }: Publication,
  circumstances: Circumstances = noCircumstances,
): readonly Outcome[] {
  const topic = context.topics.get(name);
  if (topic === undefined) return refused(name, "NotFound");
  if (topic.fifo && groupId === undefined) return refused(name, "InvalidParameter");
  let outcomes: readonly Outcome[] = [[]];
  for (const subscription of context.subscriptions.get(name) ?? []) {
    const taken = isTaken(subscription.filterPolicy, attributes);
    if (taken === "no") continue;
    const isTooMany = Object.keys(attributes).length > mostAttributes;
    const ends = handOver(context, topic, subscription, { groupId: groupId ?? null, isTooMany, ...circumstances });
    const taking = outcomes.flatMap((copies) => ends.map((copy) => [...copies, copy]));
    outcomes = taken === "yes" ? taking : [...taking, ...outcomes];
  }
  return outcomes.map((copies) => (copies.length === 0 ? [lost("no-subscription", null)] : copies));
}

/** The facts about one message that decide if a subscription can deliver it. */
interface HandedOver extends Circumstances {
  readonly groupId: string | null;
  /** True if the message has more attributes than SQS takes. Raw delivery has no other place for them. */
  readonly isTooMany: boolean;
}

/**
 * The possible ends of one subscription's copy. Claims: topic-types, topic-wants-queue-policy, topic-dead-letters,
 * topic-raw-attributes, topic-raw-dead-letter.
 */
function handOver(
  { queues }: Context,
  topic: SnsTopic,
  subscription: SnsSubscription,
  { groupId, isTooMany, unreachableQueues }: HandedOver,
): readonly MessageState[] {
  const queue = queues.get(subscription.queue);
  const reaches = (target: SqsQueue | undefined): target is SqsQueue =>
    target !== undefined && target.sendersTopics.includes(topic.name) && (topic.fifo || !target.fifo);
  if (reaches(queue) && !isTooMany && unreachableQueues?.has(queue.name) !== true) return [arrived(queue, groupId)];
  const dead = queues.get(subscription.deadQueue);
  const isOfItsType = queue === undefined || dead?.fifo === queue.fifo;
  const gone = lost("undeliverable", subscription.queue);
  if (!reaches(dead) || !isOfItsType) return [gone];
  return isTooMany ? [arrived(dead, groupId), gone] : [arrived(dead, groupId)];
}
