import { type PlaceOf, distinctShapes, operationsShape, ownerShape, placesOf } from "../../../contract/shape.ts";
import type { Closure } from "./closure.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import type { Entrance } from "./entrance.ts";
import type { MessageState } from "./semantics.ts";
import { type MessageEntity, subscriptionPath } from "../compile/topology.ts";

/**
 * A text that two consumers share only if their messages go through the same states, apart from names. A proof for one
 * consumer then holds for the other.
 *
 * The text has everything that the proof looks at, with each entity's name replaced by its place in the closure. The
 * replacement is one to one, and the semantics compares names only for equality.
 *
 * Topics and rules appear only by their result, the entrance. So subscriptions count only if messages rest in them. All
 * models use the same ids and subjects, but for the subject of a published message. No step behind a topic looks at the
 * subject again, and no topic is behind another.
 */
export function shapeOf(
  closure: Closure,
  contract: Contract,
  beside: Contract,
  { starts, undeclared }: Entrance,
): string {
  const paths = closure.subscriptions.map(subscriptionPath);
  const placeOf = placesOf([
    ...closure.queues.map(({ name }) => name),
    ...paths,
    ...closure.topics.map(({ name }) => name),
  ]);
  const { receive, attemptNumber } = contract;
  const inPlace = ({ states }: Entrance["starts"][number]): unknown =>
    states.map((state) => stateShape(state, placeOf));
  const restsIn = new Set(
    starts.flatMap(({ states }) => states.map(({ place }) => (place.kind === "entity" ? place.entity : ""))),
  );
  return JSON.stringify([
    placeOf(contract.workQueue),
    [contract, beside].map((each) => deadShape(each, placeOf)),
    contract.attempts,
    [contract.crashDeliveries, contract.maxDeliveries, contract.handlerTimeoutMs],
    [attemptNumber.from, receive.sessions, receive.lockRenewalMs],
    operationsShape<Operation>(contract, (operation) =>
      "queue" in operation ? { ...operation, queue: placeOf(operation.queue) } : operation,
    ),
    closure.queues.map((queue) => [
      ownerShape(queue.consumer, contract.consumer),
      queue.duplicateDetectionMs,
      entityShape(queue, placeOf),
    ]),
    closure.subscriptions
      .filter((subscription) => restsIn.has(subscriptionPath(subscription)))
      .map((subscription) => entityShape(subscription, placeOf)),
    distinctShapes(starts.map(inPlace)),
    distinctShapes(undeclared.map(inPlace)),
  ]);
}

/** The name of a queue, or the dead-letter queue of the entity before the slash. */
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

function stateShape({ place, content, ...state }: MessageState, placeOf: PlaceOf): unknown {
  return { ...state, session: content.sessionId, place: { ...place, entity: placeOf(place.entity) } };
}
