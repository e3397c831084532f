import type { AuditedQueue } from "../deployment.ts";

const delayEnd = "-delay.fifo";

/**
 * The queue where delayed messages of an endpoint wait. Source: NServiceBus.AmazonSQS, `DelayedMessagesPump.cs`. The
 * endpoint reads its attributes when it starts.
 *
 * @param names all queues of the account and region
 */
export function isEndpointsDelay({ name, redrive, delaySeconds }: AuditedQueue, names: ReadonlySet<string>): boolean {
  return (
    name.endsWith(delayEnd) && names.has(name.slice(0, -delayEnd.length)) && redrive === null && (delaySeconds ?? 0) > 0
  );
}

export function hasEndpointsDelay({ name }: AuditedQueue, names: ReadonlySet<string>): boolean {
  return names.has(`${name}${delayEnd}`);
}

/** The fact about such a queue. */
export const delayOfEndpoint =
  "delayed messages of NServiceBus wait in it, and it stays as it is: the endpoint does not start with a lower DelaySeconds or with a redrive policy";

/** The fact about the queue of such an endpoint. Source: NServiceBus, "Recoverability". */
export const scheduleOfEndpoint =
  "by its delay queue NServiceBus uses it: the endpoint's Recoverability has the schedule, by default 5 immediate retries, then 3 after 10 s, 20 s and 30 s";
