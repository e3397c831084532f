import type { AttemptPlan } from "../../../plan/schedule.ts";

/** Each step costs a queue. Each further step takes less off the largest group of a burst than the one before. */
const mostSteps = 4;

export const mostWaits = mostSteps + 1;

/** Groups that are closer than this run into one on their way through the broker. */
const shortestStepMs = 10;

/** If only the shortest step limits the number of steps, each step is shorter than this. */
export const waitGrainMs = 2 * shortestStepMs;

/**
 * The waits that jitter is spread over. They lie evenly from the delay to the delay with all of its jitter, including
 * both. If each is as likely as the others, they have the mean of the whole range.
 *
 * @returns whole milliseconds, ascending; only one without jitter
 */
export function spreadWaits({
  delayMs,
  delayLatestMs,
}: Pick<AttemptPlan, "delayMs" | "delayLatestMs">): readonly number[] {
  const rangeMs = delayLatestMs - delayMs;
  if (rangeMs === 0) return [delayMs];
  const steps = Math.min(mostSteps, Math.max(1, Math.floor(rangeMs / shortestStepMs)));
  return Array.from({ length: steps + 1 }, (_, step) => delayMs + Math.round((rangeMs * step) / steps));
}
