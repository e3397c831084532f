import { type Objection, oneDelayObjections, unless } from "../../../../contract/choose-strategy.ts";
import { type Promises, broker } from "../../../../contract/promise.ts";
import { hasSince, rabbitmqLimits } from "../capabilities.ts";
import {
  againExchange,
  attemptExchange,
  attemptExchangePrefix,
  deadExchange,
  scheduleNames,
  tierQueue,
} from "../names.ts";
import { lengthObjection } from "../queue-arguments.ts";
import { addBinding, addExchange, addQueue, addQueueWithExchange, addWayOn } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  addDeadQueue,
  addWayBack,
  addWorkQueue,
  commonPromises,
  isNew,
  protocolObjection,
  publishDead,
  publisherPromises,
  queuesOf,
} from "./strategy.ts";
import { count } from "../../../../contract/in-words.ts";

/**
 * The broker alone counts and delays. Messages wait for each further attempt in a tier that consumers share.
 *
 * ```
 * work ──dies──▶ failed ──▶ reasons ──rejected──▶ attempts ──▶ tier k ──due──▶ attempt k ──▶ again ──▶ work
 *                              └── anything else ──▶ dead  └── after the last attempt ──▶ dead
 * ```
 * - The routing key names the consumer. The work queue sets it at the first death, and the tiers keep it.
 * - The exchange that a message came through names the attempt: each tier sends to the exchange of its attempt. When the
 *   work queue rejects the message, the broker notes this exchange in `x-last-death-exchange` and routes by it.
 *
 * So a message finds its way by its own queue's last death alone. Earlier deaths elsewhere do not matter, and neither do
 * headers that a publisher sets, because the broker overwrites them. Every cycle has a rejection in it, so the broker's
 * cycle rule never cuts one. Source: `mc:record_death/4` (4.3.5); measured in docs/broker-facts.md.
 *
 * `failed` belongs to one consumer. A policy leads it on to the schedule, so that a new schedule takes effect at once.
 */
export const staged: Strategy = {
  name: "staged",
  protocol: "amqp-0-9-1",
  summary: "a tier before every attempt; the exchange that a message came through carries the attempt number",
  objections,
  queues: (input) => queuesOf(input, input.retry.attempts.length - 1),
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, target, capabilities } = input;
  const attempts = retry.attempts.length;
  return [
    ...protocolObjection(input, "amqp-0-9-1"),
    ...unless(
      capabilities.routesByLastDeath,
      "up to 3.12 routing sees only a message's first death, so the broker cannot tell a failure from a crash",
    ),
    ...unless(
      hasSince(target, capabilities.soundCyclesSincePatch),
      "3.13.0 to 3.13.2 drop rejected messages as cycles; 3.13.3 does not",
    ),
    ...lengthObjection(input.plan, retry),
    ...oneDelayObjections(retry, "a tier has one delay for every message in it"),
    ...unless(
      attempts <= rabbitmqLimits.stagedAttempts,
      `${attempts} attempts would make ${attempts - 1} quorum queues; ${rabbitmqLimits.stagedAttempts} attempts are the most`,
      ["retry", "attempts"],
    ),
  ];
}

function build(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): StrategyOutput {
  const { names, retry, prefix, plan } = input;
  addDeadQueue(draft, input, shared);
  const isRetried = retry.attempts.length > 1;
  if (isRetried) addWayBack(draft, input, shared);
  addExchange(draft, { name: names.failedExchange, role: "failed", kind: "fanout", consumer: plan.consumer });
  addWayOn(draft, names.failedExchange, isRetried ? addSchedule(draft, input, shared) : deadExchange(prefix));
  addWorkQueue(draft, input, {
    deadLetterExchange: names.failedExchange,
    deliveryLimit: retry.crashDeliveries - 1,
  });
  if (isRetried) {
    addBinding(draft, {
      source: againExchange(prefix),
      destination: names.workQueue,
      routingKey: names.workQueue,
    });
  }
  return {
    maxDeliveries: maxDeliveriesOf(input),
    outcomes: {
      success: [{ operation: "basic.ack" }],
      transient: [{ operation: "basic.nack", requeue: false }],
      permanent: [publishDead(input), { operation: "basic.ack" }],
      return: [{ operation: "basic.nack", requeue: true }],
    },
    why: whyOf(input),
    attemptNumber: {
      from: "exchange",
      prefix: attemptExchangePrefix(prefix),
      originalRoutingKey: { death: { queue: names.workQueue, reason: "rejected" } },
    },
    promises: promisesOf(input),
  };
}

