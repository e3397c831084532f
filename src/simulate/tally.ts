import { keptCauses } from "../explore/model.ts";
import type { ConsumerResult, CountOf, RetryStorm } from "./result.ts";
import { createSamples, percentilesOf } from "./samples.ts";
import type { ConsumerScenario } from "./scenario.ts";

export type Tally = ReturnType<typeof createTally>;

/** Long enough that an even trickle is no storm, and short against the outages that cause one. */
export const stormWindowMs = 10_000;

/** @param key for the random choice of the values that percentiles keep, if there are too many */
export function createTally(key: number) {
  return {
    published: 0,
    succeeded: 0,
    lost: 0,
    duplicated: 0,
    deliveries: 0,
    runs: 0,
    crashes: 0,
    /** By the number of the cause. */
    outcomes: keptCauses.map(() => 0),
    deadByCause: keptCauses.map(() => 0),
    /** The index is the attempt or the number of deliveries or runs. A missing entry means zero. */
    deadByAttempt: [] as number[],
    byDeliveries: [] as number[],
    byRuns: [] as number[],
    toSuccess: createSamples(key),
    toDeadLetter: createSamples(~key),
    /** The busy time of all handlers together, while messages arrived. */
    busyUs: 0,
    /** The current window, and the worst one until now. */
    window: 0,
    windowArrivals: 0,
    windowRedeliveries: 0,
    worstWindow: -1,
    worstArrivals: 0,
    worstRedeliveries: 0,
  };
}

export function countIn(counts: number[], number: number): void {
  while (counts.length <= number) counts.push(0);
  counts[number] = (counts[number] as number) + 1;
}

/** Call this before counting an arrival or a redelivery: it closes a window that ended before. */
export function advanceWindow(tally: Tally, atUs: number): void {
  const window = Math.floor(atUs / (stormWindowMs * 1_000));
  if (window === tally.window) return;
  if (tally.windowRedeliveries > tally.worstRedeliveries) {
    tally.worstWindow = tally.window;
    tally.worstArrivals = tally.windowArrivals;
    tally.worstRedeliveries = tally.windowRedeliveries;
  }
  tally.window = window;
  tally.windowArrivals = 0;
  tally.windowRedeliveries = 0;
}

export function consumerResultOf(
  tally: Tally,
  { consumer, instances, concurrency }: ConsumerScenario,
  durationMs: number,
  left: ConsumerResult["left"],
): ConsumerResult {
  const { published, succeeded, lost, duplicated, deliveries, runs, crashes } = tally;
  const outcome = (index: number): number => tally.outcomes[index] as number;
  return {
    consumer,
    published,
    succeeded,
    deadLettered: {
      total: tally.deadByCause.reduce((sum, messages) => sum + messages, 0),
      byAttempt: countsOf(tally.deadByAttempt),
      byCause: keptCauses
        .map((cause, index) => ({ cause, messages: tally.deadByCause[index] as number }))
        .filter(({ messages }) => messages > 0),
    },
    lost,
    duplicated,
    left,
    deliveries,
    runs,
    outcomes: {
      success: outcome(0),
      transient: outcome(1),
      "retry-after": outcome(2),
      permanent: outcome(3),
      crash: outcome(4),
      return: outcome(5),
    },
    crashes,
    messagesByDeliveries: countsOf(tally.byDeliveries),
    messagesByRuns: countsOf(tally.byRuns),
    timeToSuccess: percentilesOf(tally.toSuccess),
    timeToDeadLetter: percentilesOf(tally.toDeadLetter),
    utilisation: tally.busyUs / (instances * concurrency * durationMs * 1_000),
    storm: stormOf(tally),
  };
}

function countsOf(counts: readonly number[]): CountOf[] {
  return counts.map((messages, number) => ({ number, messages })).filter(({ messages }) => messages > 0);
}

function stormOf(tally: Tally): RetryStorm | null {
  advanceWindow(tally, Number.POSITIVE_INFINITY);
  if (tally.worstRedeliveries === 0) return null;
  return {
    fromMs: tally.worstWindow * stormWindowMs,
    lengthMs: stormWindowMs,
    redeliveries: tally.worstRedeliveries,
    arrivals: tally.worstArrivals,
  };
}
