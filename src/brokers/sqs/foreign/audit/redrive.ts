import { type AuditedQueue, known } from "../deployment.ts";
import type { Surroundings } from "./surroundings.ts";

/** The most queues that are followed along a chain of dead-letter queues. Longer chains make no sense. */
const mostQueues = 20;

/** The queues that a dead letter reaches one after the other, beginning with its own. */
export function wayOf(queue: AuditedQueue, { queues }: Surroundings): readonly AuditedQueue[] {
  const way = new Set<AuditedQueue>();
  let next: AuditedQueue | undefined = queue;
  while (next !== undefined && !way.has(next) && way.size < mostQueues) {
    way.add(next);
    next = queues.get(known(next.redrive)?.targetArn ?? "");
  }
  return [...way];
}

/**
 * The circles of queues that are each other's dead-letter queues, each once, from its first queue on. A queue has at
 * most one dead-letter queue. So each way is followed until it meets a known queue.
 */
export function circlesOf({ queues }: Surroundings): readonly (readonly AuditedQueue[])[] {
  const circles: AuditedQueue[][] = [];
  const done = new Set<AuditedQueue>();
  for (const start of queues.values()) {
    const way: AuditedQueue[] = [];
    let next: AuditedQueue | undefined = start;
    while (next !== undefined && !done.has(next)) {
      done.add(next);
      way.push(next);
      next = queues.get(known(next.redrive)?.targetArn ?? "");
    }
    if (next !== undefined && way.includes(next)) circles.push(way.slice(way.indexOf(next)));
  }
  return circles;
}

/**
 * The time in seconds from the sending of a message until the receive that moves it. The consumer lets every receive
 * exceed the visibility timeout and receives again at once. Null if the time is unknown, or if no receive moves the
 * message.
 */
export function windowSecondsOf({ redrive, visibilityTimeoutSeconds, delaySeconds }: AuditedQueue): number | null {
  const receives = known(redrive)?.maxReceiveCount ?? null;
  if (receives === null || visibilityTimeoutSeconds === null) return null;
  return (delaySeconds ?? 0) + receives * visibilityTimeoutSeconds;
}

/**
 * The possible age of a message on entry into each queue of its way, in seconds, by ARN. Every receive exceeds its
 * time. On standard queues the message's clock goes on. Unknown times count as 0.
 */
export function agesOnEntry(way: readonly AuditedQueue[]): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  let age = 0;
  for (const queue of way) {
    if (queue.fifo) age = 0;
    ages.set(queue.arn, age);
    age += windowSecondsOf(queue) ?? 0;
  }
  return ages;
}

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A time in the largest unit that gives a whole number: `4 days`, `90 minutes`, `45 s`. */
export function timeText(seconds: number): string {
  for (const [unit, length] of units) {
    const count = seconds / length;
    if (seconds > 0 && Number.isInteger(count)) return `${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  return `${seconds} s`;
}
