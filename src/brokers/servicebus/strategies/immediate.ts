import { formatDurationMs } from "../../../declare/duration.ts";
import type { Objection } from "../../broker.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import { abandon, closeSession, commonPromises, complete, count, deadLetter, promise, release } from "./strategy.ts";

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
      return: [input.sessions ? closeSession : release],
    },
    why: {
      success: "the message is done",
      transient: `the message is there again at once; the abandon of delivery ${attempts} dead-letters it`,
      permanent: "it goes to the dead-letter queue at once, with the reason on it; an abandon would try it again",
      return: input.sessions
        ? "it comes back at once and in its place, with every other message of the session that is not settled, and nothing is counted. Not after a failure: a consumer that always does that is never stopped"
        : "it comes back at once and costs nothing, by what the maintainers of Service Bus say; an abandon would count like a failed attempt. Closing the receiver without it leaves the message locked",
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
      input.sessions
        ? promise(
            input,
            "return",
            "consumer",
            "a returned message costs nothing: its session is closed, which counts none",
          )
        : promise(
            input,
            "return",
            "nobody",
            `a returned message is released, of which the maintainers of Service Bus say that it counts nothing; counted after all, or abandoned, it costs an attempt: after ${deliveries} without a success it is dead, tried or not`,
          ),
    ],
  };
}
