import type { KeptPromise, Objection } from "../../broker.ts";
import { hasSince, rabbitmqLimits } from "../capabilities.ts";
import { attemptKeyPrefix } from "../names.ts";
import { addBinding, addExchange, addQueue } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  addDeadQueue,
  addWorkQueue,
  commonPromises,
  count,
  noJitterObjection,
  promise,
  protocolObjection,
  publishDead,
} from "./strategy.ts";

/**
 * The broker alone counts and delays: a tier of its own before every attempt, and the attempt number in the routing key.
 *
 * ```
 * work ──dies──▶ failed (by reason) ──rejected──▶ retry (by attempt) ──▶ tier k ──due──▶ again ──▶ work
 *                   └── anything else ──▶ dead        └── after the last attempt ──▶ dead
 * ```
 * No cycle without a rejection in it exists, so the broker's cycle rule never cuts one.
 * Source: measured in docs/broker-facts.md; rule in `rabbit_dead_letter:detect_cycles/3`, `mc:is_death_cycle/2`.
 */
export const staged: Strategy = {
  name: "staged",
  protocol: "amqp-0-9-1",
  summary: "a tier before every attempt, counted and routed by the broker alone",
  objections,
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, target, capabilities } = input;
  return [
    ...protocolObjection(input, "amqp-0-9-1"),
    ...(hasSince(target, capabilities.soundCyclesSincePatch)
      ? []
      : [{ reason: "3.13.0 to 3.13.2 drop rejected messages as cycles; 3.13.3 does not", path: [] }]),
    ...noJitterObjection(input, "a tier has one delay for every message in it"),
    ...(retry.attempts.length <= rabbitmqLimits.stagedAttempts
      ? []
      : [
          {
            reason: `${retry.attempts.length} attempts would make ${retry.attempts.length - 1} quorum queues; ${rabbitmqLimits.stagedAttempts} attempts are the most`,
            path: ["retry", "attempts"],
          },
        ]),
  ];
}

function build(draft: TopologyDraft, input: StrategyInput): StrategyOutput {
  addDeadQueue(draft, input);
  if (input.retry.attempts.length === 1) {
    addWorkQueue(draft, input, {
      deadLetterExchange: input.names.dead,
      deliveryLimit: input.retry.crashDeliveries - 1,
    });
  } else {
    addTiers(draft, input);
    addRoutes(draft, input);
    addWorkQueue(draft, input, {
      deadLetterExchange: input.names.failedExchange,
      deliveryLimit: input.retry.crashDeliveries - 1,
    });
    addBinding(draft, { source: input.names.againExchange, destination: input.names.workQueue });
  }
  return {
    maxDeliveries: maxDeliveriesOf(input),
    outcomes: {
      success: [{ operation: "basic.ack" }],
      transient: [{ operation: "basic.nack", requeue: false }],
      permanent: [publishDead(input, "PERMANENT_FAILURE"), { operation: "basic.ack" }],
      return: [{ operation: "basic.nack", requeue: true }],
    },
    why: {
      success: "the message is done",
      transient: input.capabilities.deliveryCountSurvivesDeadLettering
        ? "without requeue the message goes to the tier of its next attempt; basic.reject would also count towards the crash budget on 4.3"
        : "without requeue the message goes to the tier of its next attempt",
      permanent:
        "a rejection would be retried, so a copy goes to the dead queue first; only when the broker has confirmed it is the message acknowledged",
      return: input.capabilities.returnsCount
        ? "with requeue the message comes back at once and costs no attempt, but on this version it spends crash budget"
        : "with requeue the message comes back at once and costs neither an attempt nor crash budget",
    },
    attemptNumber: {
      from: "routing-key",
      prefix: attemptKeyPrefix(input.system, input.plan.consumer),
      originalRoutingKey: { oldestDeath: true },
    },
    promises: promisesOf(input),
  };
}

/** One queue per attempt after the first. What leaves it carries the number of the attempt as its routing key. */
function addTiers(draft: TopologyDraft, input: StrategyInput): void {
  for (const { attempt, delayMs } of input.retry.attempts.slice(1)) {
    addQueue(draft, input.capabilities, {
      name: input.names.tier(attempt),
      role: "tier",
      consumer: input.plan.consumer,
      deadLetterExchange: input.names.againExchange,
      deadLetterRoutingKey: input.names.attemptKey(attempt),
      tuning: { "message-ttl": delayMs },
    });
  }
}

