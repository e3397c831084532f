import type { Objection } from "../../broker.ts";
import type { Operation } from "../contract.ts";
import type { RetryAfterStep } from "../../contract.ts";
import type { AttemptPlan } from "../../../plan/schedule.ts";
import { attemptKeyPrefix, sharedAgainExchange, undeliverable, waitQueue } from "../names.ts";
import { addBinding, addExchange, addQueue } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";
import { mostWaits, spreadWaits } from "../spread.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  addDeadQueue,
  originalRoutingKeyHeader,
  publishWaiting,
  addWorkQueue,
  commonPromises,
  count,
  promise,
  protocolObjection,
  provableObjection,
  publishDead,
  publisherPromises,
} from "./strategy.ts";

/**
 * Queues in which the messages of all consumers wait, one per distinct delay. The consumer publishes a copy there
 * and then acknowledges; the copy's routing key says which consumer and which attempt it is for.
 *
 * Only the head of a queue expires. So jitter is a choice between queues, and no shorter time to live in one of them: of a
 * burst in a single queue nearly all copies would leave together, behind the one with the longest. A copy that waits for the
 * whole time of its queue is held up by nobody.
 *
 * A delay that the handler chose is a shorter time to live than its queue's. Such a copy may wait behind another one, but never
 * longer than its queue's time to live, and never too short.
 */
export const waits: Strategy = {
  name: "waits",
  protocol: "amqp-0-9-1",
  summary: "shared wait queues, one per distinct delay; the consumer publishes a copy, then acknowledges",
  objections: (input: StrategyInput): Objection[] => [
    ...protocolObjection(input, "amqp-0-9-1"),
    ...provableObjection(input),
  ],
  build,
};

function build(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): StrategyOutput {
  const { retry, names, system } = input;
  const attempts = retry.attempts.length;
  addDeadQueue(draft, input);
  if (attempts > 1) {
    addShared(draft, input, shared);
    for (const waitMs of retry.attempts.slice(1).flatMap(spreadWaits)) addWait(draft, input, shared, waitMs);
    for (const upToMs of ladder(retry.retryAfterMaxMs)) addWait(draft, input, shared, upToMs);
  }
  addWorkQueue(draft, input, { deadLetterExchange: names.dead, deliveryLimit: retry.crashDeliveries - 1 });
  for (const { attempt } of retry.attempts.slice(1)) {
    addBinding(draft, {
      source: sharedAgainExchange(system),
      destination: names.workQueue,
      routingKey: names.attemptKey(attempt),
    });
  }
  return {
    maxDeliveries: retry.maxDeliveries,
    outcomes: {
      success: [{ operation: "basic.ack" }],
      transient: {
        byAttempt: [
          ...retry.attempts.slice(1).map((each) => waitSomewhere(input, each)),
          [{ operation: "basic.nack", requeue: false }],
        ],
      },
      permanent: [publishDead(input, "PERMANENT_FAILURE"), { operation: "basic.ack" }],
      return: [{ operation: "basic.nack", requeue: true }],
    },
    why: {
      success: "the message is done",
      transient:
        "a copy waits for the next attempt; only when the broker has confirmed it is the message acknowledged. After the last attempt the queue dead-letters by itself",
      permanent:
        "a copy goes to the dead queue with the reason on it; only when the broker has confirmed it is the message acknowledged",
      return: input.capabilities.returnsCount
        ? "with requeue the message comes back at once and costs no attempt, but on this version it spends crash budget"
        : "with requeue the message comes back at once and costs neither an attempt nor crash budget",
    },
    attemptNumber: {
      from: "routing-key",
      prefix: attemptKeyPrefix(system, input.plan.consumer),
      originalRoutingKey: { header: originalRoutingKeyHeader },
    },
    ...(retry.retryAfterMaxMs === null ? {} : { retryAfter: retryAfterSteps(input) }),
    promises: promisesOf(input),
  };
}

