import type { Cause, Model, Move, Situation, Subject } from "../../explore/model.ts";
import type { Closure, TopologyIndex } from "./closure.ts";
import { closureOf, indexTopology } from "./closure.ts";
import type { SqsCompiled } from "./compile.ts";
import type { Contract, Operation } from "./contract.ts";
import type { OutcomeName } from "../contract.ts";
import { operationsAfter } from "../contract.ts";
import { describeState } from "./describe-state.ts";
import { entranceOf } from "./entrance.ts";
import type { Handling } from "./handling.ts";
import { handlingOf, perform } from "./handling.ts";
import type { MessageState, Semantics, SqsEvent } from "./semantics.ts";
import { semanticsOf } from "./semantics.ts";
import { shapeOf } from "./shape.ts";

/** The consumers of a compiled system, each to be proved by itself. SQS is the same in every region. */
export function subjectsOf(compiled: SqsCompiled): readonly Subject<MessageState>[] {
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
  readonly handling: Handling;
}

/**
 * One consumer of a compiled topology, as the explorer wants it: what its code does by its contract, and what SQS then does. A consumer
 * receives what is visible; how long it is away before that is not counted, but for its retention.
 */
function modelOf(index: TopologyIndex, contract: Contract): Model<MessageState> {
  const closure = closureOf(index, contract);
  const semantics = semanticsOf(closure);
  const handling = handlingOf(index.queues.get(contract.workQueue), contract);
  const context: Context = { semantics, contract, closure, handling };
  const attempts = contract.attempts.length;
  const { starts, undeclared } = entranceOf(semantics, closure, contract);
  return {
    consumer: contract.consumer,
    starts,
    flaws: undeclared.map(({ key }) => `what is published as ${key} comes in, and is not declared`),
    // The contract goes by the receive count, which the semantics alone needs only up to its limits.
    keyOf: (state) => `${semantics.behaviourKey(state)}\u0000${Math.min(state.receiveCount, attempts + 1)}`,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    describe: describeState,
    wanted: {
      attempts: contract.attempts,
      // A crash is a receive like any other: as many of them as attempts, then the dead queue.
      crashDeliveries: contract.maxDeliveries,
      maxDeliveries: contract.maxDeliveries,
      returnsCost: true,
      // A visibility timeout is a whole number of seconds.
      waitGrainMs: 1_000,
    },
  };
}

function situationOf(context: Context, state: MessageState): Situation {
  const { contract, closure } = context;
  const { place, receiveCount } = state;
  switch (place.kind) {
    case "deleted":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: place.cause };
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
      // A dead queue that passes messages on is not their end: whoever looks at them there moves them.
      return place.queue === contract.deadQueue && queue?.redrive === null ? { kind: "dead" } : { kind: "waiting" };
    }
    default:
      return place satisfies never;
  }
}

/** Whether the next receive moves the message, and delivers it in no case. */
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
    // Where messages are passed on somebody looks at them, and does nothing; elsewhere they stay.
    const queue = closure.queues.find(({ name }) => name === place.queue);
    return queue === undefined || queue.redrive === null ? [] : [passing(context, state)];
  }
  const expiry = expiryOf(context, state);
  if (place.status === "delayed" || (place.status === "in-flight" && !place.handled)) {
    return [passing(context, state), ...expiry];
  }
  if (place.status === "in-flight") return [...answersOf(context, state), ...expiry];
  const late = place.handled ? lateAnswersOf(context, state) : [];
  if (isUsedUp(context, state)) return [passing(context, state), ...late, ...expiry];
  return [moveOf("delivery", `a receive in ${place.queue}`, receive(context, state)), ...late, ...expiry];
}

function moveOf(cause: Cause, label: string, outcomes: Move<MessageState>["outcomes"]): Move<MessageState> {
  return { cause, label, waitedMs: 0, waitedLatestMs: 0, outcomes };
}

/**
 * A message that is moved may be as old as its queue lets it become, since there may have been nobody to receive it for so long: the
 * longest that a message survives there, in whole seconds.
 */
function receive({ semantics, handling }: Context, state: MessageState): Move<MessageState>["outcomes"] {
  return semantics.step(state, { kind: "receive" }, { ageSeconds: handling.retentionSeconds - 1 });
}

