import type { Cause, Model, Move, Situation, Subject } from "../../explore/model.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { capabilities } from "./capabilities.ts";
import { closureOf, indexTopology } from "./closure.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { Contract } from "./contract.ts";
import { operationsAfter } from "../contract.ts";
import { describeState } from "./describe-state.ts";
import { examplesOf } from "./names.ts";
import type { BrokerEvent, EffectiveSettings, MessageState, Semantics } from "./semantics.ts";
import { brokerTopologyOf, semanticsOf, semanticsVersionOf } from "./semantics.ts";
import { flawsOf } from "./flaws.ts";
import { perform } from "./perform.ts";
import { shapeOf } from "./shape.ts";
import { waitGrainMs } from "./spread.ts";

/** The consumers of a compiled system that have a work queue, each to be proved by itself. */
export function subjectsOf(compiled: RabbitmqCompiled, target: RabbitmqTarget): readonly Subject<MessageState>[] {
  const version = semanticsVersionOf(target);
  const index = indexTopology(compiled.topology);
  return compiled.contracts.flatMap((contract) => {
    const { workQueue, deadQueue } = contract;
    if (workQueue === null || deadQueue === null) return [];
    return [
      {
        consumer: contract.consumer,
        shape: () => shapeOf(closureOf(index, contract), contract, version),
        model: () => {
          const closure = closureOf(index, contract);
          const semantics = semanticsOf(brokerTopologyOf(closure), version);
          const owners = new Map(closure.queues.map((queue) => [queue.name, queue.consumer]));
          const deadQueueFlaw = flawOf(semantics.settings(deadQueue));
          const flaws = flawsOf(index, closure, contract, semantics, version);
          const { returnsCount: returnsCost } = capabilities[target.version];
          const context = { semantics, contract, workQueue, deadQueue, deadQueueFlaw, owners, returnsCost };
          return { ...modelOf(context), flaws };
        },
      },
    ];
  });
}

interface Context {
  /** Of the part of the topology that the consumer's messages can get to. */
  readonly semantics: Semantics;
  readonly contract: Contract;
  readonly workQueue: string;
  readonly deadQueue: string;
  /** Why the dead queue does not keep what comes into it; null where it does. */
  readonly deadQueueFlaw: string | null;
  readonly owners: ReadonlyMap<string, string | null>;
  readonly returnsCost: boolean;
}

/** A dead queue is where a message ends, so it must not let go of it by itself, nor because somebody looked at it too often. */
function flawOf(settings: EffectiveSettings | null): string | null {
  if (settings === null) return "there is no dead queue";
  const { queue, messageTtlMs, expiresMs, deliveryLimit, deadLetterExchange } = settings;
  const { maxLength, maxLengthBytes, overflow } = settings;
  if (messageTtlMs !== null) return `${queue} deletes it after ${messageTtlMs} ms`;
  if (expiresMs !== null) return `${queue} is itself deleted after ${expiresMs} ms`;
  if (deliveryLimit !== null) return `${queue} deletes what is looked at and put back ${deliveryLimit + 1} times`;
  if (deadLetterExchange !== null) return `${queue} dead-letters on to ${deadLetterExchange}`;
  if (maxLength === null && maxLengthBytes === null) return null;
  return overflow === "drop-head"
    ? `${queue} drops its head when it is full`
    : `${queue} takes no more when it is full, and it stays unseen where it died`;
}

/**
 * One consumer of a compiled topology, as the explorer wants it: what its code does by its contract, and what the broker then
 * does by its version's semantics.
 */
function modelOf(context: Context): Model<MessageState> {
  const { semantics, contract, owners, returnsCost } = context;
  return {
    consumer: contract.consumer,
    starts: contract.sources.flatMap(({ exchange, routingKeys }) =>
      examplesOf(routingKeys).map((routingKey, index) => ({
        key: `${exchange} ${routingKeys[index]}`,
        // Other consumers have their own copies of what a source publishes; those are theirs.
        states: semantics
          .publish({ exchange, routingKey })
          .flat()
          .filter(
            (state) =>
              state.place.kind !== "queue" ||
              (owners.get(state.place.queue) ?? contract.consumer) === contract.consumer,
          ),
      })),
    ),
    keyOf: semantics.behaviourKey,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    describe: describeState,
    wanted: {
      attempts: contract.attempts,
      crashDeliveries: contract.crashDeliveries ?? 1,
      maxDeliveries: contract.maxDeliveries,
      returnsCost,
      waitGrainMs,
    },
  };
}

