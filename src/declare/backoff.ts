import { diagnosed } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import { valueText } from "../diagnostics/schema-issues.ts";
import { type Duration, durationPattern, parseDurationMs } from "./duration.ts";

/** A random share of the delay to add, such as `"20%"`. */
export type Jitter = `${bigint}%`;

export interface ImmediateBackoff {
  /** No delay: the next attempt is due at once. */
  readonly kind: "immediate";
}
export interface ConstantBackoff extends Jittered {
  /** The same delay before each attempt. */
  readonly kind: "constant";
  /** The delay before each attempt after the first. */
  readonly delay: Duration;
}
export interface LinearBackoff extends Capped {
  /** A delay that grows by the same step each time. */
  readonly kind: "linear";
  /** The delay before the second attempt. */
  readonly first: Duration;
  /** The growth of the delay. The default is the value of `first`. */
  readonly step?: Duration | undefined;
}
export interface ExponentialBackoff extends Capped {
  /** A delay that grows by the same factor each time. */
  readonly kind: "exponential";
  /** The delay before the second attempt. */
  readonly first: Duration;
  /** The factor from one delay to the next, at least 1. */
  readonly factor: number;
}
export interface StepsBackoff {
  /** A list of delays. */
  readonly kind: "steps";
  /** The delays: exactly one for each attempt after the first. */
  readonly delays: readonly Duration[];
}

interface Jittered {
  /**
   * The largest share of the delay to add at random, so that messages that failed together do not return together. It
   * is added to `max`, too. The default is none.
   */
  readonly jitter?: Jitter | undefined;
}
interface Capped extends Jittered {
  /** The longest delay. The default is no limit. */
  readonly max?: Duration | undefined;
}

/** The delay of a failed message before its next attempt. */
export type Backoff = ImmediateBackoff | ConstantBackoff | LinearBackoff | ExponentialBackoff | StepsBackoff;

const calls = {
  constant: 'constant("30s", { jitter: "20%" })',
  linear: 'linear({ first: "1s" })',
  exponential: 'exponential({ first: "1s", factor: 2 })',
  steps: 'steps(["1s", "10s", "1m"]), with all delays in the list',
} as const;

/** Refuses an argument of another form. A text that is spread into a mapping would give an answer for each letter. */
function refuseOther(call: keyof typeof calls, value: unknown): void {
  const isList = call === "steps";
  if (typeof value === "object" && value !== null && Array.isArray(value) === isList) return;
  const message = `${call} takes a ${isList ? "list" : "mapping of options"}; this is ${valueText(value)}`;
  const delay = typeof value === "string" && durationPattern.test(value) ? value : "1s";
  throw refused(diagnosed("RD101", { path: call, message, value, help: `write ${calls[call].replace("1s", delay)}` }));
}

/** No wait: the next attempt is due at once. */
export function immediate(): ImmediateBackoff {
  return { kind: "immediate" };
}

/**
 * The same wait before every attempt. Jitter is added to the delay, so no attempt starts before it.
 * Throws RefusedError if `options` is no mapping.
 */
export function constant(delay: Duration, options: Jittered = {}): ConstantBackoff {
  refuseOther("constant", options);
  return { kind: "constant", delay, ...options };
}

/**
 * `first`, then `step` more each time, at most `max`, plus jitter. `step` defaults to `first`.
 * Throws RefusedError if `options` is no mapping.
 */
export function linear(options: Omit<LinearBackoff, "kind">): LinearBackoff {
  refuseOther("linear", options);
  return { kind: "linear", ...options };
}

/**
 * `first × factor^n`, at most `max`, plus jitter. Fractions of a millisecond are rounded up, so that
 * no attempt is early. Throws RefusedError if `options` is no mapping.
 */
export function exponential(options: Omit<ExponentialBackoff, "kind">): ExponentialBackoff {
  refuseOther("exponential", options);
  return { kind: "exponential", ...options };
}

/** Each wait by itself: exactly one for every attempt after the first. Throws RefusedError without a list. */
export function steps(delays: readonly Duration[]): StepsBackoff {
  refuseOther("steps", delays);
  return { kind: "steps", delays };
}

/** The delay after `failures + 1` failures. Durations are parsed once for each consumer, not for each attempt. */
export function delayFunction(backoff: Backoff): (failures: number) => number {
  switch (backoff.kind) {
    case "immediate":
      return () => 0;
    case "constant": {
      const delayMs = parseDurationMs(backoff.delay);
      return () => delayMs;
    }
    case "linear": {
      const firstMs = parseDurationMs(backoff.first);
      const stepMs = backoff.step === undefined ? firstMs : parseDurationMs(backoff.step);
      const maxMs = backoff.max === undefined ? Number.POSITIVE_INFINITY : parseDurationMs(backoff.max);
      return (failures) => Math.min(maxMs, firstMs + failures * stepMs);
    }
    case "exponential": {
      const firstMs = parseDurationMs(backoff.first);
      const maxMs = backoff.max === undefined ? Number.POSITIVE_INFINITY : parseDurationMs(backoff.max);
      return (failures) => Math.min(maxMs, Math.ceil(firstMs * backoff.factor ** failures));
    }
    case "steps": {
      const delays = backoff.delays.map(parseDurationMs);
      return (failures) => delays[failures] ?? 0;
    }
    default:
      return backoff satisfies never;
  }
}