function whyOf({ capabilities }: StrategyInput): StrategyOutput["why"] {
  return {
    success: "the message is done",
    transient: capabilities.deliveryCountSurvivesDeadLettering
      ? "without requeue the message goes to the tier of its next attempt; basic.reject would also count towards the crash budget on 4.3"
      : "without requeue the message goes to the tier of its next attempt",
    permanent:
      "a rejection would be retried, so the consumer publishes a copy to the dead queue first; it acknowledges the message only after the broker has confirmed the copy",
    return: capabilities.returnsCount
      ? "with requeue the message comes back at once and costs no attempt, but on this version it spends crash budget"
      : "with requeue the message comes back at once and costs neither an attempt nor crash budget",
  };
}

/** @returns the exchange that failed messages of this schedule enter by */
function addSchedule(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): string {
  const { retry, prefix } = input;
  const tiers = retry.attempts.slice(1).map(({ attempt, delayMs }) => ({ attempt, delayMs }));
  const { reasonsExchange, attemptsExchange } = scheduleNames(
    prefix,
    tiers.map(({ delayMs }) => delayMs),
  );
  if (!isNew(shared, reasonsExchange)) return reasonsExchange;
  const names = tiers.map((tier) => addTier(draft, input, shared, tier));
  // A failure of an unknown exchange is that of the first attempt: publishers may use any exchange.
  addExchange(draft, {
    name: attemptsExchange,
    role: "attempts",
    kind: "headers",
    arguments: { "alternate-exchange": names[0] as string },
  });
  const after = (attempt: number): Readonly<Record<string, string>> => ({
    "x-match": "all-with-x",
    "x-last-death-exchange": attemptExchange(prefix, attempt),
  });
  const last = retry.attempts.length;
  for (let attempt = 2; attempt < last; attempt += 1) {
    addBinding(draft, {
      source: attemptsExchange,
      destination: names[attempt - 1] as string,
      arguments: after(attempt),
    });
  }
  // Up to this number there may have been attempts before the user lowered them. The message of such an attempt is dead.
  for (let attempt = last; attempt <= Math.max(last, rabbitmqLimits.pastAttempts); attempt += 1) {
    addBinding(draft, {
      source: attemptsExchange,
      destination: deadExchange(prefix),
      destinationKind: "exchange",
      arguments: after(attempt),
    });
  }
  // An unforeseen reason has a route as well: to the dead queue.
  addExchange(draft, {
    name: reasonsExchange,
    role: "reasons",
    kind: "headers",
    arguments: { "alternate-exchange": deadExchange(prefix) },
  });
  addBinding(draft, {
    source: reasonsExchange,
    destination: attemptsExchange,
    destinationKind: "exchange",
    arguments: { "x-match": "all-with-x", "x-last-death-reason": "rejected" },
  });
  return reasonsExchange;
}

/**
 * Adds the queue where messages wait for an attempt. They leave it through the exchange of that attempt, with the key
 * that they came with.
 *
 * @returns its name. The exchange to the first tier has the same
 */
function addTier(
  draft: TopologyDraft,
  { prefix, capabilities }: StrategyInput,
  shared: Set<string>,
  { attempt, delayMs }: { readonly attempt: number; readonly delayMs: number },
): string {
  const out = attemptExchange(prefix, attempt);
  if (isNew(shared, out)) {
    addExchange(draft, { name: out, role: "attempt", kind: "fanout" });
    addBinding(draft, { source: out, destination: againExchange(prefix), destinationKind: "exchange" });
  }
  const name = tierQueue(prefix, attempt, delayMs);
  if (!isNew(shared, name)) return name;
  const tier = { name, role: "tier", deadLetterExchange: out, tuning: { "message-ttl": delayMs } } as const;
  // An alternate exchange leads to the first tier, and bindings lead to the others.
  if (attempt === 2) addQueueWithExchange(draft, capabilities, tier);
  else addQueue(draft, capabilities, tier);
  return name;
}

function maxDeliveriesOf({ retry, capabilities }: StrategyInput): number {
  return capabilities.deliveryCountSurvivesDeadLettering
    ? retry.attempts.length + retry.crashDeliveries - 1
    : retry.maxDeliveries;
}

function promisesOf(input: StrategyInput): Promises {
  const { retry, capabilities } = input;
  const attempts = retry.attempts.length;
  const crashes = retry.crashDeliveries;
  const inWords = count(crashes, "crash", "crashes");
  const scope = capabilities.deliveryCountSurvivesDeadLettering ? ", on any attempts" : " on one attempt";
  const atMost = `${count(maxDeliveriesOf(input), "delivery", "deliveries")} at most`;
  return {
    ...commonPromises(input),
    attempts: broker`${count(attempts, "attempt")}, told apart by the exchange that the message came through, then the dead queue`,
    crash: broker`${inWords}${scope}, then the dead queue: ${atMost}`,
    "no-loop": broker`every way back to the work queue raises the attempt number`,
    timing: broker`a tier holds a message for its whole delay`,
    isolation: broker`the routing key of a waiting message names the consumer, and only its queue is bound to it`,
    ...publisherPromises(input),
  };
}
