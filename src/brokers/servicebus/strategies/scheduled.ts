import { formatDurationMs } from "../../../declare/duration.ts";
import type { KeptPromise, Objection } from "../../broker.ts";
import type { Contract, Operation, Outcome } from "../contract.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  attemptProperty,
  commonPromises,
  complete,
  copyFor,
  count,
  deadLetter,
  orderObjection,
  promise,
  release,
} from "./strategy.ts";

/**
 * The consumer schedules a copy in its own queue for the time of the next attempt, and then completes the message. The copy is a new
 * message with a delivery count of its own, so the attempt number is an application property, and the max delivery count of the queue is
 * the crash budget of each attempt. NServiceBus, MassTransit and Rebus delay in the same way.
 * Source: Service Bus documentation, "Message sequencing and timestamps".
 */
export const scheduled: Strategy = {
  name: "scheduled",
  isAutomatic: true,
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
      "a copy for the next attempt waits in the queue; only when Service Bus has answered is the message completed. After the last attempt there is no copy",
    ),
    ...(retry.retryAfterMaxMs === null
      ? {}
      : { retryAfter: [{ upToMs: retry.retryAfterMaxMs, ...byAttempt(() => "asked") }] }),
    promises: [
      ...commonPromises(input),
      ...copyingPromises(input),
      promise(
        input,
        "timing",
        "consumer",
        "the copy is there at the time that the consumer's own clock says, and not before; a clock that is behind makes it early by as much",
      ),
    ],
  };
}

/** What is the same wherever the consumer makes copies. */
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
    permanent: "it goes to the dead-letter queue at once, with the reason on it; an abandon would try it again",
    return: `it comes back at once and costs no attempt, nor any crash budget by what the maintainers of Service Bus say; an abandon spends one of ${count(retry.crashDeliveries, "delivery", "deliveries")}`,
  };
}

export function copyingPromises(input: StrategyInput): KeptPromise[] {
  const { retry, deadQueue, target } = input;
  const attempts = retry.attempts.length;
  const crashes = count(retry.crashDeliveries, "crash", "crashes");
  return [
    promise(
      input,
      "attempts",
      "consumer",
      `${count(attempts, "attempt")}, counted in an application property of the copy; then the consumer dead-letters the message. A crash between copy and completion doubles it${target.duplicateDetectionMs === null ? "" : `, but for what duplicate detection drops within ${formatDurationMs(target.duplicateDetectionMs)}`}`,
    ),
    promise(
      input,
      "crash",
      "broker",
      `${crashes} on one attempt, then ${deadQueue} with MaxDeliveryCountExceeded: ${count(retry.maxDeliveries, "delivery", "deliveries")} at most`,
    ),
    promise(
      input,
      "no-loop",
      "consumer",
      "every copy raises the attempt number, and after the last attempt there is none",
    ),
    promise(input, "isolation", "consumer", "the copy goes into the consumer's own queue, past the topic"),
    promise(
      input,
      "return",
      "nobody",
      `a returned message is released, of which the maintainers of Service Bus say that it counts nothing; counted after all, or abandoned, it spends crash budget: ${count(retry.crashDeliveries, "delivery", "deliveries")} of one attempt without a result and it is dead`,
    ),
  ];
}
