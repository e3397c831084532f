import type { AuditedQueue } from "../deployment.ts";
import type { Surroundings } from "./surroundings.ts";

/** Queues further along a chain of dead-letter queues than this are not followed: nobody has so many on purpose. */
const mostQueues = 20;

/** The queues that a dead letter of a queue comes to, one after the other, the queue itself first. */
export function wayOf(queue: AuditedQueue, { queues }: Surroundings): readonly AuditedQueue[] {
  const way = new Set<AuditedQueue>();
  let next: AuditedQueue | undefined = queue;
  while (next !== undefined && !way.has(next) && way.size < mostQueues) {
    way.add(next);
    const { redrive }: AuditedQueue = next;
    next = redrive === "untold" || redrive === null ? undefined : queues.get(redrive.targetArn);
  }
  return [...way];
}

/**
 * The circles of queues that are each other's dead-letter queues, each once, from the first of its queues on. A queue has one dead-letter
 * queue at most, so each way is followed until it comes to a queue that was met before.
 */
export function circlesOf({ queues }: Surroundings): readonly (readonly AuditedQueue[])[] {
  const circles: AuditedQueue[][] = [];
  const done = new Set<AuditedQueue>();
  for (const start of queues.values()) {
    const way: AuditedQueue[] = [];
    const onWay = new Set<AuditedQueue>();
    let next: AuditedQueue | undefined = start;
    while (next !== undefined && !done.has(next)) {
      done.add(next);
      onWay.add(next);
      way.push(next);
      const { redrive }: AuditedQueue = next;
      next = redrive === "untold" || redrive === null ? undefined : queues.get(redrive.targetArn);
    }
    if (next !== undefined && onWay.has(next)) circles.push(way.slice(way.indexOf(next)));
  }
  return circles;
}
