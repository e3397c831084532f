import { formatDurationMs } from "../../../../declare/duration.ts";
import { type Objection, sharedCounterObjection } from "../../../../contract/choose-strategy.ts";
import { consumer } from "../../../../contract/promise.ts";
import { sqsLimits } from "../capabilities.ts";
import type { Contract, Operation } from "../contract.ts";
import type { Retention } from "../retention.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  commonOutcomes,
  commonPromises,
  handlingSeconds,
  inFlight,
  namedByLambda,
  visibleAfter,
  wholeSecondsObjection,
  sharedCounter,
} from "./strategy.ts";

/**
 * After each failure the consumer sets the time until the message may be received again. SQS counts the receives and
 * moves a message that has used all of them. The queue's own visibility timeout covers the handler, and is the wait
 * after a crash. Source: API Reference, `ChangeMessageVisibility`.
 */
export const visibility: Strategy = {
  name: "visibility",
  summary: "the consumer sets the visibility timeout of a failed message, and SQS counts the receives",
  objections,
  visibilityTimeoutSeconds: handlingSeconds,
  windowSeconds,
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, fifo } = input;
  const path = ["retry", "backoff"];
  const found = [...sharedCounterObjection(input.retry, sharedCounter), ...wholeSecondsObjection(input)];
  if (fifo && longestDelaySeconds(input) > 0) {
    const reason =
      "a delay for one message alone would not hold back the others of its group in the same receive, so only the queue's own delay keeps per-key order";
    found.push({ reason, path: ["order"] });
  }
  const most = sqsLimits.visibilityTimeoutSeconds - handlingSeconds(input);
  const tooLong = retry.attempts.find(({ delayLatestMs }) => seconds(delayLatestMs) > most);
  if (tooLong !== undefined) {
    const edit = `shorten the delay to ${formatDurationMs(most * 1_000)}`;
    found.push({ reason: beyond(`before attempt ${tooLong.attempt}`, tooLong.delayLatestMs, most), path, edit });
  }
  const asked = retry.retryAfterMaxMs;
  if (asked !== null && asked % 1_000 !== 0) {
    const reason = `SQS counts whole seconds; a handler may ask for up to ${formatDurationMs(asked)}`;
    found.push({ reason, path: ["retry", "retryAfter", "max"] });
  }
  if (asked !== null && seconds(asked) > most)
    found.push({ reason: beyond("that a handler may ask for", asked, most), path: ["retry", "retryAfter", "max"] });
  return found;
}

function beyond(which: string, delayMs: number, mostSeconds: number): string {
  return `the delay ${which} is up to ${formatDurationMs(delayMs)}; ${formatDurationMs(mostSeconds * 1_000)} is the longest, since SQS hides a message for 12h from its receive, the handler's time included`;
}

/** Whole seconds, rounded down: the latest time of a delay that has jitter. */
function seconds(durationMs: number): number {
  return Math.floor(durationMs / 1_000);
}

function longestDelaySeconds({ retry }: StrategyInput): number {
  return Math.max(
    ...retry.attempts.map(({ delayLatestMs }) => seconds(delayLatestMs)),
    seconds(retry.retryAfterMaxMs ?? 0),
  );
}

/** Each attempt either takes all of the visibility timeout, or fails at the end of its handler and then waits. */
function windowSeconds(input: StrategyInput): number {
  const { retry } = input;
  const handling = handlingSeconds(input) * retry.attempts.length;
  return retry.attempts
    .slice(1)
    .reduce((sum, each) => sum + Math.max(seconds(each.delayLatestMs), seconds(retry.retryAfterMaxMs ?? 0)), handling);
}

function build(input: StrategyInput, retention: Retention): StrategyOutput {
  const { retry } = input;
  const common = commonOutcomes(input);
  const last = [visibleAfter(0)];
  const attempts: Contract["attempts"] = retry.attempts.map(({ attempt, delayMs, delayLatestMs }) => {
    const latestMs = seconds(delayLatestMs) * 1_000;
    return latestMs === delayMs ? { attempt, delayMs } : { attempt, delayMs, delayLatestMs: latestMs };
  });
  const asked: Operation = { operation: "ChangeMessageVisibility", visibilityTimeoutSeconds: "asked" };
  return {
    attempts,
    outcomes: {
      ...common.outcomes,
      transient: {
        byAttempt: [
          ...attempts
            .slice(1)
            .map(({ delayMs, delayLatestMs = delayMs }) => [visibleAfter(delayMs / 1_000, delayLatestMs / 1_000)]),
          last,
        ],
      },
    },
    why: {
      ...common.why,
      transient: `the message stays hidden until its next attempt is due, counted from this call; after the last attempt it is visible at once, and the next receive moves it${namedByLambda(input)}`,
    },
    ...(retry.retryAfterMaxMs !== null && {
      retryAfter: [{ upToMs: retry.retryAfterMaxMs, byAttempt: [...attempts.slice(1).map(() => [asked]), last] }],
    }),
    promises: {
      ...commonPromises(input, retention),
      timing: consumer`the consumer sets the visibility timeout, in whole seconds from the failure, and SQS hides the message until then; after a crash the queue's own applies, ${formatDurationMs(handlingSeconds(input) * 1_000)} after the receive. ${inFlight}`,
    },
  };
}