function situationOf(
  { contract, workQueue, deadQueue, deadQueueFlaw, owners }: Context,
  state: MessageState,
): Situation {
  const { place } = state;
  switch (place.kind) {
    case "acked":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: place.cause };
    case "refused":
      return { kind: "lost", why: `${place.queue} refuses it` };
    case "queue": {
      if (place.status === "retained")
        return { kind: "lost", why: `kept inside ${place.queue} for ever: ${place.cause}` };
      if (place.queue === workQueue) {
        const attempt = attemptOf(contract, state);
        if (place.status === "delayed") return { kind: "waiting" };
        return place.status === "delivered" ? { kind: "handling", attempt } : { kind: "work", attempt };
      }
      if (place.queue === deadQueue)
        return deadQueueFlaw === null ? { kind: "dead" } : { kind: "lost", why: deadQueueFlaw };
      const owner = owners.get(place.queue) ?? null;
      return owner === null || owner === contract.consumer ? { kind: "waiting" } : { kind: "astray", consumer: owner };
    }
    default:
      return place satisfies never;
  }
}

function attemptOf(contract: Contract, state: MessageState): number {
  const where = contract.attemptNumber;
  if (where === null) return 1;
  if (where.from === "header") return state.deliveryCount + 1;
  const [key = ""] = state.routingKeys;
  if (!key.startsWith(where.prefix)) return 1;
  // What is no number as it is written is an attempt that nobody knows, and not the one that it looks like.
  const number = key.slice(where.prefix.length);
  return /^[1-9][0-9]*$/.test(number) ? Number(number) : 0;
}

function movesOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { semantics, contract, workQueue } = context;
  const { place } = state;
  if (place.kind !== "queue") return [];
  const spontaneous = semantics.spontaneousEvents(state).map((event): Move<MessageState> => ({
    cause: "time",
    label: event.kind === "expire" ? `its time to live passes in ${place.queue}` : `${event.kind} in ${place.queue}`,
    ...waitOf(context, state, event.kind),
    outcomes: orLost(context, state, semantics.step(state, event)),
  }));
  if (place.queue !== workQueue) return [...spontaneous, ...lookedAtTooOften(context, state)];
  const move = (cause: Cause, label: string, outcomes: Move<MessageState>["outcomes"]): Move<MessageState> => ({
    cause,
    label,
    waitedMs: 0,
    waitedLatestMs: 0,
    outcomes: orLost(context, state, outcomes),
  });
  if (place.status === "ready") {
    return [move("delivery", "delivered", semantics.step(state, { kind: "deliver" })), ...spontaneous];
  }
  if (place.status !== "delivered") return spontaneous;
  const attempt = attemptOf(contract, state);
  const after = (cause: "success" | "transient" | "permanent" | "return"): Move<MessageState> =>
    move(cause, labels[cause](attempt), perform(semantics, state, operationsAfter(contract.outcomes[cause], attempt)));
  const asked = (contract.retryAfter ?? []).map(({ upToMs, byAttempt }) =>
    move(
      "retry-after",
      `attempt ${attempt} asks for ${upToMs} ms`,
      perform(semantics, state, operationsAfter({ byAttempt }, attempt)),
    ),
  );
  return [
    after("success"),
    after("transient"),
    after("permanent"),
    after("return"),
    ...asked,
    move("crash", `crash on attempt ${attempt}`, semantics.step(state, { kind: "crash" })),
    ...crashesBetween(context, state).map(({ label, outcomes }) => move("timeout", label, outcomes)),
    move("timeout", `attempt ${attempt} is never settled`, semantics.step(state, { kind: "consumer-timeout" })),
    move("nack-requeue", "mistake: basic.nack with requeue", semantics.step(state, { kind: "nack", requeue: true })),
    move("reject", "mistake: basic.reject without requeue", semantics.step(state, { kind: "reject", requeue: false })),
  ];
}

