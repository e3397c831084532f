import { causes } from "./message-graph.ts";
import type { ConsumerResult, CountOf, RetryStorm } from "./result.ts";
import type { Samples } from "./samples.ts";
import { createSamples, percentilesOf } from "./samples.ts";
import type { ConsumerScenario } from "./scenario.ts";

/** What is counted for one consumer while a simulation runs. */
export interface Tally {
  published: number;
  succeeded: number;
  lost: number;
  duplicated: number;
  deliveries: number;
  runs: number;
  crashes: number;
  /** By the number of the cause. */
  readonly outcomes: number[];
  readonly deadByCause: number[];
  /** Indexed by what they are counted by; where nothing was counted there may be a gap. */
  readonly deadByAttempt: number[];
  readonly byDeliveries: number[];
  readonly byRuns: number[];
  readonly toSuccess: Samples;
  readonly toDeadLetter: Samples;
  /** How long handlers were busy, all together, while messages arrived. */
  busyUs: number;
  /** The window that the clock is in, and the worst one until now. */
  window: number;
  windowArrivals: number;
  windowRedeliveries: number;
  worstWindow: number;
  worstArrivals: number;
  worstRedeliveries: number;
}

/** Long enough that an even trickle is no storm, and short against the outages that cause one. */
export const stormWindowMs = 10_000;

/** @param key for the choice of what percentiles are taken from, where there is too much to keep */
export function createTally(key: number): Tally {
  return {
    published: 0,
    succeeded: 0,
    lost: 0,
    duplicated: 0,
    deliveries: 0,
    runs: 0,
    crashes: 0,
    outcomes: causes.map(() => 0),
    deadByCause: causes.map(() => 0),
    deadByAttempt: [],
    byDeliveries: [],
    byRuns: [],
    toSuccess: createSamples(key),
    toDeadLetter: createSamples(~key),
    busyUs: 0,
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

/** Before an arrival or a redelivery is counted: closes the window that ended before. */
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
      byCause: causes
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
