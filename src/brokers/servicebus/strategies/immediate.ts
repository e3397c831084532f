import { formatDurationMs } from "../../../declare/duration.ts";
import type { Objection } from "../../broker.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import { abandon, commonPromises, complete, count, deadLetter, promise } from "./strategy.ts";

/**
 * The max delivery count is the number of attempts: what is abandoned is there again at once, and Service Bus dead-letters it after the
 * last. It knows no delay: "abandon with delay" has been asked for since 2016 (azure-service-bus issue 454).
 * Source: Service Bus documentation, "Overview of Service Bus dead-letter queues".
 */
export const immediate: Strategy = {
  name: "immediate",
  isAutomatic: true,
  summary: "Service Bus counts the deliveries, and dead-letters after the last",
  objections,
  build,
};

function objections({ retry }: StrategyInput): Objection[] {
  const found: Objection[] = [];
  const delayed = retry.attempts.find(({ delayMs }) => delayMs > 0);
  if (delayed !== undefined) {
    const reason = `an abandoned message is there again at once; the delay before attempt ${delayed.attempt} is ${formatDurationMs(delayed.delayMs)}`;
    found.push({ reason, path: ["retry", "backoff"] });
  }
  if (retry.retryAfterMaxMs !== null) {
    const reason = "a delay that the handler chooses: an abandoned message is there again at once";
    found.push({ reason, path: ["retry", "retryAfter"] });
  }
  if (retry.crashDeclared && retry.crashDeliveries !== retry.attempts.length) {
    found.push({
      reason: `attempts (${retry.attempts.length}) and crash deliveries (${retry.crashDeliveries}) share the one counter, the delivery count`,
      path: ["crash", "deliveries"],
    });
  }
  return found;
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
      return: [abandon],
    },
    why: {
      success: "the message is done",
      transient: `the message is there again at once; the abandon of delivery ${attempts} dead-letters it`,
      permanent: "it goes to the dead-letter queue at once, with the reason on it; an abandon would try it again",
      return:
        "it comes back at once, but the delivery counts like a failed attempt. Closing a receiver or a session without it leaves the message locked, and a session that is closed counts nothing: a consumer that always does that is never stopped",
    },
    promises: [
      ...commonPromises(input),
      promise(input, "attempts", "broker", `${deliveries}, then ${input.deadQueue} with MaxDeliveryCountExceeded`),
      promise(
        input,
        "crash",
        "broker",
        `a crash counts as an attempt, when the lock has run out, ${formatDurationMs(input.target.lockMs)} after its last renewal: ${deliveries} at most`,
      ),
      promise(input, "no-loop", "broker", "the delivery count ends every series of deliveries"),
      promise(input, "isolation", "broker", "a retry never leaves the consumer's own queue or subscription"),
      promise(input, "timing", "broker", "no delay is declared, and an abandoned message is there again at once"),
      promise(
        input,
        "return",
        "nobody",
        `a returned message costs an attempt: after ${deliveries} without a success it is dead, tried or not`,
      ),
    ],
  };
}
