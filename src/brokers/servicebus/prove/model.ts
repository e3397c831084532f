import { type Model, type Move, type Situation, moveOf } from "../../../explore/model.ts";
import { cloudSubjects, concernedIn } from "../../../contract/closure.ts";
import { subscriptionPath } from "../compile/topology.ts";
import { type Closure, type TopologyIndex, closureOf, workEntity } from "./closure.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import { attemptOf } from "../../../contract/attempt-number.ts";
import { crashesBetween, endingsOf } from "../../../contract/interpret.ts";
import { entranceOf } from "./entrance.ts";
import { bounded, copySentTo, perform } from "./handling.ts";
import { type ModelState, describeState, atRest, lossWords } from "./model-state.ts";
import { deadLetterQueue } from "../compile/names.ts";
import { type EntityPlace, type Semantics, type ServicebusEvent, semanticsOf } from "./semantics.ts";
import { shapeOf } from "./shape.ts";

/** Each consumer is proved by itself. Every tier treats a message alike. */
export const { subjectsOf, changesOf } = cloudSubjects(subscriptionPath, {
  shape: (index: TopologyIndex, contract: Contract, beside: Contract) => {
    const closure = closureOf(index, contract, beside);
    return shapeOf(closure, contract, beside, entranceOf(semanticsOf(closure), closure, contract));
  },
  model: modelOf,
});

export const concernedBy = concernedIn(closureOf);

interface Context {
  /** The semantics of the part of the topology that the consumer's messages can reach. */
  readonly semantics: Semantics;
  readonly contract: Contract;
  /** Its dead queue, and that of instances by the other contract. */
  readonly deadQueues: readonly string[];
  readonly closure: Closure;
  /** The lock duration of the queue or subscription that the consumer receives from. */
  readonly lockMs: number;
}

/** Builds the explorer's model of one consumer, from its contract and the semantics of Service Bus. */
function modelOf(index: TopologyIndex, contract: Contract, beside: Contract): Model<ModelState> {
  const closure = closureOf(index, contract, beside);
  const semantics = semanticsOf(closure);
  const lockMs = workEntity(closure, contract)?.lockDurationMs ?? 0;
  const deadQueues = [contract.deadQueue, beside.deadQueue];
  const context: Context = { semantics, contract, deadQueues, closure, lockMs };
  const { starts, undeclared } = entranceOf(semantics, closure, contract);
  return {
    consumer: contract.consumer,
    starts: starts.map(({ key, states }) => ({ key, states: states.map(atRest) })),
    flaws: [
      ...undeclared.map(({ key }) => `a message published as ${key} reaches the work queue, and is not declared`),
      ...receivingFlaws(contract, lockMs, workEntity(closure, contract)?.requiresSession ?? false),
    ],
    keyOf: ({ message, handler, wait }) =>
      `${semantics.behaviourKey(message)}\u0000${handler}\u0000${wait?.fromMs}\u0000${wait?.toMs}`,
    count: countOf(workEntity(closure, contract)?.maxDeliveryCount ?? 0),
    placeOf: ({ message: { place } }) =>
      place.kind !== "entity" ? null : place.deadLetter === null ? place.entity : deadLetterQueue(place.entity),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    // Nothing can be sent to a subscription alone.
    ...(closure.queues.some(({ name }) => name === contract.workQueue) && {
      resend: ({ message }: ModelState) => copySentTo(semantics, contract.workQueue, message),
    }),
    describe: describeState,
    wanted: {
      attempts: contract.attempts,
      crashDeliveries: contract.crashDeliveries ?? contract.maxDeliveries,
      maxDeliveries: contract.maxDeliveries,
      // Closing a session counts no delivery. The count after a release is an assumption.
      returnsCost: !contract.receive.sessions,
      waitGrainMs: 1,
    },
  };
}

/** The message leaves the queue with the delivery that raises its count to the max delivery count. */
function countOf(most: number): NonNullable<Model<ModelState>["count"]> {
  return {
    of: ({ message }) => message.deliveryCount,
    with: (state, deliveryCount) => ({ ...state, message: { ...state.message, deliveryCount } }),
    most,
  };
}

