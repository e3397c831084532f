import type { SqsQueue, SqsTopology } from "../../compile/topology.ts";
import type { LossCause } from "./message-state.ts";

export type Context = ReturnType<typeof contextOf>;

export function contextOf({ queues, topics, subscriptions }: Pick<SqsTopology, "queues" | "topics" | "subscriptions">) {
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    topics: new Map(topics.map((topic) => [topic.name, topic])),
    subscriptions: Map.groupBy(subscriptions, ({ topic }) => topic),
    /** From this count of receives on, one more makes no difference in any queue. */
    saturation: queues.reduce((most, { redrive }) => Math.max(most, redrive?.maxReceiveCount ?? 0), 0),
  };
}

/**
 * With more source queues than this, a redrive-allow policy by queue allows every queue. Claim:
 * move-with-too-many-sources.
 */
const mostSourceQueues = 10;

/**
 * The reason that a queue cannot move its messages to the dead queue that it names; null if it can. AWS refuses such a
 * redrive policy at first. It can arise later, when an operator changes or deletes the dead queue. Claims:
 * dead-queue-gone, move-to-standard, move-to-fifo, move-denied, move-by-others-denied.
 */
export function moveProblem({ queues }: Context, queue: SqsQueue): LossCause | null {
  const dead = queues.get(queue.redrive?.deadQueue ?? "");
  if (dead === undefined) return "missing-dead-queue";
  if (dead.fifo !== queue.fifo) return "queue-type-mismatch";
  const { redriveAllow } = dead;
  if (redriveAllow.permission === "allowAll") return null;
  if (redriveAllow.permission === "denyAll") return "redrive-not-allowed";
  const { sourceQueues } = redriveAllow;
  return sourceQueues.length > mostSourceQueues || sourceQueues.includes(queue.name) ? null : "redrive-not-allowed";
}
