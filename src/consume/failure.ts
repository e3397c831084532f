import type { Duration } from "../declare/duration.ts";
import { parseDurationMs } from "../declare/duration.ts";
import { read } from "./dead-letter/summarise.ts";

/** No retry can help. Thrown by a handler, as it is or as the cause of another error. */
class PermanentError extends Error {
  override readonly name = "PermanentError";
  readonly reason: string;

  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
    // Not everybody has a compiler that looks at it, and a dead letter says it.
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
 * `throw permanent("UNKNOWN_CUSTOMER")`: the message goes to the dead queue at once, with this reason where the contract lets the consumer
 * write one.
 *
 * @param cause the error behind it
 */
export function permanent(reason: string, cause?: unknown): Error {
  return new PermanentError(reason, cause);
}

/**
 * `throw retryAfter("90s")`: a transient failure whose next attempt begins after this delay and not after the declared one. It needs
 * `retry: { retryAfter: { max } }` in the declaration, and counts as an attempt.
 *
 * @throws TypeError where the delay is no duration
 */
export function retryAfter(delay: Duration, cause?: unknown): Error {
  return new RetryAfterError(parseDurationMs(delay), cause);
}

/** What an error means for its message. */
export type Failure =
  | { readonly kind: "transient"; readonly askedMs: number | null }
  /** The reason is null where the error is permanent by its name. */
  | { readonly kind: "permanent"; readonly reason: string | null };

/** Longer chains are loops. */
const maxCauses = 20;

/** Looks at an error and its causes, from the outside in: the first one that says something decides. The default is transient. */
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

/** Whatever was thrown: of a proxy nothing at all can be asked without an error. */
export function isA<Kind>(thrown: unknown, kind: abstract new (...input: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** An error's own name, and that of its class: many classes do not set the first. */
function namesOf(error: unknown): readonly string[] {
  return [read(error, "name"), read(read(error, "constructor"), "name")].filter((name) => typeof name === "string");
}
