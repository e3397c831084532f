import type { KeptCause } from "../explore/model.ts";

/** The input of a simulation: a checked scenario with every default filled in. Durations are whole milliseconds. */
export interface Scenario {
  /** The time that messages arrive. */
  readonly durationMs: number;
  /** After that, the run goes on until every message has ended, but no longer than this. */
  readonly drainMs: number;
  /** A whole number from 0 to 4294967295. */
  readonly seed: number;
  /** Each consumer of the system with retries. */
  readonly consumers: readonly ConsumerScenario[];
}

/** The arrivals of one consumer's messages, and the work of its instances. */
export interface ConsumerScenario {
  /** The name in the declaration. */
  readonly consumer: string;
  /** At random as in a Poisson process, or evenly spaced with the first one at once. */
  readonly arrivals: {
    /** The mean number of messages a second. */
    readonly perSecond: number;
    /** `random` as in a Poisson process, or `even`. */
    readonly spacing: "random" | "even";
  };
  /** The number of processes that compete for the messages. */
  readonly instances: number;
  /** The most messages that an instance holds, and the number that it handles at a time. */
  readonly prefetch: number;
  /** The handlers of one instance that run at a time. */
  readonly concurrency: number;
  /** A handling takes any time between these two. */
  readonly handlingTime: {
    /** The shortest handling. */
    readonly fromMs: number;
    /** The longest handling. */
    readonly toMs: number;
  };
  /** The time that a crashed instance is away. */
  readonly restartMs: number;
  /** The share of the handlings with each end; the rest are successes. */
  readonly outcomes: Shares;
  /** The share of the messages with the same end at every handling. */
  readonly poison: Shares;
  /** The changes over time: one phase after the other, the first at 0. */
  readonly phases: readonly Phase[];
}

/** A simulated consumer, as far as the rules of a scenario need it. */
export interface Simulated {
  /** The name in the declaration. */
  readonly consumer: string;
  /** True if its handlers may ask for a delay of their own. */
  readonly hasRetryAfter: boolean;
}

/** Fractions of 1. */
export type Shares = Readonly<Record<Ending, number>>;
/** The possible ends of a handling, apart from success. */
export type Ending = Exclude<KeptCause, "success" | "delivery" | "time">;

/** A stretch of time without changes for a consumer. */
export interface Phase {
  /** Its beginning. It lasts until the next phase. */
  readonly fromMs: number;
  /** The number of arrivals is multiplied by this. */
  readonly arrivalFactor: number;
  /** No instance takes messages. Delivered messages without a handler go back to the broker. */
  readonly isStopped: boolean;
  /** The end of every handling in this phase. Null for the usual outcomes. */
  readonly outage: Outage | null;
}

/** Every handling that begins fails in this way. */
export interface Outage {
  /** The end of every handling while the outage lasts. */
  readonly outcome: "transient" | "crash";
  /** The time that a handling takes until it fails; null for the usual time. */
  readonly failsAfterMs: number | null;
}

export const scenarioLimits = Object.freeze({
  /** A run of this size takes about a minute. */
  messages: 10_000_000,
  /** Of all consumers: instances times prefetch. */
  held: 1_000_000,
  /**
   * Of one message, for each consumer: attempts times crashes, with a few states for each pair. The exploration finds
   * them in a few seconds.
   */
  states: 200_000,
});

/** The number of expected messages for a consumer: exact with even spacing, approximate with random spacing. */
export function expectedMessages({ arrivals, phases }: ConsumerScenario, durationMs: number): number {
  return phases.reduce((sum, phase, index) => {
    const toMs = Math.min(phases[index + 1]?.fromMs ?? durationMs, durationMs);
    return sum + (Math.max(0, toMs - phase.fromMs) / 1_000) * arrivals.perSecond * phase.arrivalFactor;
  }, 0);
}
