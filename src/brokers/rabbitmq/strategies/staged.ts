import type { KeptPromise, Objection } from "../../broker.ts";
import { hasSince, rabbitmqLimits } from "../capabilities.ts";
import type { Operation } from "../contract.ts";
import { anyAttemptKey, attemptKeyPrefix } from "../names.ts";
import { addBinding, addExchange, addQueue } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  addDeadQueue,
  addWorkQueue,
  commonPromises,
  count,
  noJitterObjection,
  originalRoutingKeyHeader,
  promise,
  protocolObjection,
  provableObjection,
  publishDead,
  publisherPromises,
  publishWaiting,
} from "./strategy.ts";

/**
 * The broker alone counts and delays: a tier of its own before every attempt, and the attempt number in the routing key.
 *
 * ```
 * work ──dies──▶ failed (by reason) ──rejected──▶ retry (by attempt) ──▶ tier k ──due──▶ again ──▶ work
 *                   └── anything else ──▶ dead        └── any other attempt ──▶ dead
 * ```
 * No cycle without a rejection in it exists, so the broker's cycle rule never cuts one.
 *
 * Up to 3.12 routing cannot tell a crash from a failure once a message has failed, and a message that fails, crashes to the
 * limit and fails again would be kept in its tier for ever. There the consumer puts a copy into the tier itself, the work
 * queue dead-letters to the dead queue alone, and no cycle exists at all.
 * Source: measured in docs/broker-facts.md; rule in `rabbit_dead_letter:detect_cycles/3`, `mc:is_death_cycle/2`.
 */
export const staged: Strategy = {
  name: "staged",
  protocol: "amqp-0-9-1",
  summary: "a tier before every attempt, with the attempt number in the routing key",
  objections,
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, target, capabilities } = input;
  return [
    ...protocolObjection(input, "amqp-0-9-1"),
    ...provableObjection(input),
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
  const isRouted = routesByReason(input);
  addDeadQueue(draft, input);
  if (input.retry.attempts.length > 1) addTiers(draft, input);
  if (isRouted) addRoutes(draft, input);
  addWorkQueue(draft, input, {
    deadLetterExchange: isRouted ? input.names.failedExchange : input.names.dead,
    deliveryLimit: input.retry.crashDeliveries - 1,
  });
  if (input.retry.attempts.length > 1) {
    addBinding(draft, { source: input.names.againExchange, destination: input.names.workQueue });
  }
  return {
    maxDeliveries: maxDeliveriesOf(input),
    outcomes: {
      success: [{ operation: "basic.ack" }],
      transient: isRouted ? [{ operation: "basic.nack", requeue: false }] : { byAttempt: copies(input) },
      permanent: [publishDead(input, "PERMANENT_FAILURE"), { operation: "basic.ack" }],
      return: [{ operation: "basic.nack", requeue: true }],
    },
    why: whyOf(input, isRouted),
    attemptNumber: {
      from: "routing-key",
      prefix: attemptKeyPrefix(input.system, input.plan.consumer),
      originalRoutingKey: isRouted
        ? { death: { queue: input.names.workQueue, reason: "rejected" } }
        : { header: originalRoutingKeyHeader },
    },
    promises: promisesOf(input, isRouted),
  };
}

/** Whether the broker can tell a failure from a crash, and so move the message by itself. */
function routesByReason({ retry, capabilities }: StrategyInput): boolean {
  return capabilities.routesByLastDeath && retry.attempts.length > 1;
}

/** After each attempt but the last a copy into the tier of the next one; the last rejection ends in the dead queue. */
function copies({ retry, names }: StrategyInput): readonly (readonly Operation[])[] {
  return [
    ...retry.attempts
      .slice(1)
      .map(({ attempt }) => publishWaiting(names.tier(attempt), { exchange: "", expirationMs: null })),
    [{ operation: "basic.nack", requeue: false }],
  ];
}

