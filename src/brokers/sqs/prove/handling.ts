import type { Contract, Operation } from "../compile/contract.ts";
import { endingsOf } from "../../../contract/interpret.ts";
import { type Effect, performInOrder } from "../../../contract/perform.ts";
import type { MessageState, Outcome, Semantics, SqsEvent } from "./semantics.ts";
import type { SqsQueue } from "../compile/topology.ts";

/** The times of a consumer's handler and of its work queue. */
export type Handling = ReturnType<typeof handlingOf>;

/** @param queue the work queue; undefined if it does not exist, and then no message is ever handled */
export function handlingOf(queue: SqsQueue | undefined, contract: Contract) {
  const visibilityTimeoutSeconds = queue?.visibilityTimeoutSeconds ?? 0;
  const retentionSeconds = queue?.retentionSeconds ?? 0;
  const timeoutMs = contract.lambda === undefined ? contract.handlerTimeoutMs : null;
  const longestMs = timeoutMs ?? visibilityTimeoutSeconds * 1_000;
  let windowSeconds = queue?.delaySeconds ?? 0;
  for (let receive = 1; receive <= (queue?.redrive?.maxReceiveCount ?? 0); receive++) {
    windowSeconds += Math.max(visibilityTimeoutSeconds, longestMs / 1_000 + longestDelaySeconds(contract, receive));
  }
  if (queue !== undefined && queue.redrive === null) windowSeconds = Number.POSITIVE_INFINITY;
  return {
    /**
     * The longest time from the receive to the end of a handler. It is the handler's timeout. Without a timeout, it is as
     * long as the queue hides the message from others. With Lambda it is as long too, because Lambda receives the message
     * and may wait before it calls the handler. A handler may end at any earlier time.
     */
    longestMs,
    visibilityTimeoutSeconds,
    retentionSeconds,
    /**
     * The longest time from publishing a message to the receive that moves it, if consumers receive visible messages at
     * once.
     */
    windowSeconds,
    /**
     * True if retention can delete a message before its retries are over, although a consumer receives it.
     *
     * Comparing two numbers is enough. A receive hides a message for the queue's timeout, or until its handler has ended
     * and then for the contract's delay. The window is the sum of the longest of these times over all receives, so no
     * course takes longer. If the window is below the retention, retention never comes first, and the model leaves it
     * out. Otherwise retention comes first on the course that takes the longest each time. The model then allows it, and
     * the proof fails.
     */
    outlivesRetention: windowSeconds >= retentionSeconds,
  };
}

/** The longest time that the contract hides a message after its handler has ended. */
function longestDelaySeconds(contract: Contract, attempt: number): number {
  const hidden = endingsOf<Operation>(contract, attempt).flatMap(({ operations, upToMs }) =>
    operations.map((each) => {
      if (each.operation !== "ChangeMessageVisibility") return 0;
      const { visibilityTimeoutSeconds: range } = bounded(each, upToMs ?? 0);
      return range === "asked" ? 0 : range.to;
    }),
  );
  return Math.max(0, ...hidden);
}

/** Bounds the delay that a handler asks for: any whole number of seconds up to the longest. */
export function bounded<Each extends Operation>(operation: Each, upToMs: number): Each {
  if (operation.operation !== "ChangeMessageVisibility" || operation.visibilityTimeoutSeconds !== "asked")
    return operation;
  return { ...operation, visibilityTimeoutSeconds: { from: 0, to: Math.ceil(upToMs / 1_000) } };
}

/**
 * Does the operations of an outcome in order, and then lets the message go. If SQS refuses an operation, the consumer
 * stops and leaves the message to its visibility timeout. An operation that comes too late has the same effect, if a
 * handler may take longer than the queue hides the message.
 */
export function perform(
  semantics: Semantics,
  handling: Handling,
  state: MessageState,
  operations: readonly Operation[],
): readonly Outcome[] {
  const outcomes = performInOrder(state, operations, effectsOf(semantics, handling)).map(({ copies, original }) => [
    ...copies,
    letGo(semantics, original),
  ]);
  const isPossiblyLate = handling.longestMs > handling.visibilityTimeoutSeconds * 1_000;
  return isPossiblyLate && operations.length > 0 ? [...outcomes, [letGo(semantics, state)]] : outcomes;
}

type Effects = readonly Effect<MessageState, MessageState>[];

function effectsOf(semantics: Semantics, handling: Handling) {
  return (original: MessageState, operation: Operation): Effects => {
    if (operation.operation === "SendMessage") {
      const { queue, fifo } = operation;
      const outcomes = semantics.send({
        queue,
        ...(fifo !== undefined && { groupId: original.groupId ?? "", deduplicationId: fifo.messageDeduplicationId }),
      });
      return outcomes.map((sent) =>
        sent.some(({ place }) => place.kind === "refused") ? "refused" : { copies: sent, original },
      );
    }
    return eventsOf(handling, semantics, original, operation).flatMap((event): Effects =>
      semantics.refuses(original, event)
        ? ["refused"]
        : semantics.step(original, event).map(([next]) => ({ copies: [], original: next ?? original })),
    );
  };
}

/**
 * SQS refuses a visibility timeout that would end more than 12 h after the receive. So the model first asks at the end
 * of a handler that took all of its time. If part of the range is refused then, it also asks at the end of one that
 * took no time.
 */
function eventsOf(
  { longestMs }: Handling,
  semantics: Semantics,
  state: MessageState,
  operation: Exclude<Operation, { operation: "SendMessage" }>,
): readonly SqsEvent[] {
  if (operation.operation === "DeleteMessage") return [{ kind: "delete" }];
  const asked = operation.visibilityTimeoutSeconds;
  // Each move bounds the delay that a handler asks for. An unbounded delay could have any length.
  const { from, to } = asked === "asked" ? { from: 0, to: 0 } : asked;
  const change = { kind: "change-visibility", fromSeconds: from, toSeconds: to } as const;
  const latest: SqsEvent = { ...change, elapsedSeconds: Math.ceil(longestMs / 1_000) };
  const isSure = !semantics.refuses(state, latest) && semantics.step(state, latest).length === 1;
  return isSure ? [latest] : [latest, { ...change, elapsedSeconds: 0 }];
}

function letGo(semantics: Semantics, state: MessageState): MessageState {
  return semantics.step(state, { kind: "let-go" })[0]?.[0] ?? state;
}
