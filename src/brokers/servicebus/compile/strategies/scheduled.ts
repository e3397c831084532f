import { formatDurationMs } from "../../../../declare/duration.ts";
import { isDirect } from "../../../../plan/plan.ts";
import type { Objection } from "../../../../contract/choose-strategy.ts";
import { type Promises, broker, consumer, nobody } from "../../../../contract/promise.ts";
import type { Contract, Operation, Outcome } from "../contract.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import { attemptProperty, commonPromises, complete, copyFor, deadLetter, orderObjection, release } from "./strategy.ts";
import { count } from "../../../../contract/in-words.ts";

/**
 * The consumer schedules a copy in its own queue for the time of the next attempt, and then completes the message. The
 * copy is a new message with a delivery count of its own. So an application property carries the attempt number, and
 * the queue's max delivery count is the crash budget of each attempt. NServiceBus, MassTransit and Rebus delay in the
 * same way. Source: Service Bus documentation, "Message sequencing and timestamps".
 */
export const scheduled: Strategy = {
  name: "scheduled",
  summary: "the consumer schedules a copy for each attempt, and Service Bus counts the crashes",
  objections: (input): Objection[] => orderObjection(input),
  build,
};

function build(input: StrategyInput): StrategyOutput {
  const { retry, workQueue } = input;
  const attempts: Contract["attempts"] = retry.attempts.map(({ attempt, delayMs, delayLatestMs }) =>
    delayLatestMs === delayMs ? { attempt, delayMs } : { attempt, delayMs, delayLatestMs },
  );
  const last = [deadLetter("ATTEMPTS_EXHAUSTED")];
  const byAttempt = (delayOf: (attempt: Contract["attempts"][number]) => { from: number; to: number } | "asked") => ({
    byAttempt: [
      ...attempts.slice(1).map((each): readonly Operation[] => copyFor(each.attempt, workQueue, delayOf(each))),
      last,
    ],
  });
  return {
    ...copyingOutput(input),
    attempts,
    tiers: [],
    outcomes: copyingOutcomes(
      byAttempt(({ delayMs, delayLatestMs = delayMs }) => ({ from: delayMs, to: delayLatestMs })),
    ),
    why: copyingWhy(
      input,
      "a copy for the next attempt waits in the queue; the consumer completes the message only after Service Bus has confirmed the copy. After the last attempt there is no copy",
    ),
    ...(retry.retryAfterMaxMs !== null && {
      retryAfter: [{ upToMs: retry.retryAfterMaxMs, ...byAttempt(() => "asked") }],
    }),
    promises: {
      ...commonPromises(input),
      ...copyingPromises(input),
      timing: consumer`Service Bus holds the copy back until its time, by the clock of the service; Redeliver's consumer knows that clock by its locks, and any other is early by the time that its own clock is behind`,
    },
  };
}

/** The output that all strategies with copies by the consumer share. */
export function copyingOutput({
  retry,
}: StrategyInput): Pick<StrategyOutput, "crashDeliveries" | "maxDeliveries" | "attemptNumber" | "maxDeliveryCount"> {
  return {
    crashDeliveries: retry.crashDeliveries,
    maxDeliveries: retry.maxDeliveries,
    attemptNumber: attemptProperty,
    maxDeliveryCount: retry.crashDeliveries,
  };
}

export function copyingOutcomes(transient: Outcome): StrategyOutput["outcomes"] {
  return { success: [complete], transient, permanent: [deadLetter("PERMANENT_FAILURE")], return: [release] };
}

export function copyingWhy({ retry }: StrategyInput, transient: string): StrategyOutput["why"] {
  return {
    success: "the message is done",
    transient,
    permanent:
      "the message goes to the dead-letter queue at once, with the reason; after an abandon it would be tried again",
    return: `it comes back at once and costs no attempt, and no crash budget, say the maintainers of Service Bus; an abandon spends one of ${count(retry.crashDeliveries, "delivery", "deliveries")}`,
  };
}

export function copyingPromises(input: StrategyInput): Promises {
  const { plan, retry, deadQueue, target } = input;
  const attempts = retry.attempts.length;
  const crashes = count(retry.crashDeliveries, "crash", "crashes");
  return {
    attempts: consumer`${count(attempts, "attempt")}, counted in an application property of the copy; then the consumer dead-letters the message. A crash between copy and completion doubles it${target.duplicateDetectionMs === null ? "" : `, except for duplicates that detection drops within ${formatDurationMs(target.duplicateDetectionMs)}`}`,
    crash: broker`${crashes} on one attempt, then ${deadQueue} with MaxDeliveryCountExceeded: ${count(retry.maxDeliveries, "delivery", "deliveries")} at most`,
    "no-loop": consumer`every copy raises the attempt number, and after the last attempt there is none`,
    isolation: consumer`the copy goes into the consumer's own queue${isDirect(plan) ? "" : ", past the topic"}`,
    return: nobody`the consumer releases a returned message, and the maintainers of Service Bus say that this counts nothing; if it counts, or is an abandon, it spends crash budget: ${count(retry.crashDeliveries, "delivery", "deliveries")} of one attempt without a result and it dies`,
  };
}