function whyOf({ capabilities }: StrategyInput, isRouted: boolean): StrategyOutput["why"] {
  const moved = capabilities.deliveryCountSurvivesDeadLettering
    ? "without requeue the message goes to the tier of its next attempt; basic.reject would also count towards the crash budget on 4.3"
    : "without requeue the message goes to the tier of its next attempt";
  return {
    success: "the message is done",
    transient: isRouted
      ? moved
      : "a copy waits in the tier of the next attempt; only when the broker has confirmed it is the message acknowledged. After the last attempt the queue dead-letters by itself",
    permanent: isRouted
      ? "a rejection would be retried, so a copy goes to the dead queue first; only when the broker has confirmed it is the message acknowledged"
      : "a copy goes to the dead queue with the reason on it; only when the broker has confirmed it is the message acknowledged",
    return: capabilities.returnsCount
      ? "with requeue the message comes back at once and costs no attempt, but on this version it spends crash budget"
      : "with requeue the message comes back at once and costs neither an attempt nor crash budget",
  };
}

/** One queue per attempt after the first. What leaves it carries the number of the attempt as its routing key. */
function addTiers(draft: TopologyDraft, input: StrategyInput): void {
  const consumer = input.plan.consumer;
  addExchange(draft, { name: input.names.againExchange, role: "again", kind: "fanout", consumer });
  for (const { attempt, delayMs } of input.retry.attempts.slice(1)) {
    addQueue(draft, input.capabilities, {
      name: input.names.tier(attempt),
      role: "tier",
      consumer,
      deadLetterExchange: input.names.againExchange,
      deadLetterRoutingKey: input.names.attemptKey(attempt),
      tuning: { "message-ttl": delayMs },
    });
  }
}

/**
 * Where a rejected message goes, by its routing key: an attempt number that has a next attempt leads to its tier. Any other attempt number
 * leads to the dead queue: the last one, and one that there was before the attempts were made fewer. The rest are publishers' own keys, so
 * that was the first attempt.
 */
function addRoutes(draft: TopologyDraft, { names, retry, plan, system }: StrategyInput): void {
  const consumer = plan.consumer;
  addExchange(draft, { name: names.firstExchange, role: "first", kind: "fanout", consumer });
  addBinding(draft, { source: names.firstExchange, destination: names.tier(2) });
  addExchange(draft, {
    name: names.pastExchange,
    role: "past",
    kind: "topic",
    consumer,
    alternateExchange: names.firstExchange,
  });
  addBinding(draft, {
    source: names.pastExchange,
    destination: names.dead,
    routingKey: anyAttemptKey(system, plan.consumer),
  });
  addExchange(draft, {
    name: names.retryExchange,
    role: "retry",
    kind: "direct",
    consumer,
    alternateExchange: names.pastExchange,
  });
  for (const { attempt } of retry.attempts.slice(1, -1)) {
    addBinding(draft, {
      source: names.retryExchange,
      destination: names.tier(attempt + 1),
      routingKey: names.attemptKey(attempt),
    });
  }
  // A reason that nobody thought of has a route as well: to the dead queue.
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
}

function maxDeliveriesOf({ retry, capabilities }: StrategyInput): number {
  return capabilities.deliveryCountSurvivesDeadLettering
    ? retry.attempts.length + retry.crashDeliveries - 1
    : retry.maxDeliveries;
}

function promisesOf(input: StrategyInput, isRouted: boolean): KeptPromise[] {
  const { retry, capabilities } = input;
  const attempts = retry.attempts.length;
  const crashes = retry.crashDeliveries;
  const inWords = count(crashes, "crash", "crashes");
  const scope = capabilities.deliveryCountSurvivesDeadLettering ? ", on whatever attempts" : " on one attempt";
  const atMost = `${count(maxDeliveriesOf(input), "delivery", "deliveries")} at most`;
  const doubled = "; a crash between copy and acknowledgement doubles the message";
  return [
    ...commonPromises(input),
    promise(
      input,
      "attempts",
      isRouted ? "broker" : "consumer",
      `${count(attempts, "attempt")}, counted in the routing key, then the dead queue${isRouted ? "" : doubled}`,
    ),
    promise(input, "crash", "broker", `${inWords}${scope}, then the dead queue: ${atMost}`),
    promise(
      input,
      "no-loop",
      isRouted ? "broker" : "consumer",
      "every way back to the work queue raises the attempt number",
    ),
    promise(input, "timing", "broker", "a tier holds a message for its whole delay"),
    promise(
      input,
      "isolation",
      "broker",
      "what is due goes to an exchange that only this consumer's queue is bound to",
    ),
    ...publisherPromises(input),
  ];
}
