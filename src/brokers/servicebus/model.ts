import type { Cause, Model, Move, Situation, Subject } from "../../explore/model.ts";
import type { Closure, TopologyIndex } from "./closure.ts";
import { closureOf, indexTopology, workEntity } from "./closure.ts";
import type { ServicebusCompiled } from "./compile.ts";
import type { Contract, Operation } from "./contract.ts";
import type { OutcomeName } from "../contract.ts";
import { operationsAfter } from "../contract.ts";
import { entranceOf } from "./entrance.ts";
import { bounded, perform } from "./handling.ts";
import type { HeldMessage } from "./held-message.ts";
import { describeHeld, held } from "./held-message.ts";
import { deadLetterQueue } from "./names.ts";
import type { EntityPlace, Semantics, ServicebusEvent } from "./semantics.ts";
import { semanticsOf } from "./semantics.ts";
import { shapeOf } from "./shape.ts";

/** The consumers of a compiled system, each to be proved by itself. A message meets the same in every tier. */
export function subjectsOf(compiled: ServicebusCompiled): readonly Subject<HeldMessage>[] {
  const index = indexTopology(compiled.topology);
  return compiled.contracts.map((contract) => ({
    consumer: contract.consumer,
    shape: () => {
      const closure = closureOf(index, contract);
      return shapeOf(closure, contract, entranceOf(semanticsOf(closure), closure, contract));
    },
    model: () => modelOf(index, contract),
  }));
}

interface Context {
  /** Of the part of the topology that the consumer's messages can get to. */
  readonly semantics: Semantics;
  readonly contract: Contract;
  readonly closure: Closure;
  /** What the lock is, of the queue or subscription that the consumer receives from. */
  readonly lockMs: number;
}

/** One consumer of a compiled topology, as the explorer wants it: what its code does by its contract, and what Service Bus then does. */
function modelOf(index: TopologyIndex, contract: Contract): Model<HeldMessage> {
  const closure = closureOf(index, contract);
  const semantics = semanticsOf(closure);
  const lockMs = workEntity(closure, contract)?.lockDurationMs ?? 0;
  const context: Context = { semantics, contract, closure, lockMs };
  const { starts, undeclared } = entranceOf(semantics, closure, contract);
  return {
    consumer: contract.consumer,
    starts: starts.map(({ key, states }) => ({ key, states: states.map(held) })),
    flaws: [
      ...undeclared.map(({ key }) => `what is published as ${key} comes in, and is not declared`),
      ...receivingFlaws(contract, lockMs, workEntity(closure, contract)?.requiresSession ?? false),
    ],
    keyOf: ({ message, handler, wait }) =>
      `${semantics.behaviourKey(message)}\u0000${handler}\u0000${wait?.fromMs}\u0000${wait?.toMs}`,
    placeOf: ({ message: { place } }) =>
      place.kind !== "entity" ? null : place.deadLetter === null ? place.entity : deadLetterQueue(place.entity),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    describe: describeHeld,
    wanted: {
      attempts: contract.attempts,
      crashDeliveries: contract.crashDeliveries ?? contract.maxDeliveries,
      maxDeliveries: contract.maxDeliveries,
      // A session that is closed counts nothing; what a release counts is an assumption.
      returnsCost: !contract.receive.sessions,
      waitGrainMs: 1,
    },
  };
}

/** Relations between the contract and the entity that no message shows. */
function receivingFlaws({ receive, handlerTimeoutMs }: Contract, lockMs: number, requiresSession: boolean): string[] {
  const coveredMs = Math.max(lockMs, receive.lockRenewalMs);
  return [
    ...(receive.sessions === requiresSession ? [] : ["the contract and the work queue do not agree about sessions"]),
    ...(handlerTimeoutMs !== null && coveredMs < handlerTimeoutMs
      ? [`a handler may take ${handlerTimeoutMs} ms, and its lock is kept for ${coveredMs} ms`]
      : []),
  ];
}