/** Finds conflicts between the contract and the entity that no message could show. */
function receivingFlaws({ receive, handlerTimeoutMs }: Contract, lockMs: number, requiresSession: boolean): string[] {
  const coveredMs = Math.max(lockMs, receive.lockRenewalMs);
  return [
    ...(receive.sessions === requiresSession ? [] : ["the contract and the work queue do not agree about sessions"]),
    ...(handlerTimeoutMs !== null && coveredMs < handlerTimeoutMs
      ? [`a handler may take ${handlerTimeoutMs} ms, and its lock is kept for ${coveredMs} ms`]
      : []),
  ];
}

/** The number of the attempt that the handler sees. */
function attemptIn({ contract }: Context, { deliveryCount, content }: ModelState["message"]): number {
  const marks = { earlierDeliveries: deliveryCount, properties: content.properties };
  return attemptOf(contract.attemptNumber, marks) ?? 1;
}

function situationOf(context: Context, state: ModelState): Situation {
  const { contract, deadQueues, closure } = context;
  const { place } = state.message;
  switch (place.kind) {
    case "completed":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: lossWords[place.cause] };
    case "refused":
      return { kind: "lost", why: `${place.entity} refuses it: ${place.error}` };
    case "entity": {
      if (place.deadLetter !== null) return deadSituation(context, place, state);
      if (place.entity === contract.workQueue) {
        if (place.status === "locked" && state.handler === "runs")
          return { kind: "handling", attempt: attemptIn(context, state.message) };
        return place.status === "active"
          ? { kind: "work", attempt: attemptIn(context, state.message) }
          : { kind: "waiting" };
      }
      const owner = closure.queues.find(({ name }) => name === place.entity)?.consumer ?? null;
      if (owner !== null && owner !== contract.consumer) return { kind: "astray", consumer: owner };
      const isDead = deadQueues.includes(place.entity) && staysDead(context, state, place.entity);
      return { kind: isDead ? "dead" : "waiting" };
    }
    default:
      return place satisfies never;
  }
}

/** In a dead queue, a message may expire if it only moves to the dead-letter queue of the same queue. */
function staysDead(context: Context, state: ModelState, deadQueue: string): boolean {
  return movesOf(context, state)
    .flatMap(({ outcomes }) => outcomes.flat())
    .every(({ message: { place } }) => place.kind === "entity" && place.entity === deadQueue);
}

/**
 * A dead-letter queue without a reader is no better than none. The shared dead queue's own counts, since messages
 * expire into it.
 */
function deadSituation(
  { contract, deadQueues, closure, semantics }: Context,
  place: EntityPlace,
  state: ModelState,
): Situation {
  const own = deadLetterQueue(place.entity);
  const canGoOn = semantics.step(state.message, { kind: "forward" }).length > 0;
  const isWatched = deadQueues.some((each) => [each, deadLetterQueue(each)].includes(own));
  if (isWatched && !canGoOn) return { kind: "dead" };
  const owner = closure.queues.find(({ name }) => name === place.entity)?.consumer ?? null;
  if (owner !== null && owner !== contract.consumer) return { kind: "astray", consumer: owner };
  return canGoOn
    ? { kind: "waiting" }
    : { kind: "lost", why: `dead in ${own} (${place.deadLetter}), which is not its dead queue` };
}

function movesOf(context: Context, state: ModelState): Move<ModelState>[] {
  const { semantics, contract, lockMs } = context;
  const { message, handler, wait } = state;
  const { place } = message;
  if (place.kind !== "entity") return [];
  if (place.entity === contract.workQueue && place.deadLetter === null) {
    if (place.status === "locked") {
      return handler === "runs"
        ? answersOf(context, state)
        : [timeMove(context, state, { kind: "lock-expires" }, "its lock runs out", 0, lockMs)];
    }
    if (place.status === "active") return [delivery(context, state), ...expiry(context, state)];
  }
  if (place.status === "scheduled")
    return [
      timeMove(context, state, { kind: "schedule-due" }, "its time has come", wait?.fromMs ?? 0, wait?.toMs ?? 0),
    ];
  if (semantics.step(message, { kind: "forward" }).length > 0)
    return [timeMove(context, state, { kind: "forward" }, "it is forwarded", 0, 0)];
  return expiry(context, state);
}

