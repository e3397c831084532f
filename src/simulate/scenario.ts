import type { SimulatedCause } from "./message-graph.ts";

/** What a simulation plays: a checked scenario with every default filled in. Durations are whole milliseconds. */
export interface Scenario {
  /** Messages arrive for so long. */
  readonly durationMs: number;
  /** Then the run goes on until every message is at its end, but no longer than this. */
  readonly drainMs: number;
  /** A whole number from 0 to 4294967295. */
  readonly seed: number;
  readonly consumers: readonly ConsumerScenario[];
}

/** How the messages of one consumer arrive, and how its instances work. */
export interface ConsumerScenario {
  readonly consumer: string;
  /** At random as in a Poisson process, or with the same time between any two, the first one at once. */
  readonly arrivals: { readonly perSecond: number; readonly spacing: "random" | "even" };
  readonly instances: number;
  /** How many messages an instance holds at most, and how many of them it handles at a time. */
  readonly prefetch: number;
  readonly concurrency: number;
  /** A handling takes any time between these two. */
  readonly handlingTime: { readonly fromMs: number; readonly toMs: number };
  /** How long an instance that crashed is away. */
  readonly restartMs: number;
  /** Which share of the handlings ends in which way; the rest are successes. */
  readonly outcomes: Shares;
  /** Which share of the messages meets the same end at every handling. */
  readonly poison: Shares;
  /** What is different at which time: one after the other, the first at 0. */
  readonly phases: readonly Phase[];
}

/** Fractions of 1. */
export type Shares = Readonly<Record<Ending, number>>;
/** How a handling can end other than well. */
export type Ending = Exclude<SimulatedCause, "success" | "delivery" | "time">;

/** A stretch of time in which nothing changes for a consumer. */
export interface Phase {
  readonly fromMs: number;
  /** So many times as many messages arrive as usual. */
  readonly arrivalFactor: number;
  /** No instance takes messages; what was delivered and not begun is handed back. */
  readonly isStopped: boolean;
  readonly outage: Outage | null;
}

/** Every handling that begins fails in this way. */
export interface Outage {
  readonly outcome: "transient" | "crash";
  /** How long a handling takes until it fails; as long as any other where it is null. */
  readonly failsAfterMs: number | null;
}

/** The most that a simulation takes on. */
export const scenarioLimits = Object.freeze({
  /** A run of so many takes about a minute. */
  messages: 10_000_000,
  /** Of all consumers: instances times prefetch. */
  held: 1_000_000,
});

/** How many messages are to be expected for a consumer: exactly as many with even spacing, about as many with random one. */
export function expectedMessages({ arrivals, phases }: ConsumerScenario, durationMs: number): number {
  return phases.reduce((sum, phase, index) => {
    const toMs = Math.min(phases[index + 1]?.fromMs ?? durationMs, durationMs);
    return sum + (Math.max(0, toMs - phase.fromMs) / 1_000) * arrivals.perSecond * phase.arrivalFactor;
  }, 0);
}
