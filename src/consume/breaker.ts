import { ConsecutiveBreaker, ExponentialBackoff, noJitterGenerator } from "cockatiel";
import type { IBackoff } from "cockatiel";

/** When a series of failures is an outage, and how long to wait for its end. */
export interface BreakerLimits {
  /** So many transient failures in a row, and nothing is taken for a while. */
  readonly failures: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** Counts failures, and says how long to pause. When that is over, one message is tried. */
export interface Breaker {
  /** @returns how long to pause; null to go on */
  readonly failed: (isProbe: boolean) => number | null;
  readonly succeeded: () => void;
  readonly failures: () => number;
}

/** Null limits: a series of failures is never taken for an outage. */
export function createBreaker(limits: BreakerLimits | null): Breaker {
  if (limits === null) return { failed: () => null, succeeded: () => undefined, failures: () => 0 };
  const counter = new ConsecutiveBreaker(limits.failures);
  const pauses = growingPauses(limits.firstPauseMs, limits.longestPauseMs);
  return {
    failed: (isProbe) => {
      const isBroken = counter.failure() || isProbe;
      return isBroken ? pauses.next() : null;
    },
    succeeded: () => {
      counter.success();
      pauses.reset();
    },
    failures: () => counter.state,
  };
}

/** Pauses that double up to a longest one, until something succeeds. */
export function growingPauses(
  firstMs: number,
  longestMs: number,
): { readonly next: () => number; readonly reset: () => void } {
  const factory = new ExponentialBackoff({
    initialDelay: firstMs,
    maxDelay: longestMs,
    exponent: 2,
    generator: noJitterGenerator,
  });
  let current: IBackoff<unknown> | null = null;
  return {
    next: () => {
      current = current === null ? factory.next() : current.next(undefined);
      return current.duration;
    },
    reset: () => {
      current = null;
    },
  };
}
