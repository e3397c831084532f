import { growingPauses } from "./port/growing-pauses.ts";

/** The limits of a breaker: the evidence that makes an outage, and the lengths of its pauses. */
export interface BreakerLimits {
  /** The evidence at which the consumer pauses. A failed first attempt counts 1. */
  readonly failures: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/**
 * Tells an outage of something that the handlers need from messages that fail by themselves. It hears the end of each
 * attempt, but none during a pause. After a pause the consumer probes one message after the other, until one succeeds
 * or the breaker asks for the next pause.
 */
export interface Breaker {
  /** @returns the length of a pause, or null to go on. While probing, null means the next message */
  readonly failed: (attempt: number) => number | null;
  /** Also ends the probing. */
  readonly succeeded: (attempt: number) => void;
  /**
   * The evidence for an outage as a share of its limit, from 0 to 1. At 1 there is an outage until an attempt succeeds.
   */
  readonly suspicion: () => number;
  /** The failures since the evidence was last at zero. */
  readonly failures: () => number;
}

/** One success outweighs this many failures, so an outage is a share of failures above 80 %. */
const successWeight = 4;
/**
 * Each earlier failure of a message divides the weight of its outcome by this. A message that can never succeed fails
 * at least four times. Most messages at their third attempt are of this kind. The page docs/breaker.md compares this
 * with a row of failures.
 */
const lessTelling = 8;
/** This many failed probes end the probing, even if their weights do not. */
const mostTried = 3;

/** With null limits, failures are never an outage. */
export function createBreaker(limits: BreakerLimits | null): Breaker {
  if (limits === null) return { failed: () => null, succeeded: () => undefined, suspicion: () => 0, failures: () => 0 };
  const pauses = growingPauses(limits.firstPauseMs, limits.longestPauseMs);
  let evidence = 0;
  let failures = 0;
  /** The weights of the failed probes. Null when the consumer does not probe. */
  let tried: number[] | null = null;
  return {
    failed: (attempt) => {
      const weight = weightOf(attempt);
      failures += 1;
      evidence = Math.min(limits.failures, evidence + weight);
      tried?.push(weight);
      const isOver = tried === null ? evidence >= limits.failures : isEnough(tried);
      if (!isOver) return null;
      tried = [];
      return pauses.next();
    },
    succeeded: (attempt) => {
      evidence = Math.max(0, evidence - successWeight * weightOf(attempt));
      if (evidence === 0) failures = 0;
      tried = null;
      pauses.reset();
    },
    suspicion: () => evidence / limits.failures,
    failures: () => failures,
  };
}

function weightOf(attempt: number): number {
  return lessTelling ** (1 - attempt);
}

function isEnough(tried: readonly number[]): boolean {
  return tried.length >= mostTried || tried.reduce((sum, weight) => sum + weight, 0) >= 1;
}
