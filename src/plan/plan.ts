import type { Backoff } from "../declare/backoff.ts";
import { parseDurationMs } from "../declare/duration.ts";
import type { Consumer, System } from "../declare/system.ts";
import { jitterPercentOf, schedule } from "./schedule.ts";
import type { AttemptPlan } from "./schedule.ts";

/** What a consumer's declaration means on any broker. All durations are whole milliseconds. */
export interface ConsumerPlan {
  readonly consumer: string;
  readonly from: Consumer["from"];
  readonly order: Consumer["order"];
  readonly protocol: Consumer["protocol"];
  readonly handlerTimeoutMs: number | null;
  /** What is retried, and how; null for a consumer whose every instance has its own queue. */
  readonly retry: RetryPlan | null;
}

export interface RetryPlan {
  /** The attempts that will be made, after `giveUpAfter` has been applied. */
  readonly attempts: readonly AttemptPlan[];
  readonly backoff: Backoff["kind"];
  /** The most that jitter adds to a delay, in percent of it; 0 for none. */
  readonly jitterPercent: number;
  /** The longest delay a handler may ask for by itself; null where it may not. */
  readonly retryAfterMaxMs: number | null;
  /** The attempts that giveUpAfter leaves out, if any. */
  readonly giveUpAfter: { readonly afterMs: number; readonly declaredAttempts: number } | null;
  /** How many deliveries may end in a crash before the message is dead. */
  readonly crashDeliveries: number;
  readonly crashDeclared: boolean;
  /** The most deliveries one message can cause: every attempt with as many crashes as are allowed. */
  readonly maxDeliveries: number;
  /**
   * From the first delivery to the dead queue in the worst case: every delay at its longest, and every delivery
   * taking the whole handler timeout (nothing where none is declared). Time spent waiting for a free consumer is not in it.
   */
  readonly worstCaseToDeadLetterMs: number;
  readonly permanentErrors: readonly string[];
  readonly retainMs: number | null;
  readonly alarmAbove: number | null;
}

/** What a whole declaration means on any broker. */
export interface Plan {
  readonly system: string;
  readonly sources: System["sources"];
  readonly consumers: readonly ConsumerPlan[];
}

/**
 * Works out what a declaration means: when each attempt is due, how long a message can take to die and how many
 * deliveries it can cause. Knows nothing of any broker.
 *
 * @param system a checked declaration, as `defineSystem` or `checkSystem` returns it
 * @returns frozen, JSON-serialisable data
 */
export function plan(system: System): Plan {
  return Object.freeze({
    system: system.name,
    sources: system.sources,
    consumers: Object.freeze(
      Object.entries(system.consumers).map(([consumer, declared]) => planConsumer(consumer, declared)),
    ),
  });
}

function planConsumer(consumer: string, declared: Consumer): ConsumerPlan {
  const handlerTimeoutMs = declared.handlerTimeout === undefined ? null : parseDurationMs(declared.handlerTimeout);
  return Object.freeze({
    consumer,
    from: declared.from,
    order: declared.order,
    protocol: declared.protocol,
    handlerTimeoutMs,
    retry: planRetry(declared, handlerTimeoutMs ?? 0),
  });
}

function planRetry(declared: Consumer, handlerTimeoutMs: number): RetryPlan | null {
  const retry = declared.retry;
  if (retry === undefined) return null;
  const all = schedule(retry.backoff, retry.attempts);
  const giveUpAfterMs = retry.giveUpAfter === undefined ? null : parseDurationMs(retry.giveUpAfter);
  const attempts = giveUpAfterMs === null ? all : all.filter((each) => each.dueLatestMs <= giveUpAfterMs);
  const crashDeliveries = declared.crash?.deliveries ?? attempts.length;
  const maxDeliveries = attempts.length * crashDeliveries;
  const lastDueMs = attempts.at(-1)?.dueLatestMs ?? 0;
  const retryAfterMaxMs = retry.retryAfter === undefined ? null : parseDurationMs(retry.retryAfter.max);
  const longestWaitMs =
    retryAfterMaxMs === null
      ? lastDueMs
      : attempts.reduce(
          (sum, each, index) => (index === 0 ? sum : sum + Math.max(each.delayLatestMs, retryAfterMaxMs)),
          0,
        );
  return Object.freeze({
    attempts: Object.freeze(attempts),
    backoff: retry.backoff.kind,
    jitterPercent: jitterPercentOf(retry.backoff),
    retryAfterMaxMs,
    giveUpAfter:
      giveUpAfterMs === null ? null : Object.freeze({ afterMs: giveUpAfterMs, declaredAttempts: retry.attempts }),
    crashDeliveries,
    crashDeclared: declared.crash !== undefined,
    maxDeliveries,
    worstCaseToDeadLetterMs: longestWaitMs + maxDeliveries * handlerTimeoutMs,
    permanentErrors: declared.errors?.permanent ?? noErrors,
    retainMs: declared.deadLetter?.retain === undefined ? null : parseDurationMs(declared.deadLetter.retain),
    alarmAbove: declared.deadLetter?.alarmAbove ?? null,
  });
}

const noErrors: readonly string[] = Object.freeze([]);
