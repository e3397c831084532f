import { type Backoff, delayFunction } from "../declare/backoff.ts";

/** The due time of one attempt. All times are whole milliseconds. */
export interface AttemptPlan {
  /** 1 for the first. */
  readonly attempt: number;
  /** The shortest wait, counted from the failure of the attempt before; 0 for the first. */
  readonly delayMs: number;
  /** The longest wait: the delay with all of its jitter. */
  readonly delayLatestMs: number;
  /** The earliest moment, counted from the first delivery, if every handler failed at once. */
  readonly dueMs: number;
  /** The same with all of the jitter. */
  readonly dueLatestMs: number;
}

/**
 * The timeline of a backoff. Jitter is added to the delay, never taken off, so `delayMs` is a lower bound.
 *
 * @returns one entry per attempt, the first at 0
 */
export function schedule(backoff: Backoff, attempts: number): readonly AttemptPlan[] {
  const delayOf = delayFunction(backoff);
  const jitterPercent = jitterPercentOf(backoff);
  const timeline: AttemptPlan[] = [];
  let dueMs = 0;
  let dueLatestMs = 0;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const delayMs = attempt === 1 ? 0 : delayOf(attempt - 2);
    const delayLatestMs = delayMs + Math.floor((delayMs * jitterPercent) / 100);
    dueMs += delayMs;
    dueLatestMs += delayLatestMs;
    timeline.push(Object.freeze({ attempt, delayMs, delayLatestMs, dueMs, dueLatestMs }));
  }
  return timeline;
}

/** The most that jitter adds to a delay, in percent of it; 0 for none. */
export function jitterPercentOf(backoff: Backoff): number {
  if (!("jitter" in backoff) || backoff.jitter === undefined) return 0;
  return Number(backoff.jitter.slice(0, -1));
}
