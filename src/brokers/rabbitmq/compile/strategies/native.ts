import { formatDurationMs } from "../../../../declare/duration.ts";
import { deepFreeze } from "../../../../declare/freeze.ts";
import type { RetryPlan } from "../../../../plan/plan.ts";
import {
  type Objection,
  oneDelayObjections,
  sharedCounterObjection,
  unless,
} from "../../../../contract/choose-strategy.ts";
import { broker, consumer } from "../../../../contract/promise.ts";
import { hasSince } from "../capabilities.ts";
import { deadExchange } from "../names.ts";
import type { TopologyDraft } from "../topology.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import { addDeadQueue, addWorkQueue, commonPromises, protocolObjection, sharedCounter, queuesOf } from "./strategy.ts";
import { count, delaysInWords } from "../../../../contract/in-words.ts";

/**
 * The quorum queue delays and counts by itself. Its delay is `min(min × failures, max)`, so it is constant, or linear
 * from the first delay. Source: `rabbit_fifo:calculate_ready_at`, docs "Delayed Retry" (4.3).
 */
export const native: Strategy = {
  name: "native",
  protocol: "amqp-0-9-1",
  summary: "the queue itself delays and counts; the only other queue is the dead queue",
  objections,
  queues: (input) => queuesOf(input, 0),
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, target, capabilities } = input;
  const linear = linearDelays(retry);
  return [
    ...unless(
      hasSince(target, capabilities.delayedRetrySincePatch),
      "delayed retry in quorum queues needs RabbitMQ 4.3.1",
    ),
    ...protocolObjection(input, "amqp-0-9-1"),
    ...unless(
      retry.attempts.slice(1).every((each, index) => each.delayMs === linear[index]),
      `delayed retry grows linearly from the first delay (${linear.slice(0, 6).map(formatDurationMs).join(", ")}); declared is ${delaysInWords(retry)}`,
      ["retry", "backoff"],
    ),
    ...oneDelayObjections(retry, "the queue computes the same delay for every message"),
    ...sharedCounterObjection(retry, sharedCounter),
  ];
}

/** The delays that the broker would compute from this schedule's first and longest delay. */
function linearDelays(retry: RetryPlan): number[] {
  const delays = retry.attempts.slice(1).map((each) => each.delayMs);
  const firstMs = delays[0] ?? 0;
  const maxMs = Math.max(firstMs, ...delays);
  return delays.map((_, index) => Math.min(firstMs * (index + 1), maxMs));
}

function build(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): StrategyOutput {
  const { retry } = input;
  const delays = retry.attempts.slice(1).map((each) => each.delayMs);
  const firstMs = delays[0] ?? 0;
  addDeadQueue(draft, input, shared);
  addWorkQueue(draft, input, {
    deadLetterExchange: deadExchange(input.prefix),
    deliveryLimit: retry.attempts.length - 1,
    tuning:
      firstMs === 0
        ? { "delayed-retry-type": "disabled" }
        : {
            "delayed-retry-type": "failed",
            "delayed-retry-min": firstMs,
            "delayed-retry-max": Math.max(...delays),
          },
  });
  const attempts = retry.attempts.length;
  return {
    maxDeliveries: attempts,
    outcomes: nativeOutcomes,
    why: {
      success: "the message is done",
      transient:
        "basic.reject with requeue counts as a failed delivery, and the queue delays it; basic.nack with requeue would neither count nor wait",
      permanent: "without requeue the queue dead-letters at once, atomically",
      return:
        "basic.nack with requeue is not a failed delivery on 4.3: it costs no attempt, and the message comes back at once",
    },
    attemptNumber: { from: "header", header: "x-delivery-count" },
    promises: {
      ...commonPromises(input),
      attempts: broker`${count(attempts, "failed delivery", "failed deliveries")}, then the dead queue (delivery limit ${attempts - 1})`,
      crash: broker`a crash counts as an attempt: ${count(attempts, "delivery", "deliveries")} at most`,
      "no-loop": broker`the delivery limit ends every series of failures`,
      timing: broker`the queue holds a failed message back until it is due`,
      isolation: broker`a retry never leaves the consumer's own queue`,
      permanent: consumer`basic.nack without requeue dead-letters after one attempt`,
      return: broker`a returned message costs no attempt`,
    },
  };
}

const nativeOutcomes: StrategyOutput["outcomes"] = deepFreeze({
  success: [{ operation: "basic.ack" }],
  transient: [{ operation: "basic.reject", requeue: true }],
  permanent: [{ operation: "basic.nack", requeue: false }],
  return: [{ operation: "basic.nack", requeue: true }],
});
