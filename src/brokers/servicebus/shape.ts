import type { Closure } from "./closure.ts";
import type { Contract, Operation, Outcome } from "./contract.ts";
import type { Entrance } from "./entrance.ts";
import type { MessageState } from "./semantics.ts";
import type { MessageEntity } from "./topology.ts";
import { subscriptionPath } from "./topology.ts";

/**
 * A text that two consumers share only if a message of the one goes through the same states as a message of the other, but for names: what
 * is proved of the one is proved of the other.
 *
 * It is everything that the proof looks at, with each entity's name replaced by its place in the closure, which is one to one; names are
 * compared with each other for equality, and in no other way. Of topics and rules only what comes of them is in it, which is the entrance;
 * so subscriptions count only where messages rest in them. Ids and subjects are the same in all models but for the subject, at which
 * nothing looks again behind a topic, and no topic is behind another.
 */
export function shapeOf(closure: Closure, contract: Contract, { starts, undeclared }: Entrance): string {
  const paths = closure.subscriptions.map(subscriptionPath);
  const names = [...closure.queues.map(({ name }) => name), ...paths, ...closure.topics.map(({ name }) => name)];
  const places = new Map(names.map((name, index) => [name, index]));
  const placeOf = (name: string): number | "missing" => places.get(name) ?? "missing";
  const { outcomes, receive, attemptNumber } = contract;
  const inPlace = ({ states }: Entrance["starts"][number]): unknown =>
    states.map((state) => stateShape(state, placeOf));
  const restsIn = new Set(starts.flatMap(({ states }) => states.flatMap(({ place }) => entityOf(place))));
  return JSON.stringify([
    placeOf(contract.workQueue),
    deadShape(contract, placeOf),
    contract.attempts,
    [contract.crashDeliveries, contract.maxDeliveries, contract.handlerTimeoutMs],
    [attemptNumber.from, receive.sessions, receive.lockRenewalMs],
    [outcomes.success, outcomes.transient, outcomes.permanent, outcomes.return].map((each) =>
      outcomeShape(each, placeOf),
    ),
    (contract.retryAfter ?? []).map((step) => [step.upToMs, outcomeShape(step, placeOf)]),
    closure.queues.map((queue) => [
      queue.consumer === null ? "shared" : queue.consumer === contract.consumer ? "own" : "other",
      queue.duplicateDetectionMs,
      entityShape(queue, placeOf),
    ]),
    closure.subscriptions
      .filter((subscription) => restsIn.has(subscriptionPath(subscription)))
      .map((subscription) => entityShape(subscription, placeOf)),
    unique(starts.map(inPlace)),
    unique(undeclared.map(inPlace)),
  ]);
}

type PlaceOf = (name: string) => number | "missing";

function entityOf(place: MessageState["place"]): string[] {
  return place.kind === "entity" ? [place.entity] : [];
}

/** A queue, or the dead-letter queue of the entity before the slash. */
function deadShape({ deadQueue }: Contract, placeOf: PlaceOf): unknown {
  const slash = deadQueue.lastIndexOf("/");
  return deadQueue.endsWith("/$DeadLetterQueue")
    ? [placeOf(deadQueue.slice(0, slash)), "dead letters"]
    : placeOf(deadQueue);
}

function entityShape(entity: MessageEntity, placeOf: PlaceOf): unknown {
  return [
    entity.lockDurationMs,
    entity.maxDeliveryCount,
    entity.timeToLiveMs,
    entity.deadLetterOnExpiration,
    entity.requiresSession,
    entity.forwardTo === null ? null : placeOf(entity.forwardTo),
    entity.forwardDeadLetteredTo === null ? null : placeOf(entity.forwardDeadLetteredTo),
  ];
}

function outcomeShape(outcome: Outcome, placeOf: PlaceOf): unknown {
  const shape = (operation: Operation): unknown =>
    "queue" in operation ? { ...operation, queue: placeOf(operation.queue) } : operation;
  return "byAttempt" in outcome ? outcome.byAttempt.map((each) => each.map(shape)) : [outcome.map(shape)];
}

function stateShape({ place, content, ...state }: MessageState, placeOf: PlaceOf): unknown {
  return { ...state, session: content.sessionId, place: { ...place, entity: placeOf(place.entity) } };
}

function unique(shapes: readonly unknown[]): readonly string[] {
  return [...new Set(shapes.map((each) => JSON.stringify(each)))].toSorted();
}
