import type { AttemptPlan } from "../../plan/schedule.ts";

/** Each step costs a queue, and each further one takes less off the largest group of a burst than the one before did. */
const mostSteps = 4;

/** How many waits there are at most. */
export const mostWaits = mostSteps + 1;

/** Groups that are nearer to each other run into one on their way through the broker. */
const shortestStepMs = 10;

/** No step is as long as this because of the shortest one alone. */
export const waitGrainMs = 2 * shortestStepMs;

/**
 * The waits that jitter is spread over: evenly from the delay to the delay with all of its jitter, both among them. If each is
 * as likely as the others, they have the mean of the whole range.
 *
 * @returns whole milliseconds, ascending; one alone where there is no jitter
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
