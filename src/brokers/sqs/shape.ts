import type { Closure } from "./closure.ts";
import type { Contract, Operation, Outcome } from "./contract.ts";
import type { Entrance } from "./entrance.ts";
import type { MessageState } from "./semantics.ts";
import type { SqsQueue } from "./topology.ts";

/**
 * A text that two consumers share only if a message of the one goes through the same states as a message of the other, but for names: what
 * is proved of the one is proved of the other.
 *
 * It is everything that the proof looks at, with each queue's name replaced by its place in the closure, which is one to one; names are
 * compared with each other for equality, and in no other way. Topics and filters are left out: what comes of them is in the entrance, and
 * nothing of a message that they look at is looked at again. Of a sent copy the attributes are left out, which nothing looks at either.
 */
export function shapeOf(closure: Closure, contract: Contract, { starts, undeclared }: Entrance): string {
  const places = new Map(closure.queues.map(({ name }, index) => [name, index]));
  const placeOf = (name: string): number | "missing" => places.get(name) ?? "missing";
  const { outcomes } = contract;
  return JSON.stringify([
    placeOf(contract.workQueue),
    placeOf(contract.deadQueue),
    contract.attempts,
    contract.maxDeliveries,
    contract.handlerTimeoutMs,
    contract.lambda !== undefined,
    [outcomes.success, outcomes.transient, outcomes.permanent, outcomes.return].map((each) =>
      outcomeShape(each, placeOf),
    ),
    (contract.retryAfter ?? []).map((step) => [step.upToMs, outcomeShape(step, placeOf)]),
    closure.queues.map((queue) => queueShape(queue, contract, placeOf)),
    unique(starts.map(({ states }) => states.map((state) => stateShape(state, placeOf)))),
    unique(undeclared.map(({ states }) => states.map((state) => stateShape(state, placeOf)))),
  ]);
}

type PlaceOf = (name: string) => number | "missing";

function queueShape(queue: SqsQueue, { consumer }: Contract, placeOf: PlaceOf): unknown {
  const { redrive, redriveAllow } = queue;
  return [
    queue.consumer === null ? "shared" : queue.consumer === consumer ? "own" : "other",
    queue.fifo,
    queue.visibilityTimeoutSeconds,
    queue.retentionSeconds,
    queue.delaySeconds,
    redrive === null ? null : [placeOf(redrive.deadQueue), redrive.maxReceiveCount],
    redriveAllow.permission === "denyAll" ? null : redriveAllow.sourceQueues.map(placeOf),
  ];
}

function outcomeShape(outcome: Outcome, placeOf: PlaceOf): unknown {
  const shape = (operation: Operation): unknown =>
    operation.operation === "SendMessage"
      ? [operation.operation, placeOf(operation.queue), operation.fifo !== undefined]
      : operation;
  return "byAttempt" in outcome ? outcome.byAttempt.map((each) => each.map(shape)) : [outcome.map(shape)];
}

function stateShape(state: MessageState, placeOf: PlaceOf): unknown {
  const { place } = state;
  if (place.kind === "refused") return [place.kind, place.error];
  return { ...state, place: { ...place, queue: place.queue === null ? null : placeOf(place.queue) } };
}

function unique(shapes: readonly unknown[]): readonly string[] {
  return [...new Set(shapes.map((each) => JSON.stringify(each)))].toSorted();
}