/** A copy waits in one of the queues at random. The longest is the operation's own: it keeps the contract whoever ignores the others. */
function waitSomewhere({ system, names }: StrategyInput, attempt: AttemptPlan): readonly Operation[] {
  const places = spreadWaits(attempt).map((waitMs) => ({
    exchange: waitQueue(system, waitMs),
    expirationMs: { from: waitMs, to: waitMs },
  }));
  const longest = places.at(-1) as (typeof places)[number];
  return publishWaiting(names.attemptKey(attempt.attempt), longest, places.slice(0, -1));
}

/** Delays that a handler may ask for wait in queues whose longest delays double, so none waits more than twice as long. */
function ladder(maxMs: number | null): number[] {
  if (maxMs === null) return [];
  const rungs: number[] = [];
  for (let rungMs = 1_000; rungMs < maxMs; rungMs *= 2) rungs.push(rungMs);
  return [...rungs, maxMs];
}

function retryAfterSteps(input: StrategyInput): RetryAfterStep<Operation>[] {
  const { retry } = input;
  return ladder(retry.retryAfterMaxMs).map((upToMs) => ({
    upToMs,
    byAttempt: [
      ...retry.attempts.slice(1).map((each) =>
        publishWaiting(input.names.attemptKey(each.attempt), {
          exchange: waitQueue(input.system, upToMs),
          expirationMs: "asked",
        }),
      ),
      [{ operation: "basic.nack", requeue: false }],
    ],
  }));
}

function addWait(draft: TopologyDraft, input: StrategyInput, shared: Set<string>, longestMs: number): void {
  const name = waitQueue(input.system, longestMs);
  if (shared.has(name)) return;
  shared.add(name);
  addExchange(draft, { name, role: "wait", kind: "fanout", consumer: null });
  addQueue(draft, input.capabilities, {
    name,
    role: "wait",
    consumer: null,
    deadLetterExchange: sharedAgainExchange(input.system),
    tuning: { "message-ttl": longestMs },
  });
  addBinding(draft, { source: name, destination: name });
}

/**
 * The exchange that brings back what is due. A message whose consumer no longer exists goes to a queue of its own:
 * without a route it would stay at the head of at-least-once dead-lettering and hold up every other consumer.
 */
function addShared(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): void {
  const name = undeliverable(input.system);
  if (shared.has(name)) return;
  shared.add(name);
  addExchange(draft, { name, role: "undeliverable", kind: "fanout", consumer: null });
  addQueue(draft, input.capabilities, {
    name,
    role: "undeliverable",
    consumer: null,
    deadLetterExchange: null,
    tuning: {},
  });
  addBinding(draft, { source: name, destination: name });
  addExchange(draft, {
    name: sharedAgainExchange(input.system),
    role: "again",
    kind: "direct",
    consumer: null,
    alternateExchange: name,
  });
}

function promisesOf(input: StrategyInput): StrategyOutput["promises"] {
  const { retry } = input;
  const attempts = retry.attempts.length;
  const crashes = retry.crashDeliveries;
  return [
    ...commonPromises(input),
    promise(
      input,
      "attempts",
      "consumer",
      `${count(attempts, "attempt")}, counted in the routing key of the copy; a crash between copy and acknowledgement doubles the message`,
    ),
    promise(
      input,
      "crash",
      "broker",
      `${count(crashes, "crash", "crashes")} on one attempt, then the dead queue: ${count(retry.maxDeliveries, "delivery", "deliveries")} at most`,
    ),
    promise(
      input,
      "no-loop",
      "consumer",
      "every copy raises the attempt number, and after the last attempt there is none",
    ),
    promise(
      input,
      "timing",
      "broker",
      `a copy waits for at least its delay, and at most for its queue's${retry.jitterPercent === 0 ? "" : `; jitter is a choice between ${mostWaits} queues at most, from the delay to the delay with all jitter: copies that failed together come back in as many groups`}`,
    ),
    promise(input, "isolation", "broker", "the attempt key names the consumer, and only its queue is bound to it"),
    ...publisherPromises(input),
  ];
}