/** Which attempt the handler sees. */
function attemptOf({ contract }: Context, { message }: HeldMessage): number {
  if (contract.attemptNumber.from === "delivery-count") return message.deliveryCount + 1;
  return Number(message.content.properties[contract.attemptNumber.attempt] ?? 1);
}

function situationOf(context: Context, state: HeldMessage): Situation {
  const { contract, closure } = context;
  const { place } = state.message;
  switch (place.kind) {
    case "completed":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: place.cause };
    case "refused":
      return { kind: "lost", why: `${place.entity} refuses it: ${place.error}` };
    case "entity": {
      if (place.deadLetter !== null) return deadSituation(context, place, state);
      if (place.entity === contract.workQueue) {
        if (place.status === "locked" && state.handler === "runs") {
          return { kind: "handling", attempt: attemptOf(context, state) };
        }
        return place.status === "active" ? { kind: "work", attempt: attemptOf(context, state) } : { kind: "waiting" };
      }
      const owner = closure.queues.find(({ name }) => name === place.entity)?.consumer ?? null;
      if (owner !== null && owner !== contract.consumer) return { kind: "astray", consumer: owner };
      return place.entity === contract.deadQueue && staysDead(context, state) ? { kind: "dead" } : { kind: "waiting" };
    }
    default:
      return place satisfies never;
  }
}

/** In a dead queue that is a queue of its own a message may expire, if that only takes it to the dead-letter queue there. */
function staysDead(context: Context, state: HeldMessage): boolean {
  const { deadQueue } = context.contract;
  return movesOf(context, state)
    .flatMap(({ outcomes }) => outcomes.flat())
    .every(({ message: { place } }) => place.kind === "entity" && place.entity === deadQueue);
}

/** A dead-letter queue that nobody looks at is no better than none. That of the shared dead queue is where its messages expire to. */
function deadSituation({ contract, closure, semantics }: Context, place: EntityPlace, state: HeldMessage): Situation {
  const isWatched = [contract.deadQueue, deadLetterQueue(contract.deadQueue)].includes(deadLetterQueue(place.entity));
  if (isWatched) return { kind: "dead" };
  const owner = closure.queues.find(({ name }) => name === place.entity)?.consumer ?? null;
  if (owner !== null && owner !== contract.consumer) return { kind: "astray", consumer: owner };
  return semantics.step(state.message, { kind: "forward" }).length > 0
    ? { kind: "waiting" }
    : {
        kind: "lost",
        why: `dead in ${deadLetterQueue(place.entity)} (${place.deadLetter}), which is not its dead queue`,
      };
}

function movesOf(context: Context, state: HeldMessage): Move<HeldMessage>[] {
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
  if (place.status === "scheduled") {
    return [
      timeMove(context, state, { kind: "schedule-due" }, "its time has come", wait?.fromMs ?? 0, wait?.toMs ?? 0),
    ];
  }
  if (semantics.step(message, { kind: "forward" }).length > 0) {
    return [timeMove(context, state, { kind: "forward" }, "it is forwarded", 0, 0)];
  }
  return expiry(context, state);
}

function moveOf(cause: Cause, label: string, outcomes: Move<HeldMessage>["outcomes"]): Move<HeldMessage> {
  return { cause, label, waitedMs: 0, waitedLatestMs: 0, outcomes };
}

function timeMove(
  context: Context,
  { message }: HeldMessage,
  event: ServicebusEvent,
  what: string,
  waitedMs: number,
  waitedLatestMs: number,
): Move<HeldMessage> {
  const { entity } = message.place as EntityPlace;
  const outcomes = stepped(context, message, event);
  return { cause: "time", label: `${what} in ${entity}`, waitedMs, waitedLatestMs, outcomes };
}

function stepped(
  { semantics }: Context,
  message: HeldMessage["message"],
  event: ServicebusEvent,
): Move<HeldMessage>["outcomes"] {
  return semantics.step(message, event).map((states) => states.map(held));
}

