import { type Objection, sharedCounterObjection, unless } from "../../../../contract/choose-strategy.ts";
import { broker, consumer } from "../../../../contract/promise.ts";
import { hasSince } from "../capabilities.ts";
import type { ModifiedOperation } from "../contract.ts";
import { deadExchange } from "../names.ts";
import type { TopologyDraft } from "../topology.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import { addDeadQueue, addWorkQueue, commonPromises, protocolObjection, sharedCounter, queuesOf } from "./strategy.ts";
import { count } from "../../../../contract/in-words.ts";

/**
 * An AMQP 1.0 consumer names the time of the next delivery in the outcome itself (`x-opt-delivery-time`), and the queue
 * counts. A dead letter receives its metadata in the same, atomic outcome. Source: docs "Message Deferral" (4.3);
 * measured in docs/broker-facts.md.
 */
export const deferred: Strategy = {
  name: "deferred",
  protocol: "amqp-1.0",
  summary: "the consumer's outcome names the time of the next attempt, and the queue waits and counts",
  objections,
  queues: (input) => queuesOf(input, 0),
  build,
};

function objections(input: StrategyInput): Objection[] {
  const isNewEnough = hasSince(input.target, input.capabilities.deferralSincePatch);
  return [
    ...unless(isNewEnough, "a delivery time in the outcome needs RabbitMQ 4.3"),
    ...protocolObjection(input, "amqp-1.0"),
    ...sharedCounterObjection(input.retry, sharedCounter),
  ];
}

function dead(input: StrategyInput, reason: string): ModifiedOperation {
  return Object.freeze({
    operation: "modified",
    deliveryFailed: true,
    undeliverableHere: true,
    messageAnnotations: Object.freeze({
      "x-opt-dlq-original-queue": input.names.workQueue,
      "x-opt-dlq-failure-reason": reason,
    }),
  });
}

function build(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): StrategyOutput {
  const { retry } = input;
  addDeadQueue(draft, input, shared);
  const attempts = retry.attempts.length;
  addWorkQueue(draft, input, {
    deadLetterExchange: deadExchange(input.prefix),
    deliveryLimit: attempts - 1,
  });
  const exhausted = [dead(input, "ATTEMPTS_EXHAUSTED")];
  const after = (deliveryTimeMs: NonNullable<ModifiedOperation["deliveryTimeMs"]>): ModifiedOperation[] => [
    { operation: "modified", deliveryFailed: true, undeliverableHere: false, deliveryTimeMs },
  ];
  return {
    maxDeliveries: attempts,
    outcomes: {
      success: [{ operation: "accepted" }],
      transient: {
        byAttempt: [
          ...retry.attempts.slice(1).map((each) => after({ from: each.delayMs, to: each.delayLatestMs })),
          exhausted,
        ],
      },
      permanent: [dead(input, "PERMANENT_FAILURE")],
      return: [{ operation: "released" }],
    },
    why: {
      success: "the message is done",
      transient:
        "modified with delivery-failed counts as a failed delivery, and x-opt-delivery-time delays the message until then by the broker's clock; after the last attempt the broker dead-letters it with the reason",
      permanent: "undeliverable-here dead-letters at once, and the annotations travel with the dead letter, atomically",
      return: "released is not a failed delivery: it costs no attempt, and the message comes back at once",
    },
    attemptNumber: { from: "header", header: "delivery-count" },
    ...(retry.retryAfterMaxMs !== null && {
      retryAfter: [
        {
          upToMs: retry.retryAfterMaxMs,
          byAttempt: [...retry.attempts.slice(1).map(() => after("asked")), exhausted],
        },
      ],
    }),
    promises: promisesOf(input),
  };
}

function promisesOf(input: StrategyInput): StrategyOutput["promises"] {
  const attempts = input.retry.attempts.length;
  return {
    ...commonPromises(input),
    attempts: broker`${count(attempts, "failed delivery", "failed deliveries")}, then the dead queue (delivery limit ${attempts - 1})`,
    crash: broker`a crash counts as an attempt, and the message comes back at once: ${count(attempts, "delivery", "deliveries")} at most`,
    "no-loop": broker`the delivery limit ends every series of failures`,
    timing: consumer`the outcome carries the time of the next attempt by the broker's clock, and the queue holds the message back until then; Redeliver's consumer sends a message back that comes too early, and any other is early by the time that its own clock is behind`,
    isolation: broker`a retry never leaves the consumer's own queue`,
    permanent: consumer`modified with undeliverable-here dead-letters after one attempt`,
    return: broker`a released message costs no attempt`,
  };
}
