import { sqsDefaults, sqsLimits } from "./capabilities.ts";

const daySeconds = 86_400;

/** How long the queues of a consumer keep messages. SQS deletes what is older; it never dead-letters it. */
export interface Retention {
  readonly workSeconds: number;
  readonly deadSeconds: number;
  /**
   * The least that is left of it for a dead letter. On a standard queue the clock of a message starts when it is published and goes on
   * in the dead queue; on FIFO it starts again. Source: SQS Developer Guide, "Setting up dead-letter queue retention".
   */
  readonly leftSeconds: number;
  /** From the first receive of a message until the receive that moves it, at the latest, if somebody is receiving. */
  readonly windowSeconds: number;
}

/**
 * Divides the 14 days. Messages that nobody receives are kept as long as what is declared for dead letters allows.
 *
 * @param retainSeconds how long dead letters have to be kept at least; null where nothing is declared
 */
export function retentionOf(fifo: boolean, retainSeconds: number | null, windowSeconds: number): Retention {
  const most = sqsLimits.retentionSeconds;
  if (fifo) return { workSeconds: most, deadSeconds: most, leftSeconds: most, windowSeconds };
  const workSeconds =
    retainSeconds === null
      ? Math.min(most, Math.max(sqsDefaults.retentionSeconds, wholeDays(windowSeconds + daySeconds)))
      : most - retainSeconds;
  return { workSeconds, deadSeconds: most, leftSeconds: most - workSeconds, windowSeconds };
}

function wholeDays(seconds: number): number {
  return Math.ceil(seconds / daySeconds) * daySeconds;
}