function delivery({ semantics, contract }: Context, { message }: HeldMessage): Move<HeldMessage> {
  const outcomes = semantics
    .step(message, { kind: "deliver" })
    .map((states) => states.map((each): HeldMessage => ({ message: each, handler: "runs", wait: null })));
  return moveOf("delivery", `a delivery in ${contract.workQueue}`, outcomes);
}

/** The longest time to live that an entity of the basic tier may have, which is as good as none: 14 days without any consumer. */
const asGoodAsForEverMs = 1_209_600_000;

/**
 * A message expires at its time or later; ttl-tier promises no latest time, and neither does its model. In the work queue a time to live that
 * the message brought from its tier, and one of 14 days, run out only where nobody receives for as long: that goes as a mistake, so that
 * loss is looked at, and not that the attempts are made.
 */
function expiry(context: Context, state: HeldMessage): Move<HeldMessage>[] {
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

const labels: Readonly<Record<OutcomeName, (attempt: number) => string>> = {
  success: (attempt) => `success on attempt ${attempt}`,
  transient: (attempt) => `transient failure of attempt ${attempt}`,
  permanent: (attempt) => `permanent failure of attempt ${attempt}`,
  return: () => "returned",
};
const failureNames = ["transient", "permanent", "return"] as const;

function answersOf(context: Context, state: HeldMessage): Move<HeldMessage>[] {
  const { semantics, contract } = context;
  const { message } = state;
  const attempt = attemptOf(context, state);
  const does = (operations: readonly Operation[]): Move<HeldMessage>["outcomes"] =>
    perform(semantics, message, operations, attempt);
  const after = (name: OutcomeName): readonly Operation[] => operationsAfter(contract.outcomes[name], attempt);
  const asked = (contract.retryAfter ?? []).map(({ upToMs, byAttempt }) => {
    const operations = operationsAfter({ byAttempt }, attempt).map((each) => bounded(each, upToMs));
    return moveOf("retry-after", `attempt ${attempt} asks for ${upToMs} ms at most`, does(operations));
  });
  const crashed: HeldMessage = { ...state, handler: "gone" };
  return [
    moveOf("success", labels.success(attempt), does(after("success"))),
    ...failureNames.map((name) => moveOf(name, labels[name](attempt), does(after(name)))),
    ...asked,
    moveOf("crash", `crash on attempt ${attempt}`, [[crashed]]),
    ...mistakesOf(context, state, does),
    ...crashesBetween(context, attempt, does),
  ];
}

/** A crash between two operations of an outcome: nothing may be lost by their order. It goes as a mistake, though it is none. */
function crashesBetween(
  { contract }: Context,
  attempt: number,
  does: (operations: readonly Operation[]) => Move<HeldMessage>["outcomes"],
): Move<HeldMessage>[] {
  return failureNames.flatMap((name) => {
    const operations = operationsAfter(contract.outcomes[name], attempt);
    return operations
      .slice(1)
      .map((next, index) =>
        moveOf("timeout", `crash on attempt ${attempt} before ${next.operation}`, does(operations.slice(0, index + 1))),
      );
  });
}

/** An answer that comes after the lock has run out: a copy is sent all the same, and nothing can be settled any more. */
function mistakesOf(
  context: Context,
  { message }: HeldMessage,
  does: (operations: readonly Operation[]) => Move<HeldMessage>["outcomes"],
): Move<HeldMessage>[] {
  const { semantics, contract } = context;
  const attempt = attemptOf(context, held(message));
  const expired = semantics.step(message, { kind: "lock-expires" }).flat();
  const late = failureNames.map((name) =>
    moveOf(
      "timeout",
      `too late: ${labels[name](attempt)}`,
      expired.flatMap((each) => perform(semantics, each, operationsAfter(contract.outcomes[name], attempt), attempt)),
    ),
  );
  return [...late, moveOf("nack-requeue", "mistake: abandoned", does([{ operation: "abandon" }]))];
}
