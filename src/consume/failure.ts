import { type Duration, parseDurationMs } from "../declare/duration.ts";
import { read } from "./port/read-path.ts";

/** A failure that no retry can help. A handler throws it, directly or as the cause of another error. */
class PermanentError extends Error {
  override readonly name = "PermanentError";
  readonly reason: string;

  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
    // A dead letter holds the reason, and programs without a type checker may give any value.
    this.reason = String(reason);
  }
}

/** A transient failure, with the delay that the handler wants before the next attempt. */
class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly delayMs: number;

  constructor(delayMs: number, cause: unknown) {
    super(`retry after ${delayMs} ms`, { cause });
    this.delayMs = delayMs;
  }
}

/**
 * `throw permanent("UNKNOWN_CUSTOMER")`: the message goes to the dead queue at once. It has this reason if the contract
 * lets the consumer write one.
 *
 * @param cause the error behind it
 */
export function permanent(reason: string, cause?: unknown): Error {
  return new PermanentError(reason, cause);
}

/**
 * `throw retryAfter("90s")`: a transient failure whose next attempt begins after this delay instead of the declared
 * one. It needs `retry: { retryAfter: { max } }` in the declaration, and counts as an attempt.
 *
 * @throws TypeError if the delay is not a duration
 */
export function retryAfter(delay: Duration, cause?: unknown): Error {
  return new RetryAfterError(parseDurationMs(delay), cause);
}

/** The meaning of an error for its message. */
export type Failure =
  | { readonly kind: "transient"; readonly askedMs: number | null }
  /** The reason is null if only the error's name makes it permanent. */
  | { readonly kind: "permanent"; readonly reason: string | null };

/** Longer chains are loops. */
const maxCauses = 20;

/**
 * Looks at an error and its causes, from the outside in. The first one with a known meaning decides. The default is
 * transient.
 */
export function classify(error: unknown, permanentErrors: readonly string[]): Failure {
  let current = error;
  for (let depth = 0; depth < maxCauses && current !== undefined && current !== null; depth++) {
    if (isA(current, PermanentError)) return { kind: "permanent", reason: current.reason };
    if (isA(current, RetryAfterError)) return { kind: "transient", askedMs: current.delayMs };
    if (namesOf(current).some((name) => permanentErrors.includes(name))) return { kind: "permanent", reason: null };
    current = read(current, "cause");
  }
  return { kind: "transient", askedMs: null };
}

/** Accepts any thrown value: every question to a proxy may throw. */
export function isA<Kind>(thrown: unknown, kind: abstract new (...input: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** An error's own name and that of its class, because many classes do not set the first. */
function namesOf(error: unknown): readonly string[] {
  return [read(error, "name"), read(read(error, "constructor"), "name")].filter((name) => typeof name === "string");
}
