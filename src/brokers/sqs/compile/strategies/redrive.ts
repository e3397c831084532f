import { formatDurationMs } from "../../../../declare/duration.ts";
import { type Objection, oneDelayObjections, sharedCounterObjection } from "../../../../contract/choose-strategy.ts";
import { broker, consumer } from "../../../../contract/promise.ts";
import { sqsLimits } from "../capabilities.ts";
import type { Retention } from "../retention.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  commonOutcomes,
  commonPromises,
  handlingSeconds,
  inFlight,
  namedByLambda,
  visibleAfter,
  wholeSeconds,
  wholeSecondsObjection,
  sharedCounter,
} from "./strategy.ts";
import { delaysInWords } from "../../../../contract/in-words.ts";

/**
 * The queue's own visibility timeout is the delay. A message that the consumer does not delete comes back after it.
 * After `maxReceiveCount` receives SQS moves the message. The timeout runs from the receive, so it covers the handler's
 * time and the delay. So a retry is never early, and late by the time that the handler did not use. Source: SQS
 * Developer Guide, "Amazon SQS visibility timeout", "Using dead-letter queues in Amazon SQS".
 */
export const redrive: Strategy = {
  name: "redrive",
  summary: "the queue's visibility timeout is the delay, and SQS counts the receives",
  objections,
  visibilityTimeoutSeconds,
  windowSeconds: (input) => visibilityTimeoutSeconds(input) * input.retry.attempts.length,
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, plan, lambda } = input;
  const path = ["retry", "backoff"];
  const found = [...sharedCounterObjection(input.retry, sharedCounter), ...wholeSecondsObjection(input)];
  if (new Set(retry.attempts.slice(1).map(({ delayMs }) => delayMs)).size > 1) {
    found.push({
      reason: `a queue has one visibility timeout for all attempts; declared is ${delaysInWords(retry)}`,
      path,
      edit: "use a constant backoff",
    });
  }
  const oneDelay = oneDelayObjections(retry, "a queue has one visibility timeout for all messages");
  found.push(...oneDelay.map((each) => ({ ...each, edit: `leave ${each.path.at(-1)} out` })));
  if (delaySeconds(input) > 0 && lambda !== null) {
    const reason = `Lambda starts the function at any time within the visibility timeout, so the rest of it after a failure is unknown; and it would be ${formatDurationMs(visibilityTimeoutSeconds(input) * 1_000)} here, where a function of ${formatDurationMs(lambda.timeoutSeconds * 1_000)} needs ${formatDurationMs(handlingSeconds(input) * 1_000)} at least`;
    found.push({ reason, path, edit: 'set backoff to { kind: "immediate" }' });
  } else if (delaySeconds(input) > 0 && plan.handlerTimeoutMs === null) {
    const reason =
      "the visibility timeout runs from the receive, so the delay that remains is known only with a handlerTimeout";
    found.push({ reason, path: [], edit: 'add handlerTimeout, such as "30s",' });
  }
  const seconds = visibilityTimeoutSeconds(input);
  if (seconds > sqsLimits.visibilityTimeoutSeconds) {
    found.push({
      reason: `the handler's time and the delay together are ${formatDurationMs(seconds * 1_000)}; a visibility timeout has 12h at most`,
      path,
      edit: "shorten the delay, or handlerTimeout,",
    });
  }
  return found;
}

function delaySeconds({ retry }: StrategyInput): number {
  return wholeSeconds(Math.max(0, ...retry.attempts.map(({ delayMs }) => delayMs)));
}

function visibilityTimeoutSeconds(input: StrategyInput): number {
  const delay = delaySeconds(input);
  return delay === 0 ? handlingSeconds(input) : wholeSeconds(input.plan.handlerTimeoutMs ?? 0) + delay;
}

function build(input: StrategyInput, retention: Retention): StrategyOutput {
  const { retry } = input;
  const common = commonOutcomes(input);
  const delay = delaySeconds(input);
  const visibility = visibilityTimeoutSeconds(input);
  const inWords = formatDurationMs(visibility * 1_000);
  return {
    attempts: retry.attempts.map(({ attempt, delayMs }) =>
      delayMs === 0 ? { attempt, delayMs } : { attempt, delayMs, delayLatestMs: visibility * 1_000 },
    ),
    outcomes: { ...common.outcomes, transient: delay === 0 ? [visibleAfter(0)] : [] },
    why: {
      ...common.why,
      transient:
        delay === 0
          ? `no delay is declared, so the message is visible again at once; after the last attempt the next receive moves it${namedByLambda(input)}`
          : `do nothing: ${inWords} after the receive the message comes back by itself; after the last attempt that receive moves it`,
    },
    promises: {
      ...commonPromises(input, retention),
      timing:
        delay === 0
          ? consumer`the consumer makes a failed message visible at once`
          : broker`the next attempt comes ${inWords} after the receive: ${formatDurationMs(delay * 1_000)} after the failure of a handler that used all of its time, and up to ${inWords} after one that failed at once; never earlier. ${inFlight}`,
    },
  };
}