/** A crash between two operations of an outcome: nothing may be lost by their order. It goes as a mistake, so that a simulation makes none. */
function crashesBetween(
  { semantics, contract, workQueue }: Context,
  state: MessageState,
): Pick<Move<MessageState>, "label" | "outcomes">[] {
  const attempt = attemptOf(contract, state);
  const isHeld = ({ place }: MessageState): boolean =>
    place.kind === "queue" && place.queue === workQueue && place.status === "delivered";
  return (["transient", "permanent", "return"] as const).flatMap((name) => {
    const operations = operationsAfter(contract.outcomes[name], attempt);
    return operations.slice(1).map((next, index) => ({
      label: `crash on attempt ${attempt} before ${next.operation}`,
      outcomes: perform(semantics, state, operations.slice(0, index + 1)).flatMap((states) => {
        const others = states.filter((each) => !isHeld(each));
        const held = states.find(isHeld);
        return held === undefined
          ? [states]
          : semantics.step(held, { kind: "crash" }).map((then) => [...others, ...then]);
      }),
    }));
  });
}

/**
 * At-most-once dead-lettering does not wait for its target: where that is full, or not there at the moment, the dead letter is lost. So
 * each death in a queue that dead-letters in this way can end so as well.
 */
function orLost(
  { semantics }: Context,
  state: MessageState,
  outcomes: readonly (readonly MessageState[])[],
): readonly (readonly MessageState[])[] {
  const { place } = state;
  if (place.kind !== "queue") return outcomes;
  const settings = semantics.settings(place.queue);
  if (settings === null || settings.deadLetterExchange === null || settings.deadLetterStrategy === "at-least-once")
    return outcomes;
  const isDeath = outcomes
    .flat()
    .some(({ deaths, place: then }) => deaths.length > 0 && deaths !== state.deaths && then.kind === "queue");
  if (!isDeath) return outcomes;
  return [...outcomes, [{ ...state, place: { kind: "lost", cause: "target-full", queue: place.queue, reason: null } }]];
}

/** Somebody who looks at a waiting message and puts it back counts towards the queue's limit, and may send it on before its time. */
function lookedAtTooOften({ semantics }: Context, state: MessageState): Move<MessageState>[] {
  const { place } = state;
  if (place.kind !== "queue" || place.status !== "ready") return [];
  const limit = semantics.settings(place.queue)?.deliveryLimit ?? null;
  if (limit === null) return [];
  const looked: MessageState = {
    ...state,
    place: { kind: "queue", queue: place.queue, status: "delivered" },
    acquiredCount: limit,
    deliveryCount: limit,
  };
  const label = `looked at in ${place.queue} and put back, more often than its delivery limit allows`;
  return [
    { cause: "time", label, waitedMs: 0, waitedLatestMs: 0, outcomes: semantics.step(looked, { kind: "crash" }) },
  ];
}

const labels = {
  success: (attempt: number) => `success on attempt ${attempt}`,
  transient: (attempt: number) => `transient failure of attempt ${attempt}`,
  permanent: (attempt: number) => `permanent failure of attempt ${attempt}`,
  return: () => "returned",
} as const;

/**
 * How long a message waits for what comes by itself. A message with a shorter time to live than its queue's may stand
 * behind one that stays for as long as the queue allows, since only the head of a queue expires.
 */
function waitOf(
  { semantics, contract }: Context,
  state: MessageState,
  event: BrokerEvent["kind"],
): Pick<Move<MessageState>, "waitedMs" | "waitedLatestMs"> {
  const { place, expiresAfterMs } = state;
  if (place.kind !== "queue") return { waitedMs: 0, waitedLatestMs: 0 };
  if (event === "expire") {
    return {
      waitedMs: expiresAfterMs ?? 0,
      waitedLatestMs: semantics.settings(place.queue)?.messageTtlMs ?? Number.POSITIVE_INFINITY,
    };
  }
  if (place.status !== "delayed") return { waitedMs: 0, waitedLatestMs: 0 };
  if (place.delayMs !== null) return { waitedMs: place.delayMs, waitedLatestMs: place.delayMs };
  // The consumer named the time in the outcome that led here: that of the attempt before.
  const named = operationsAfter(contract.outcomes.transient, attemptOf(contract, state) - 1)
    .flatMap((operation) => (operation.operation === "modified" ? [operation.deliveryTimeMs] : []))
    .find((each) => each !== undefined && each !== "asked");
  return { waitedMs: named?.from ?? 0, waitedLatestMs: named?.to ?? 0 };
}