function timeMove(
  context: Context,
  { message }: ModelState,
  event: ServicebusEvent,
  what: string,
  waitedMs: number,
  waitedLatestMs: number,
): Move<ModelState> {
  const { entity } = message.place as EntityPlace;
  const outcomes = stepped(context, message, event);
  return { cause: "time", label: `${what} in ${entity}`, waitedMs, waitedLatestMs, outcomes };
}

function stepped(
  { semantics }: Context,
  message: ModelState["message"],
  event: ServicebusEvent,
): Move<ModelState>["outcomes"] {
  return semantics.step(message, event).map((states) => states.map(atRest));
}

function delivery({ semantics, contract }: Context, { message }: ModelState): Move<ModelState> {
  const outcomes = semantics
    .step(message, { kind: "deliver" })
    .map((states) => states.map((each): ModelState => ({ message: each, handler: "runs", wait: null })));
  return moveOf("delivery", `a delivery in ${contract.workQueue}`, outcomes);
}

/** The longest time to live in the basic tier: 14 days. It ends only if no consumer receives for that long. */
const asGoodAsForEverMs = 1_209_600_000;

/**
 * A message expires at its time or later. The strategy ttl-tier promises no latest time, so the model has none.
 *
 * In the work queue, a time to live from a tier or one of 14 days ends only if no consumer receives for that long. This
 * counts as a contract breach: the proof then checks for loss, not for the number of attempts.
 */
function expiry(context: Context, state: ModelState): Move<ModelState>[] {
  const { contract, closure } = context;
  const { message } = state;
  const { timeToLiveMs, place } = message;
  if (timeToLiveMs === null || place.kind !== "entity") return [];
  const outcomes = stepped(context, message, { kind: "expire" });
  if (outcomes.length === 0) return [];
  const label = `it expires after ${timeToLiveMs} ms in ${place.entity}`;
  const isWork = place.entity === contract.workQueue;
  const own = workEntity(closure, contract)?.timeToLiveMs ?? null;
  const isUnattended = isWork && (own === null || own >= asGoodAsForEverMs);
  const move = { label, waitedMs: timeToLiveMs, waitedLatestMs: timeToLiveMs, outcomes };
  return [{ ...move, cause: isUnattended ? "timeout" : "time" }];
}

function answersOf(context: Context, state: ModelState): Move<ModelState>[] {
  const { semantics, contract } = context;
  const { message } = state;
  const attempt = attemptIn(context, message);
  const does: Does = (operations) => perform(semantics, message, operations, attempt);
  const crashed: ModelState = { ...state, handler: "gone" };
  return [
    ...endingsOf(contract, attempt).map(({ cause, label, operations, upToMs }) =>
      moveOf(cause, label, does(upToMs === null ? operations : operations.map((each) => bounded(each, upToMs)))),
    ),
    moveOf("crash", `crash on attempt ${attempt}`, [[crashed]]),
    ...mistakesOf(context, message, attempt, does),
    ...crashesBetween(contract, attempt).map(({ label, operations }) => moveOf("timeout", label, does(operations))),
  ];
}

type Does = (operations: readonly Operation[]) => Move<ModelState>["outcomes"];

/** Breaches that must lose nothing: an answer after the lock's end, and a refused copy. Claim: too-large-is-refused. */
function mistakesOf(
  { semantics, contract }: Context,
  message: ModelState["message"],
  attempt: number,
  does: Does,
): Move<ModelState>[] {
  const expired = semantics.step(message, { kind: "lock-expires" }).flat();
  const failures = endingsOf(contract, attempt).filter(({ cause, upToMs }) => cause !== "success" && upToMs === null);
  const late = failures.map(({ label, operations }) => {
    const outcomes = expired.flatMap((each) => perform(semantics, each, operations, attempt));
    return moveOf("timeout", `too late: ${label}`, outcomes);
  });
  const tooLarge = failures.flatMap(({ label, operations: [copy] }) =>
    copy === undefined || !("ifTooLarge" in copy)
      ? []
      : [moveOf("timeout", `too large for a copy: ${label}`, does([copy.ifTooLarge]))],
  );
  return [...late, ...tooLarge, moveOf("nack-requeue", "mistake: abandoned", does([{ operation: "abandon" }]))];
}