/** What comes by itself, if somebody asks for messages. */
function passing(context: Context, state: MessageState): Move<MessageState> {
  const { semantics } = context;
  const { place } = state;
  const queue = place.kind === "queue" ? place.queue : "";
  if (place.kind === "queue" && place.status === "visible") {
    return moveOf("time", `a receive in ${queue}`, receive(context, state));
  }
  const event: SqsEvent =
    place.kind === "queue" && place.status === "delayed" ? { kind: "delay-passes" } : { kind: "visibility-passes" };
  const label = event.kind === "delay-passes" ? "its delay passes" : "its visibility timeout passes";
  return { ...moveOf("time", `${label} in ${queue}`, semantics.step(state, event)), ...waitOf(context, state) };
}

/**
 * How long a message stays hidden after its handler has ended. The queue's own timeout runs from the receive: what is left of it is all
 * where the handler ends at once, and least where it takes all of its time; below zero where the message is back before.
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

/** See `Handling.outlivesRetention`. */
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

const labels: Readonly<Record<OutcomeName, (attempt: number) => string>> = {
  success: (attempt) => `success on attempt ${attempt}`,
  transient: (attempt) => `transient failure of attempt ${attempt}`,
  permanent: (attempt) => `permanent failure of attempt ${attempt}`,
  return: () => "returned",
};
const failureNames = ["transient", "permanent", "return"] as const;

function answersOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { semantics, contract, handling } = context;
  const attempt = state.receiveCount;
  const does = (operations: readonly Operation[]): Move<MessageState>["outcomes"] =>
    perform(semantics, handling, state, operations);
  const after = (name: OutcomeName): readonly Operation[] => operationsAfter(contract.outcomes[name], attempt);
  const asked = (contract.retryAfter ?? []).map(({ upToMs, byAttempt }) => {
    const operations = operationsAfter({ byAttempt }, attempt).map((each) => bounded(each, upToMs));
    return moveOf("retry-after", `attempt ${attempt} asks for ${upToMs} ms at most`, does(operations));
  });
  return [
    moveOf("success", labels.success(attempt), perform(semantics, handling, state, after("success"))),
    ...failureNames.map((name) => moveOf(name, labels[name](attempt), does(after(name)))),
    ...asked,
    moveOf("crash", `crash on attempt ${attempt}`, semantics.step(state, { kind: "let-go" })),
    moveOf("timeout", `attempt ${attempt} is not over in time`, semantics.step(state, { kind: "visibility-passes" })),
    ...crashesBetween(context, state),
    moveOf(
      "nack-requeue",
      "mistake: a visibility timeout of 0",
      does([{ operation: "ChangeMessageVisibility", visibilityTimeoutSeconds: { from: 0, to: 0 } }]),
    ),
  ];
}

/**
 * A crash between two operations of an outcome: nothing may be lost by their order. It goes as a mistake, though it is none, so that a
 * simulated crash does not take it for as likely as one of the handler.
 */
function crashesBetween({ semantics, contract, handling }: Context, state: MessageState): Move<MessageState>[] {
  return failureNames.flatMap((name) => {
    const operations = operationsAfter(contract.outcomes[name], state.receiveCount);
    return operations
      .slice(1)
      .map((next, index) =>
        moveOf(
          "timeout",
          `crash on attempt ${state.receiveCount} before ${next.operation}`,
          perform(semantics, handling, state, operations.slice(0, index + 1)),
        ),
      );
  });
}

/** A handler that is over only after its message is visible again, and says so before anybody else has it. */
function lateAnswersOf({ semantics, contract, handling }: Context, state: MessageState): Move<MessageState>[] {
  const attempt = state.receiveCount;
  return (["success", ...failureNames] as const).map((name) =>
    moveOf(
      "timeout",
      `too late: ${labels[name](attempt)}`,
      perform(semantics, handling, state, operationsAfter(contract.outcomes[name], attempt)),
    ),
  );
}

/** A delay that is asked for is any whole number of seconds up to the most. */
function bounded(operation: Operation, upToMs: number): Operation {
  if (operation.operation !== "ChangeMessageVisibility" || operation.visibilityTimeoutSeconds !== "asked") {
    return operation;
  }
  return { ...operation, visibilityTimeoutSeconds: { from: 0, to: Math.ceil(upToMs / 1_000) } };
}
