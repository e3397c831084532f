import { type Model, type Move, type Situation, moveOf } from "../../../../explore/model.ts";
import { type AuditedQueue, isFifo, known } from "../deployment.ts";
import { describeState } from "../../prove/describe-state.ts";
import { type MessageState, type Outcome, type Semantics, type SqsEvent, semanticsOf } from "../../prove/semantics.ts";
import type { RedriveAllow, SqsQueue } from "../../compile/topology.ts";
import { agesOnEntry, wayOf, windowSecondsOf } from "./redrive.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * A foreign queue as the explorer needs it, with the queues that its dead letters reach. Its consumer is unknown, so it
 * may delete a message, or exceed the visibility timeout. A consumer of dead letters may do the same.
 */
export function auditModel(subject: AuditedQueue, surroundings: Surroundings): Model<MessageState> {
  const way = wayOf(subject, surroundings);
  const queues = new Map(way.map((queue) => [queue.arn, queue]));
  const semantics = semanticsOf({ queues: semanticQueues(way, surroundings), topics: [], subscriptions: [] });
  const context: Context = { semantics, subject, queues, ages: agesOnEntry(way) };
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
  /** The possible age of the message on entry into each queue, in seconds. */
  readonly ages: ReadonlyMap<string, number>;
}

/** AWS's defaults, for unknown values. If such a value would decide a finding, the audit says nothing. */
const defaults = Object.freeze({ visibilityTimeoutSeconds: 30, retentionSeconds: 1_209_600 });

/**
 * The queues as the semantics needs them, by their ARNs. A dead-letter queue that may exist, although it was not read,
 * takes every message.
 */
function semanticQueues(way: readonly AuditedQueue[], { isMissing, queues }: Surroundings): SqsQueue[] {
  const made = way.map((queue) => semanticQueue(queue, way));
  const elsewhere = way.flatMap((queue) => {
    const target = known(queue.redrive)?.targetArn;
    return target === undefined || queues.has(target) || isMissing(target) ? [] : [end(target, queue)];
  });
  return [...made, ...elsewhere];
}

function semanticQueue(queue: AuditedQueue, way: readonly AuditedQueue[]): SqsQueue {
  const redrive = known(queue.redrive);
  return {
    ...end(queue.arn, queue),
    visibilityTimeoutSeconds: queue.visibilityTimeoutSeconds ?? defaults.visibilityTimeoutSeconds,
    retentionSeconds: queue.retentionSeconds ?? defaults.retentionSeconds,
    delaySeconds: queue.delaySeconds ?? 0,
    // A count of 1 or 2 keeps the state space small. Findings depend on whether a message is moved, and not on the
    // number of receives before. A count of 2 still lets a message come back once.
    redrive: redrive && { deadQueue: redrive.targetArn, maxReceiveCount: Math.min(redrive.maxReceiveCount ?? 2, 2) },
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

function allowOf({ redriveAllow }: AuditedQueue, way: readonly AuditedQueue[]): RedriveAllow {
  const all = { permission: "byQueue", sourceQueues: way.map(({ arn }) => arn) } as const;
  if (redriveAllow === "untold" || redriveAllow.permission === "allowAll") return all;
  const { permission, sourceArns: sourceQueues } = redriveAllow;
  return permission === "denyAll" ? { permission } : { permission, sourceQueues };
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
      // A queue with an unknown redrive policy may pass messages on to an unknown place.
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
  const after = (event: SqsEvent): readonly Outcome[] => semantics.step(state, event);
  const age = context.ages.get(queue.arn) ?? 0;
  const expiry = expiryOf(queue, age);
  const expiring = expiry === null ? [] : [moveOf("time", expiry, after({ kind: "expire" }))];
  switch (place.status) {
    case "delayed":
      return [moveOf("time", "its delay passes", after({ kind: "delay-passes" })), ...expiring];
    case "visible":
      return [
        ...semantics
          .step(state, { kind: "receive" }, { ageSeconds: age + (windowSecondsOf(queue) ?? 0) })
          .map((outcome) => moveOf("delivery", receiveLabel(queue, outcome), [outcome])),
        ...expiring,
      ];
    case "in-flight":
      return [
        moveOf("success", "deleted", after({ kind: "delete" })),
        moveOf("crash", "its visibility timeout passes", runOut(semantics, state)),
        ...expiring,
      ];
    default:
      return place satisfies never;
  }
}

/** The consumer has finished with the message, or is gone, and has not deleted it. */
function runOut(semantics: Semantics, state: MessageState): readonly Outcome[] {
  return semantics
    .step(state, { kind: "let-go" })
    .flatMap((outcome) => outcome.flatMap((each) => semantics.step(each, { kind: "visibility-passes" })));
}

function receiveLabel(queue: AuditedQueue, outcome: Outcome): string {
  const redrive = known(queue.redrive);
  const isDelivered = outcome.every(({ place }) => place.kind === "queue" && place.status === "in-flight");
  if (isDelivered || redrive === null) return "received";
  const { maxReceiveCount } = redrive;
  return maxReceiveCount === null
    ? "the receive after the last has to move it"
    : `receive ${maxReceiveCount + 1} has to move it`;
}

/** Says in words that retention may come before the end of the retries. Null if it cannot, or if that is unknown. */
function expiryOf(queue: AuditedQueue, ageOnEntry: number): string | null {
  const window = windowSecondsOf(queue);
  const { retentionSeconds } = queue;
  if (window === null || retentionSeconds === null || ageOnEntry + window < retentionSeconds) return null;
  return `it is ${retentionSeconds} s old, before its retries are over`;
}
