import type { Duration } from "./duration.ts";

/** A share of the delay that is added to it at random, such as `"20%"`. */
export type Jitter = `${bigint}%`;

export interface ImmediateBackoff {
  readonly kind: "immediate";
}
export interface ConstantBackoff {
  readonly kind: "constant";
  readonly delay: Duration;
  readonly jitter?: Jitter | undefined;
}
export interface LinearBackoff {
  readonly kind: "linear";
  readonly first: Duration;
  readonly step?: Duration | undefined;
  readonly max?: Duration | undefined;
  readonly jitter?: Jitter | undefined;
}
export interface ExponentialBackoff {
  readonly kind: "exponential";
  readonly first: Duration;
  readonly factor: number;
  readonly max?: Duration | undefined;
  readonly jitter?: Jitter | undefined;
}
export interface StepsBackoff {
  readonly kind: "steps";
  readonly delays: readonly Duration[];
}

/** How long a failed message waits before its next attempt. */
export type Backoff = ImmediateBackoff | ConstantBackoff | LinearBackoff | ExponentialBackoff | StepsBackoff;

/** No wait: the next attempt is due at once. */
export function immediate(): ImmediateBackoff {
  return { kind: "immediate" };
}

/** The same wait before every attempt. Jitter is added to the delay, so no attempt starts before it. */
export function constant(delay: Duration, options: { readonly jitter?: Jitter } = {}): ConstantBackoff {
  return { kind: "constant", delay, ...options };
}

/** `first`, then `step` more each time (`step` is `first` where it is left out), at most `max`, plus jitter. */
export function linear(options: Omit<LinearBackoff, "kind">): LinearBackoff {
  return { kind: "linear", ...options };
}

/**
 * `first × factor^n`, at most `max`, plus jitter. Fractions of a millisecond are rounded up, so that
 * no attempt is early.
 */
export function exponential(options: Omit<ExponentialBackoff, "kind">): ExponentialBackoff {
  return { kind: "exponential", ...options };
}

/** Each wait by itself: exactly one for every attempt after the first. */
export function steps(delays: readonly Duration[]): StepsBackoff {
  return { kind: "steps", delays };
}
