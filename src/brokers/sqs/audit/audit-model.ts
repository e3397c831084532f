import type { Cause, Model, Move, Situation } from "../../../explore/model.ts";
import type { AuditedQueue } from "../deployment.ts";
import { isFifo } from "../deployment.ts";
import { describeState } from "../describe-state.ts";
import type { MessageState, Outcome, Semantics, SqsEvent } from "../semantics.ts";
import { semanticsOf } from "../semantics.ts";
import type { RedriveAllow, SqsQueue } from "../topology.ts";
import { windowSecondsOf } from "./redrive-window.ts";
import { wayOf } from "./redrive-ways.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * A queue that somebody else made, as the explorer wants it, with the queues that its dead letters come to. What its consumer does is not
 * known, so it may delete a message, or let it run out of its visibility timeout; whoever looks at dead letters may do the same.
 */
export function auditModel(subject: AuditedQueue, surroundings: Surroundings): Model<MessageState> {
  const way = wayOf(subject, surroundings);
  const queues = new Map(way.map((queue) => [queue.arn, queue]));
  const semantics = semanticsOf({ queues: semanticQueues(way, surroundings), topics: [], subscriptions: [] });
  const context: Context = { semantics, subject, queues };
  const groupId = subject.fifo ? { groupId: "group", deduplicationId: "id" } : {};
  const starts = semantics.send({ queue: subject.arn, ...groupId }).map((states) => ({ key: "", states }));
  return {
    consumer: subject.arn,
    starts,
    keyOf: semantics.behaviourKey,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    describe: describeState,
    wanted: { attempts: [], crashDeliveries: 0, maxDeliveries: 0, returnsCost: true, waitGrainMs: 1 },
  };
}

interface Context {
  readonly semantics: Semantics;
  readonly subject: AuditedQueue;
  readonly queues: ReadonlyMap<string, AuditedQueue>;
}

/** What is not told is as AWS has it by default; where it would decide, the audit says nothing. */
const defaults = Object.freeze({ visibilityTimeoutSeconds: 30, retentionSeconds: 1_209_600 });

/**
 * The queues as the semantics knows them, by their ARNs. A dead-letter queue that may be there though it was not read stands there as one
 * that takes everything.
 */
function semanticQueues(way: readonly AuditedQueue[], { isMissing, queues }: Surroundings): SqsQueue[] {
  const made = way.map((queue) => semanticQueue(queue, way));
  const elsewhere = way.flatMap((queue) => {
    const { redrive } = queue;
    const target = redrive === "untold" ? null : (redrive?.targetArn ?? null);
    return target === null || queues.has(target) || isMissing(target) ? [] : [end(target, queue)];
  });
  return [...made, ...elsewhere];
}

function semanticQueue(queue: AuditedQueue, way: readonly AuditedQueue[]): SqsQueue {
  const { arn, redrive } = queue;
  return {
    ...end(arn, queue),
    visibilityTimeoutSeconds: queue.visibilityTimeoutSeconds ?? defaults.visibilityTimeoutSeconds,
    retentionSeconds: queue.retentionSeconds ?? defaults.retentionSeconds,
    delaySeconds: queue.delaySeconds ?? 0,
    redrive:
      redrive === "untold" || redrive === null
        ? null
        : { deadQueue: redrive.targetArn, maxReceiveCount: smallCount(redrive.maxReceiveCount) },
    redriveAllow: allowOf(queue, way),
  };
}

/** A queue where messages end. */
function end(arn: string, source: AuditedQueue): SqsQueue {
  return {
    name: arn,
    role: "work",
    consumer: null,
    fifo: isFifo(arn),
    ...defaults,
    delaySeconds: 0,
    receiveWaitSeconds: 0,
    encryption: { kind: "sqs" },
    redrive: null,
    redriveAllow: { permission: "byQueue", sourceQueues: [source.arn] },
    sendersTopics: [],
  };
}

