import type { SnsSubscription, SnsTopic, SqsQueue, SqsTopology } from "../topology.ts";
import type { LossCause } from "./message-state.ts";

/** A topology, looked up once. */
export interface Context {
  readonly queues: ReadonlyMap<string, SqsQueue>;
  readonly topics: ReadonlyMap<string, SnsTopic>;
  readonly subscriptions: ReadonlyMap<string, readonly SnsSubscription[]>;
  /** From this count of receives on, one more makes no difference in any queue. */
  readonly saturation: number;
}

export function contextOf({
  queues,
  topics,
  subscriptions,
}: Pick<SqsTopology, "queues" | "topics" | "subscriptions">): Context {
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    topics: new Map(topics.map((topic) => [topic.name, topic])),
    subscriptions: Map.groupBy(subscriptions, ({ topic }) => topic),
    saturation: queues.reduce((most, { redrive }) => Math.max(most, redrive?.maxReceiveCount ?? 0), 0),
  };
}

/** Above so many queues a redrive-allow policy by queue allows every queue. Claim: move-with-too-many-sources. */
const mostSourceQueues = 10;

/**
 * Why a queue cannot move its messages to the dead queue that it names; null where it can. AWS refuses such a redrive policy when it is
 * set; it can come about afterwards, when the dead queue is changed or deleted.
 * Claims: dead-queue-gone, move-to-standard, move-to-fifo, move-denied, move-by-others-denied.
 */
export function moveProblem({ queues }: Context, queue: SqsQueue): LossCause | null {
  const dead = queues.get(queue.redrive?.deadQueue ?? "");
  if (dead === undefined) return "missing-dead-queue";
  if (dead.fifo !== queue.fifo) return "queue-type-mismatch";
  const { redriveAllow } = dead;
  if (redriveAllow.permission === "denyAll") return "redrive-not-allowed";
  const { sourceQueues } = redriveAllow;
  return sourceQueues.length > mostSourceQueues || sourceQueues.includes(queue.name) ? null : "redrive-not-allowed";
}