function addRoutes(draft: TopologyDraft, input: StrategyInput): void {
  const { names, retry, capabilities, plan } = input;
  const consumer = plan.consumer;
  addExchange(draft, { name: names.againExchange, role: "again", kind: "fanout", consumer });
  addExchange(draft, { name: names.firstExchange, role: "first", kind: "fanout", consumer });
  addExchange(draft, {
    name: names.retryExchange,
    role: "retry",
    kind: "direct",
    consumer,
    alternateExchange: names.firstExchange,
  });
  addBinding(draft, { source: names.firstExchange, destination: names.tier(2) });
  for (const { attempt } of retry.attempts.slice(1)) {
    const isLast = attempt === retry.attempts.length;
    addBinding(draft, {
      source: names.retryExchange,
      destination: isLast ? names.dead : names.tier(attempt + 1),
      routingKey: names.attemptKey(attempt),
    });
  }
  // Either way a reason that nobody thought of has a route: to the dead queue where the last death can be told,
  // to the next attempt (which ends there) where only the first one can.
  if (capabilities.deathReasonHeader === "x-last-death-reason") {
    addExchange(draft, {
      name: names.failedExchange,
      role: "failed",
      kind: "headers",
      consumer,
      alternateExchange: names.dead,
    });
    addBinding(draft, {
      source: names.failedExchange,
      destination: names.retryExchange,
      destinationKind: "exchange",
      arguments: { "x-match": "all-with-x", "x-last-death-reason": "rejected" },
    });
    return;
  }
  addExchange(draft, {
    name: names.failedExchange,
    role: "failed",
    kind: "headers",
    consumer,
    alternateExchange: names.retryExchange,
  });
  for (const reason of ["delivery_limit", "expired", "maxlen"]) {
    addBinding(draft, {
      source: names.failedExchange,
      destination: names.dead,
      arguments: {
        "x-match": "all-with-x",
        // A message that died in another queue before it came here has had no attempt yet.
        "x-first-death-queue": names.workQueue,
        "x-first-death-reason": reason,
      },
    });
  }
}

function maxDeliveriesOf({ retry, capabilities }: StrategyInput): number {
  return capabilities.deliveryCountSurvivesDeadLettering
    ? retry.attempts.length + retry.crashDeliveries - 1
    : retry.maxDeliveries;
}

function promisesOf(input: StrategyInput): KeptPromise[] {
  const { retry, capabilities } = input;
  const attempts = retry.attempts.length;
  const crashes = retry.crashDeliveries;
  const inWords = count(crashes, "crash", "crashes");
  const atMost = `${count(maxDeliveriesOf(input), "delivery", "deliveries")} at most`;
  const crash =
    capabilities.deathReasonHeader === "x-first-death-reason" && attempts > 1
      ? `${inWords} on the first attempt, then the dead queue; after a failure ${inWords} cost an attempt: ${atMost}`
      : capabilities.deliveryCountSurvivesDeadLettering
        ? `${inWords}, on whatever attempts, then the dead queue: ${atMost}`
        : `${inWords} on one attempt, then the dead queue: ${atMost}`;
  return [
    ...commonPromises(input),
    promise(
      input,
      "attempts",
      "broker",
      `${count(attempts, "attempt")}, counted in the routing key, then the dead queue`,
    ),
    promise(input, "crash", "broker", crash),
    promise(input, "no-loop", "broker", "every way back to the work queue raises the attempt number"),
    promise(input, "timing", "broker", "a tier holds a message for its whole delay"),
    promise(
      input,
      "isolation",
      "broker",
      "what is due goes to an exchange that only this consumer's queue is bound to",
    ),
    promise(
      input,
      "permanent",
      "consumer",
      "the consumer publishes a copy to the dead queue, then acknowledges: a crash between the two doubles the dead letter",
    ),
    promise(
      input,
      "return",
      "broker",
      capabilities.returnsCount
        ? `a returned message costs no attempt, but it spends crash budget: ${crashes - 1} in a row are safe`
        : "a returned message costs no attempt",
    ),
  ];
}