/**
 * Every count as 1 or 2, so that the space stays small however large the counts are. No finding depends on how often a message is received
 * before it is moved, only on whether it is, and a count of 2 still lets it come back once.
 */
function smallCount(maxReceiveCount: number | null): number {
  return Math.min(maxReceiveCount ?? 2, 2);
}

function allowOf({ redriveAllow }: AuditedQueue, way: readonly AuditedQueue[]): RedriveAllow {
  const all = { permission: "byQueue", sourceQueues: way.map(({ arn }) => arn) } as const;
  if (redriveAllow === "untold") return all;
  switch (redriveAllow.permission) {
    case "allowAll":
      return all;
    case "denyAll":
      return { permission: "denyAll" };
    case "byQueue":
      return { permission: "byQueue", sourceQueues: redriveAllow.sourceArns };
    default:
      return redriveAllow.permission satisfies never;
  }
}

function situationOf({ subject, queues }: Context, { place, receiveCount }: MessageState): Situation {
  switch (place.kind) {
    case "deleted":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: place.cause };
    case "refused":
      return { kind: "lost", why: place.error };
    case "queue": {
      const { redrive = null } = queues.get(place.queue) ?? {};
      // A queue whose redrive policy is not told may pass messages on, and it is not known where to.
      if (redrive === "untold" || (redrive === null && place.queue !== subject.arn)) return { kind: "dead" };
      return { kind: place.status === "in-flight" ? "handling" : "work", attempt: receiveCount };
    }
    default:
      return place satisfies never;
  }
}

function movesOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { semantics, queues } = context;
  const { place } = state;
  if (place.kind !== "queue") return [];
  const queue = queues.get(place.queue);
  if (queue === undefined) return [];
  const move = (cause: Cause, label: string, outcomes: Move<MessageState>["outcomes"]): Move<MessageState> => ({
    cause,
    label,
    waitedMs: 0,
    waitedLatestMs: 0,
    outcomes,
  });
  const after = (event: SqsEvent): readonly Outcome[] => semantics.step(state, event);
  const expiry = expiryOf(queue);
  const expiring = expiry === null ? [] : [move("time", expiry, after({ kind: "expire" }))];
  switch (place.status) {
    case "delayed":
      return [move("time", "its delay passes", after({ kind: "delay-passes" })), ...expiring];
    case "visible":
      return [
        ...semantics
          .step(state, { kind: "receive" }, { ageSeconds: windowSecondsOf(queue) ?? 0 })
          .map((outcome) => move("delivery", receiveLabel(queue, outcome), [outcome])),
        ...expiring,
      ];
    case "in-flight":
      return [
        move("success", "deleted", after({ kind: "delete" })),
        move("crash", "its visibility timeout passes", runOut(semantics, state)),
        ...expiring,
      ];
    default:
      return place satisfies never;
  }
}

/** The consumer is done with the message, or gone, and has not deleted it. */
function runOut(semantics: Semantics, state: MessageState): readonly Outcome[] {
  return semantics
    .step(state, { kind: "let-go" })
    .flatMap((outcome) => outcome.flatMap((each) => semantics.step(each, { kind: "visibility-passes" })));
}

function receiveLabel({ redrive }: AuditedQueue, outcome: Outcome): string {
  const isDelivered = outcome.every(({ place }) => place.kind === "queue" && place.status === "in-flight");
  if (isDelivered || redrive === "untold" || redrive === null) return "received";
  const { maxReceiveCount } = redrive;
  return maxReceiveCount === null
    ? "the receive after the last has to move it"
    : `receive ${maxReceiveCount + 1} has to move it`;
}

/** Whether retention can come before the end of the retries, in words; null where it cannot, or where it is not known. */
function expiryOf(queue: AuditedQueue): string | null {
  const window = windowSecondsOf(queue);
  const { retentionSeconds } = queue;
  if (window === null || retentionSeconds === null || window < retentionSeconds) return null;
  return `it is ${retentionSeconds} s old, before its retries are over`;
}
