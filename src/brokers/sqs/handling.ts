import type { Contract, Operation, Outcome as ContractOutcome } from "./contract.ts";
import { operationsAfter } from "../contract.ts";
import type { MessageState, Outcome, Semantics, SqsEvent } from "./semantics.ts";
import type { SqsQueue } from "./topology.ts";

/** The times of a consumer's handler and of its work queue. */
export interface Handling {
  /**
   * From the receive until a handler has ended, at the longest: its timeout, or as long as the message is hidden from others where none is
   * declared, and where Lambda, which has received the message, may wait with it for so long. It may end at any time before.
   */
  readonly longestMs: number;
  readonly visibilityTimeoutSeconds: number;
  /** How long the work queue keeps a message. */
  readonly retentionSeconds: number;
  /** The longest from the publishing of a message until the receive that moves it, if what is visible is received at once. */
  readonly windowSeconds: number;
  /**
   * Whether retention can delete a message before its retries are over, though somebody receives it.
   *
   * Why it is enough to compare two numbers: a receive hides a message for the queue's timeout, or until its handler has ended and then
   * for what the contract says, whichever outcome it has; the window is the sum of the longest of these over all receives, so no course
   * takes longer. If it is below the retention, retention never comes first, and the model leaves it out. If it is not, the course that
   * takes the longest each time is one on which retention comes first, so the model lets it come, and the proof fails.
   */
  readonly outlivesRetention: boolean;
}

/** @param queue the work queue; undefined where it is not there, and then nothing is ever handled */
export function handlingOf(queue: SqsQueue | undefined, contract: Contract): Handling {
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
    longestMs,
    visibilityTimeoutSeconds,
    retentionSeconds,
    windowSeconds,
    outlivesRetention: windowSeconds >= retentionSeconds,
  };
}

/** The longest that the contract hides a message from the end of a handler on. */
function longestDelaySeconds({ outcomes, retryAfter = [] }: Contract, attempt: number): number {
  const outcome = (each: ContractOutcome): number[] => operationsAfter(each, attempt).flatMap(hides);
  const asked = retryAfter.flatMap((each) =>
    operationsAfter(each, attempt).map((operation) =>
      operation.operation === "ChangeMessageVisibility" && operation.visibilityTimeoutSeconds === "asked"
        ? Math.ceil(each.upToMs / 1_000)
        : Math.max(0, ...hides(operation)),
    ),
  );
  return Math.max(0, ...Object.values(outcomes).flatMap(outcome), ...asked);
}

function hides(operation: Operation): number[] {
  if (operation.operation !== "ChangeMessageVisibility") return [];
  return operation.visibilityTimeoutSeconds === "asked" ? [] : [operation.visibilityTimeoutSeconds.to];
}

/**
 * Does an outcome's operations one after the other, and then lets the message go. An operation that SQS refuses ends it: the consumer leaves
 * the message to its visibility timeout. So does one that comes too late, where a handler may take longer than the message is hidden.
 */
export function perform(
  semantics: Semantics,
  handling: Handling,
  state: MessageState,
  operations: readonly Operation[],
): readonly Outcome[] {
  let alternatives: readonly Alternative[] = [{ copies: [], original: state, stopped: false }];
  for (const operation of operations) {
    alternatives = alternatives.flatMap((alternative) =>
      alternative.stopped ? [alternative] : after(semantics, handling, alternative, operation),
    );
  }
  const outcomes = alternatives.map(({ copies, original }) => [...copies, letGo(semantics, original)]);
  const isPossiblyLate = handling.longestMs > handling.visibilityTimeoutSeconds * 1_000;
  return isPossiblyLate && operations.length > 0 ? [...outcomes, [letGo(semantics, state)]] : outcomes;
}

interface Alternative {
  readonly copies: readonly MessageState[];
  readonly original: MessageState;
  readonly stopped: boolean;
}

function after(
  semantics: Semantics,
  handling: Handling,
  { copies, original, stopped }: Alternative,
  operation: Operation,
): readonly Alternative[] {
  if (operation.operation === "SendMessage") {
    const { queue, fifo } = operation;
    const outcomes = semantics.send({
      queue,
      ...(fifo === undefined ? {} : { groupId: original.groupId ?? "", deduplicationId: fifo.messageDeduplicationId }),
    });
    return outcomes.map((sent) =>
      sent.some(({ place }) => place.kind === "refused")
        ? { copies, original, stopped: true }
        : { copies: [...copies, ...sent], original, stopped },
    );
  }
  return eventsOf(handling, semantics, original, operation).flatMap((event) =>
    semantics.refuses(original, event)
      ? [{ copies, original, stopped: true }]
      : semantics.step(original, event).map(([next]) => ({ copies, original: next ?? original, stopped })),
  );
}

/**
 * A visibility timeout is refused where it would end more than 12 h after the receive, so it is asked for at the end of a handler that took
 * all of its time; where that does not do for all of the range, at the end of one that took none, too.
 */
function eventsOf(
  { longestMs }: Handling,
  semantics: Semantics,
  state: MessageState,
  operation: Exclude<Operation, { operation: "SendMessage" }>,
): readonly SqsEvent[] {
  if (operation.operation === "DeleteMessage") return [{ kind: "delete" }];
  const asked = operation.visibilityTimeoutSeconds;
  // What a handler asks for is bounded by whoever plays it; unbounded it could be anything.
  const { from, to } = asked === "asked" ? { from: 0, to: 0 } : asked;
  const change = { kind: "change-visibility", fromSeconds: from, toSeconds: to } as const;
  const latest: SqsEvent = { ...change, elapsedSeconds: Math.ceil(longestMs / 1_000) };
  const isSure = !semantics.refuses(state, latest) && semantics.step(state, latest).length === 1;
  return isSure ? [latest] : [latest, { ...change, elapsedSeconds: 0 }];
}

function letGo(semantics: Semantics, state: MessageState): MessageState {
  return semantics.step(state, { kind: "let-go" })[0]?.[0] ?? state;
}
