import { sqsDefaults, sqsLimits } from "./capabilities.ts";

const daySeconds = 86_400;

/** The times that the queues of a consumer keep messages. SQS deletes older messages; it never dead-letters them. */
export type Retention = ReturnType<typeof retentionOf>;

/**
 * Divides the 14 days. The work queue keeps unreceived messages for as long as the declared retention of dead letters
 * allows.
 *
 * @param retainSeconds the shortest time to keep dead letters; null if the declaration has none
 */
export function retentionOf(fifo: boolean, retainSeconds: number | null, windowSeconds: number) {
  const most = sqsLimits.retentionSeconds;
  if (fifo) return { workSeconds: most, deadSeconds: most, leftSeconds: most, windowSeconds };
  const workSeconds =
    retainSeconds === null
      ? Math.min(most, Math.max(sqsDefaults.retentionSeconds, wholeDays(windowSeconds + daySeconds)))
      : most - retainSeconds;
  return {
    workSeconds,
    deadSeconds: most,
    /**
     * The shortest time that a dead letter still has. On a standard queue the age of a message counts from its
     * publication and goes on in the dead queue; on FIFO it starts again. Source: SQS Developer Guide, "Setting up
     * dead-letter queue retention".
     */
    leftSeconds: most - workSeconds,
    /** The longest time from the first receive of a message to the receive that moves it, if consumers keep receiving. */
    windowSeconds,
  };
}

function wholeDays(seconds: number): number {
  return Math.ceil(seconds / daySeconds) * daySeconds;
}
