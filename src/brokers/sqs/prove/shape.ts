import { type PlaceOf, distinctShapes, operationsShape, ownerShape, placesOf } from "../../../contract/shape.ts";
import type { Closure } from "./closure.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import type { Entrance } from "./entrance.ts";
import type { MessageState } from "./semantics.ts";
import type { SqsQueue } from "../compile/topology.ts";

/**
 * A text that two consumers share only if their messages go through the same states, apart from names. A proof for one
 * consumer then holds for the other.
 *
 * The text has everything that the proof looks at, with each queue's name replaced by its place in the closure. The
 * replacement is one to one, and the semantics compares names only for equality. Topics and filters are left out,
 * because the entrance holds their result. No later step looks at the properties that they look at. The attributes of a
 * sent copy are left out too, because no step looks at them.
 *
 * @param nameless the sends that name no consumer
 */
export function shapeOf(
  closure: Closure,
  contract: Contract,
  { starts, undeclared }: Entrance,
  nameless: readonly string[],
): string {
  if (nameless.length > 0) return nameless.join("\n");
  const placeOf = placesOf(closure.queues.map(({ name }) => name));
  return JSON.stringify([
    placeOf(contract.workQueue),
    placeOf(contract.deadQueue),
    contract.attempts,
    contract.maxDeliveries,
    contract.handlerTimeoutMs,
    contract.lambda !== undefined,
    operationsShape<Operation>(contract, (operation) =>
      operation.operation === "SendMessage"
        ? [operation.operation, placeOf(operation.queue), operation.fifo !== undefined]
        : operation,
    ),
    closure.queues.map((queue) => queueShape(queue, contract, placeOf)),
    distinctShapes(starts.map(({ states }) => states.map((state) => stateShape(state, placeOf)))),
    distinctShapes(undeclared.map(({ states }) => states.map((state) => stateShape(state, placeOf)))),
  ]);
}

function queueShape(queue: SqsQueue, { consumer }: Contract, placeOf: PlaceOf): unknown {
  const { redrive, redriveAllow } = queue;
  return [
    ownerShape(queue.consumer, consumer),
    queue.fifo,
    queue.visibilityTimeoutSeconds,
    queue.retentionSeconds,
    queue.delaySeconds,
    redrive === null ? null : [placeOf(redrive.deadQueue), redrive.maxReceiveCount],
    "sourceQueues" in redriveAllow ? redriveAllow.sourceQueues.map(placeOf) : redriveAllow.permission,
  ];
}

function stateShape(state: MessageState, placeOf: PlaceOf): unknown {
  const { place } = state;
  if (place.kind === "refused") return [place.kind, place.error];
  return { ...state, place: { ...place, queue: place.queue === null ? null : placeOf(place.queue) } };
}
