import type { SqsQueue } from "../../compile/topology.ts";
import { type Context, moveProblem } from "./context.ts";
import type { Circumstances, MessageState, Outcome, QueuePlace, SqsEvent, Visibility } from "./message-state.ts";

const impossible: readonly Outcome[] = Object.freeze([]);
const noCircumstances: Circumstances = Object.freeze({});

/**
 * The longest time that a message can stay hidden, counted from its receive. Source: API Reference,
 * ChangeMessageVisibility.
 */
const mostVisibilitySeconds = 43_200;

export function step(
  context: Context,
  state: MessageState,
  event: SqsEvent,
  circumstances: Circumstances = noCircumstances,
): readonly Outcome[] {
  const { place } = state;
  if (place.kind !== "queue") return impossible;
  const queue = context.queues.get(place.queue);
  if (queue === undefined) return impossible;
  switch (event.kind) {
    case "receive":
      return place.status === "visible" ? receive(context, state, queue, circumstances) : impossible;
    case "delete":
      return deleteMessage(state, place, queue, event);
    case "change-visibility":
      return changeVisibility(state, place, queue, event);
    case "let-go":
      return place.status === "delayed" || !place.handled
        ? impossible
        : [[{ ...state, place: { ...place, handled: false } }]];
    case "visibility-passes":
      return place.status === "in-flight" ? [[visible(state, queue.name, place.handled)]] : impossible;
    case "delay-passes":
      return place.status === "delayed" ? [[visible(state, queue.name, false)]] : impossible;
    case "expire":
      // Claims: retention-deletes, retention-in-flight.
      return [[expired(state, queue.name)]];
    default:
      return event satisfies never;
  }
}

function visible(state: MessageState, queue: string, handled: boolean): MessageState {
  return { ...state, place: { kind: "queue", queue, status: "visible", handled } };
}

function hidden(state: MessageState, queue: string, handled: boolean, visibility: Visibility): MessageState {
  return { ...state, place: { kind: "queue", queue, status: "in-flight", visibility, handled } };
}

function expired(state: MessageState, queue: string): MessageState {
  return { ...state, place: { kind: "lost", cause: "retention", queue } };
}

/**
 * The receive that exceeds `maxReceiveCount` moves the message and delivers nothing.
 *
 * It is unknown if SQS compares the count of this queue or of all queues. The difference matters only after a move, and
 * then both results are possible. Claims: moves-on-next-receive, chain-delivers-in-the-middle, cycle-delivers-on,
 * self-dead-letter-queue.
 */
function receive(
  context: Context,
  state: MessageState,
  queue: SqsQueue,
  circumstances: Circumstances,
): readonly Outcome[] {
  if (queue.fifo && circumstances.blockedGroups?.has(state.groupId ?? "") === true) return impossible;
  const { redrive } = queue;
  if (redrive === null || state.receiveCount < redrive.maxReceiveCount) return [[received(state, queue)]];
  const problem = moveProblem(context, queue);
  if (problem !== null) {
    const gone: MessageState = { ...state, place: { kind: "lost", cause: problem, queue: queue.name } };
    return [[gone], [received(state, queue)]];
  }
  const moved = move(state, context.queues.get(redrive.deadQueue) as SqsQueue, circumstances);
  return state.receivesHere >= redrive.maxReceiveCount ? [[moved]] : [[moved], [received(state, queue)]];
}

/**
 * A timeout of 0 hides nothing. Claims: visibility-from-receive, changed-visibility-is-forgotten, count-across-queues.
 */
function received(state: MessageState, queue: SqsQueue): MessageState {
  const { visibilityTimeoutSeconds: seconds } = queue;
  return hidden(
    { ...state, receiveCount: state.receiveCount + 1, receivesHere: state.receivesHere + 1 },
    queue.name,
    true,
    { fromSeconds: seconds, toSeconds: seconds, since: "receive" },
  );
}

/**
 * On standard queues the age of the message goes on; on FIFO it starts again. Claims: retention-goes-on-in-dead-queue,
 * fifo-retention-starts-again, dead-queue-delay.
 */
function move(state: MessageState, dead: SqsQueue, { ageSeconds = 0 }: Circumstances): MessageState {
  const moved: MessageState = { ...state, receivesHere: 0 };
  if (!dead.fifo && ageSeconds >= dead.retentionSeconds) return expired(moved, dead.name);
  return dead.delaySeconds > 0
    ? { ...moved, place: { kind: "queue", queue: dead.name, status: "delayed" } }
    : visible(moved, dead.name, false);
}

/** Claims: delete-after-visibility, fifo-delete-after-visibility, delete-with-older-receipt. */
function deleteMessage(
  state: MessageState,
  place: QueuePlace,
  queue: SqsQueue,
  { receipt = "latest" }: Extract<SqsEvent, { kind: "delete" }>,
): readonly Outcome[] {
  if (state.receivesHere === 0) return impossible;
  if (isRefused(place, queue, { kind: "delete", receipt })) return [[state]];
  const deleted: MessageState = { ...state, place: { kind: "deleted", queue: queue.name } };
  return receipt === "latest" ? [[deleted]] : [[deleted], [state]];
}

/**
 * SQS may accept a part of the range; then both results are possible. Claims: changed-visibility-from-call,
 * visibility-zero-returns-at-once, change-beyond-12h, change-beyond-total-12h, change-after-visibility,
 * fifo-change-after-visibility.
 */
function changeVisibility(
  state: MessageState,
  place: QueuePlace,
  queue: SqsQueue,
  event: Extract<SqsEvent, { kind: "change-visibility" }>,
): readonly Outcome[] {
  if (state.receivesHere === 0 || place.status === "delayed") return impossible;
  if (isRefused(place, queue, event)) return [[state]];
  const { fromSeconds, toSeconds, elapsedSeconds = 0 } = event;
  const changed =
    toSeconds === 0
      ? visible(state, queue.name, place.handled)
      : hidden(state, queue.name, place.handled, {
          fromSeconds,
          toSeconds: Math.min(toSeconds, mostVisibilitySeconds - elapsedSeconds),
          since: "call",
        });
  const isInPart = elapsedSeconds + toSeconds > mostVisibilitySeconds;
  const isLateOnFifo = queue.fifo && place.status === "visible";
  return isInPart || isLateOnFifo ? [[changed], [state]] : [[changed]];
}

/** True if SQS answers every value of a request with an error, and so changes nothing. */
function isRefused(
  place: QueuePlace,
  queue: SqsQueue,
  event: Extract<SqsEvent, { kind: "delete" | "change-visibility" }>,
): boolean {
  if (event.kind === "delete") return queue.fifo && (place.status === "visible" || event.receipt === "older");
  return (event.elapsedSeconds ?? 0) + event.fromSeconds > mostVisibilitySeconds;
}

export function refuses({ queues }: Context, state: MessageState, event: SqsEvent): boolean {
  const { place } = state;
  if (place.kind !== "queue" || (event.kind !== "delete" && event.kind !== "change-visibility")) return false;
  const queue = queues.get(place.queue);
  return queue !== undefined && state.receivesHere > 0 && isRefused(place, queue, event);
}
