import { formatDurationMs } from "../../../../declare/duration.ts";
import { type Objection, sharedCounterObjection } from "../../../../contract/choose-strategy.ts";
import { broker, consumer, nobody } from "../../../../contract/promise.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import { abandon, closeSession, commonPromises, complete, deadLetter, release } from "./strategy.ts";
import { count } from "../../../../contract/in-words.ts";

/**
 * The max delivery count is the number of attempts. An abandoned message is available again at once, and Service Bus
 * dead-letters it after the last attempt. There is no delay: users have asked for "abandon with delay" since 2016
 * (azure-service-bus issue 454). Source: Service Bus documentation, "Overview of Service Bus dead-letter queues".
 */
export const immediate: Strategy = {
  name: "immediate",
  summary: "Service Bus counts the deliveries, and dead-letters after the last",
  objections,
  build,
};

function objections({ retry }: StrategyInput): Objection[] {
  const found: Objection[] = [];
  const delayed = retry.attempts.find(({ delayMs }) => delayMs > 0);
  if (delayed !== undefined) {
    const reason = `an abandoned message returns at once; the delay before attempt ${delayed.attempt} is ${formatDurationMs(delayed.delayMs)}`;
    found.push({ reason, path: ["retry", "backoff"], edit: 'set backoff to { kind: "immediate" }' });
  }
  if (retry.retryAfterMaxMs !== null) {
    const reason = "a delay that the handler chooses: an abandoned message returns at once";
    found.push({ reason, path: ["retry", "retryAfter"], edit: "leave retryAfter out" });
  }
  return [...found, ...sharedCounterObjection(retry, "the one counter, the delivery count")];
}

function build(input: StrategyInput): StrategyOutput {
  const attempts = input.retry.attempts.length;
  const deliveries = count(attempts, "delivery", "deliveries");
  return {
    attempts: input.retry.attempts.map(({ attempt, delayMs }) => ({ attempt, delayMs })),
    crashDeliveries: null,
    maxDeliveries: attempts,
    attemptNumber: { from: "delivery-count" },
    maxDeliveryCount: attempts,
    tiers: [],
    outcomes: {
      success: [complete],
      transient: [abandon],
      permanent: [deadLetter("PERMANENT_FAILURE")],
      return: [input.sessions ? closeSession : release],
    },
    why: {
      success: "the message is done",
      transient: `the message returns at once; the abandon of delivery ${attempts} dead-letters it`,
      permanent:
        "the message goes to the dead-letter queue at once, with the reason; after an abandon it would be tried again",
      return: input.sessions
        ? "the message and every other unsettled one of the session return at once and in order, and nothing counts. Not after a failure: nothing would stop a consumer that always does that"
        : "it comes back at once and costs nothing, say the maintainers of Service Bus; an abandon would count like a failed attempt. Closing the receiver without a release leaves the message locked",
    },
    promises: {
      ...commonPromises(input),
      attempts: broker`${deliveries}, then ${input.deadQueue} with MaxDeliveryCountExceeded`,
      crash: broker`a crash counts as an attempt when the lock ends, ${formatDurationMs(input.target.lockMs)} after its last renewal: ${deliveries} at most`,
      "no-loop": broker`the delivery count ends every series of deliveries`,
      isolation: broker`a retry never leaves the consumer's own queue or subscription`,
      timing: broker`no delay is declared, and an abandoned message returns at once`,
      return: input.sessions
        ? consumer`a returned message costs nothing: the consumer closes its session, which counts nothing`
        : nobody`the consumer releases a returned message, and the maintainers of Service Bus say that this counts nothing; if it counts, or is an abandon, it costs an attempt: after ${deliveries} without a success the message dies, tried or not`,
    },
  };
}
