import { type Model, type Move, type Situation, moveOf } from "../../../explore/model.ts";
import { cloudSubjects, concernedIn } from "../../../contract/closure.ts";
import { type Closure, type TopologyIndex, closureOf } from "./closure.ts";
import type { SnsSubscription } from "../compile/topology.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import { crashesBetween, endingsOf, operationsIn } from "../../../contract/interpret.ts";
import { describeState, lossWords } from "./describe-state.ts";
import { entranceOf, sentTo } from "./entrance.ts";
import { type Handling, bounded, handlingOf, perform } from "./handling.ts";
import { type MessageState, type Semantics, type SqsEvent, semanticsOf } from "./semantics.ts";
import { shapeOf } from "./shape.ts";

/** Each consumer is proved by itself. SQS is the same in every region. */
export const { subjectsOf, changesOf } = cloudSubjects(({ topic, queue }: SnsSubscription) => `${topic} ${queue}`, {
  shape: (index: TopologyIndex, contract: Contract, beside: Contract) => {
    const closure = closureOf(index, contract, beside);
    const entrance = entranceOf(semanticsOf(closure), closure, contract);
    return shapeOf(closure, contract, entrance, namelessIn(closure, contract));
  },
  model: modelOf,
});

export const concernedBy = concernedIn(closureOf);

interface Context {
  /** The semantics of the part of the topology that the consumer's messages can reach. */
  readonly semantics: Semantics;
  readonly contract: Contract;
  readonly closure: Closure;
  readonly handling: Handling;
}

/**
 * Builds the explorer's model of one consumer. The contract says how its code acts, and the semantics say how SQS
 * reacts. A consumer receives visible messages. Only retention counts the time that it is away before that.
 */
function modelOf(index: TopologyIndex, contract: Contract, beside: Contract): Model<MessageState> {
  const closure = closureOf(index, contract, beside);
  const semantics = semanticsOf(closure);
  const handling = handlingOf(index.queues.get(contract.workQueue), contract);
  const context: Context = { semantics, contract, closure, handling };
  const attempts = contract.attempts.length;
  const { starts, undeclared } = entranceOf(semantics, closure, contract);
  return {
    consumer: contract.consumer,
    starts,
    flaws: [
      ...undeclared.map(({ key }) => `a message published as ${key} reaches the work queue, and is not declared`),
      ...namelessIn(closure, contract),
    ],
    // The contract uses the receive count, but the semantics alone needs it only up to its limits.
    keyOf: (state) => `${semantics.behaviourKey(state)}\u0000${Math.min(state.receiveCount, attempts + 1)}`,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    resend: ({ groupId }) => sentTo(semantics, { queue: contract.workQueue, fifo: groupId !== null }),
    describe: describeState,
    wanted: {
      attempts: contract.attempts,
      // A crash is a receive like any other. So crashes and attempts share one limit, and then the dead queue follows.
      crashDeliveries: contract.maxDeliveries,
      maxDeliveries: contract.maxDeliveries,
      returnsCost: true,
      // A visibility timeout is a whole number of seconds.
      waitGrainMs: 1_000,
    },
  };
}

/** A letter that SQS moved names its queue. One that the consumer sends into a shared dead queue has to name it, too. */
function namelessIn({ queues }: Closure, contract: Contract): string[] {
  const { workQueue, deadQueue } = contract;
  if (queues.find(({ name }) => name === deadQueue)?.consumer !== null) return [];
  return operationsIn<Operation>(contract)
    .filter((each) => each.operation === "SendMessage" && each.attributes["dlq-original-queue"] !== workQueue)
    .map(() => `a letter of ${workQueue} in ${deadQueue} does not name ${workQueue}, so nobody knows whose it is`);
}

function situationOf(context: Context, state: MessageState): Situation {
  const { contract, closure } = context;
  const { place, receiveCount } = state;
  switch (place.kind) {
    case "deleted":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: lossWords[place.cause] };
    case "refused":
      return { kind: "lost", why: `${place.by} refuses it: ${place.error}` };
    case "queue": {
      if (place.queue === contract.workQueue) {
        if (place.status === "in-flight" && place.handled) return { kind: "handling", attempt: receiveCount };
        const isWork = place.status === "visible" && !isUsedUp(context, state);
        return isWork ? { kind: "work", attempt: receiveCount + 1 } : { kind: "waiting" };
      }
      const queue = closure.queues.find(({ name }) => name === place.queue);
      const owner = queue?.consumer ?? null;
      if (owner !== null && owner !== contract.consumer) return { kind: "astray", consumer: owner };
      // A dead queue with a redrive policy of its own does not end a message: a person who receives from it can move
      // the message on.
      return place.queue === contract.deadQueue && queue?.redrive === null ? { kind: "dead" } : { kind: "waiting" };
    }
    default:
      return place satisfies never;
  }
}

/** True if the next receive moves the message and never delivers it. */
function isUsedUp({ semantics }: Context, state: MessageState): boolean {
  return semantics
    .step(state, { kind: "receive" })
    .every((outcome) => outcome.every(({ place }) => place.kind !== "queue" || place.status !== "in-flight"));
}

function movesOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { contract, closure } = context;
  const { place } = state;
  if (place.kind !== "queue") return [];
  if (place.queue !== contract.workQueue) {
    // In a queue that passes messages on, a person may receive them and do nothing. Elsewhere they stay.
    const queue = closure.queues.find(({ name }) => name === place.queue);
    return queue === undefined || queue.redrive === null ? [] : [passing(context, state)];
  }
  const expiry = expiryOf(context, state);
  if (place.status === "delayed" || (place.status === "in-flight" && !place.handled))
    return [passing(context, state), ...expiry];
  if (place.status === "in-flight") return [...answersOf(context, state), ...expiry];
  const late = place.handled ? lateAnswersOf(context, state) : [];
  if (isUsedUp(context, state)) return [passing(context, state), ...late, ...expiry];
  return [moveOf("delivery", `a receive in ${place.queue}`, receive(context, state)), ...late, ...expiry];
}

/**
 * A moved message may be as old as its queue allows, because there may have been no consumer to receive it for so long.
 * This is the longest age at which a message survives there, in whole seconds.
 */
function receive({ semantics, handling }: Context, state: MessageState): Move<MessageState>["outcomes"] {
  return semantics.step(state, { kind: "receive" }, { ageSeconds: handling.retentionSeconds - 1 });
}

/**
 * The next move that needs no answer of the consumer: a delay or a timeout passes, or a receive happens. In a queue of
 * dead letters, a person receives.
 */
function passing(context: Context, state: MessageState): Move<MessageState> {
  const { semantics } = context;
  const { place } = state;
  const queue = place.kind === "queue" ? place.queue : "";
  if (place.kind === "queue" && place.status === "visible")
    return moveOf("time", `a receive in ${queue}`, receive(context, state));
  const event: SqsEvent =
    place.kind === "queue" && place.status === "delayed" ? { kind: "delay-passes" } : { kind: "visibility-passes" };
  const label = event.kind === "delay-passes" ? "its delay passes" : "its visibility timeout passes";
  return { ...moveOf("time", `${label} in ${queue}`, semantics.step(state, event)), ...waitOf(context, state) };
}

/**
 * Computes how long a message stays hidden after its handler has ended. The queue's own timeout runs from the receive.
 * All of it is left if the handler ends at once, and least is left if the handler takes all of its time. The result is
 * below zero if the message is back before the handler's end.
 */
function waitOf(
  { handling }: Context,
  { place }: MessageState,
): Pick<Move<MessageState>, "waitedMs" | "waitedLatestMs"> {
  if (place.kind !== "queue" || place.status !== "in-flight") return { waitedMs: 0, waitedLatestMs: 0 };
  const { fromSeconds, toSeconds, since } = place.visibility;
  const elapsedMs = since === "receive" ? handling.longestMs : 0;
  return { waitedMs: fromSeconds * 1_000 - elapsedMs, waitedLatestMs: toSeconds * 1_000 };
}

function expiryOf({ semantics, handling }: Context, state: MessageState): Move<MessageState>[] {
  const { outlivesRetention, retentionSeconds, windowSeconds } = handling;
  if (!outlivesRetention) return [];
  const window = Number.isFinite(windowSeconds) ? `can take ${windowSeconds} s` : "have no end";
  return [
    {
      cause: "time",
      label: `it is ${retentionSeconds} s old, and its retries ${window}`,
      waitedMs: retentionSeconds * 1_000,
      waitedLatestMs: retentionSeconds * 1_000,
      outcomes: semantics.step(state, { kind: "expire" }),
    },
  ];
}

function answersOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { semantics, contract, handling } = context;
  const attempt = state.receiveCount;
  const does = (operations: readonly Operation[]): Move<MessageState>["outcomes"] =>
    perform(semantics, handling, state, operations);
  return [
    ...endingsOf(contract, attempt).map(({ cause, label, operations, upToMs }) =>
      moveOf(cause, label, does(upToMs === null ? operations : operations.map((each) => bounded(each, upToMs)))),
    ),
    moveOf("crash", `crash on attempt ${attempt}`, semantics.step(state, { kind: "let-go" })),
    moveOf("timeout", `attempt ${attempt} is not over in time`, semantics.step(state, { kind: "visibility-passes" })),
    ...crashesBetween(contract, attempt).map(({ label, operations }) => moveOf("timeout", label, does(operations))),
    moveOf(
      "nack-requeue",
      "mistake: a visibility timeout of 0",
      does([{ operation: "ChangeMessageVisibility", visibilityTimeoutSeconds: { from: 0, to: 0 } }]),
    ),
  ];
}

/** The handler ends after its message is visible again, and answers before another consumer receives it. */
function lateAnswersOf({ semantics, contract, handling }: Context, state: MessageState): Move<MessageState>[] {
  return endingsOf(contract, state.receiveCount)
    .filter(({ upToMs }) => upToMs === null)
    .map(({ label, operations }) =>
      moveOf("timeout", `too late: ${label}`, perform(semantics, handling, state, operations)),
    );
}
