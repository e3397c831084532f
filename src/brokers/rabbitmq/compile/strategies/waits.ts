import type { Objection } from "../../../../contract/choose-strategy.ts";
import { broker, consumer } from "../../../../contract/promise.ts";
import type { Operation } from "../contract.ts";
import type { RetryAfterStep } from "../../../../contract/contract.ts";
import type { AttemptPlan } from "../../../../plan/schedule.ts";
import { againExchange, attemptKeyPrefix, deadExchange, waitQueue } from "../names.ts";
import { lengthObjection } from "../queue-arguments.ts";
import { addBinding, addQueueWithExchange } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";
import { mostWaits, spreadWaits } from "../spread.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategy.ts";
import {
  addDeadQueue,
  addWayBack,
  isNew,
  originalRoutingKeyHeader,
  publishWaiting,
  addWorkQueue,
  commonPromises,
  protocolObjection,
  publishDead,
  publisherPromises,
  queuesOf,
} from "./strategy.ts";
import { count } from "../../../../contract/in-words.ts";

/**
 * The messages of all consumers wait in shared queues, one for each distinct delay. The consumer publishes a copy there
 * and then acknowledges. The copy's routing key names its consumer and its attempt.
 *
 * Only the head of a queue expires. So jitter is a choice between queues, not a shorter time to live in one queue. In a
 * single queue nearly all copies of a burst would leave together, behind the one with the longest time. A copy that
 * waits for the whole time of its queue never waits for another copy.
 *
 * A delay that the handler chose is a shorter time to live than its queue's. Such a copy may wait behind another one,
 * but never longer than its queue's time to live, and never too short.
 */
export const waits: Strategy = {
  name: "waits",
  protocol: "amqp-0-9-1",
  summary: "shared wait queues, one per distinct delay; the consumer publishes a copy, then acknowledges",
  objections: (input: StrategyInput): Objection[] => [
    ...protocolObjection(input, "amqp-0-9-1"),
    ...lengthObjection(input.plan, input.retry),
  ],
  queues: (input) => queuesOf(input, new Set(waitsOf(input)).size),
  build,
};

function build(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): StrategyOutput {
  const { retry, names, prefix } = input;
  const attempts = retry.attempts.length;
  addDeadQueue(draft, input, shared);
  if (attempts > 1) {
    addWayBack(draft, input, shared);
    for (const waitMs of waitsOf(input)) addWait(draft, input, shared, waitMs);
  }
  addWorkQueue(draft, input, {
    deadLetterExchange: deadExchange(prefix),
    deliveryLimit: retry.crashDeliveries - 1,
  });
  for (const { attempt } of retry.attempts.slice(1)) {
    addBinding(draft, {
      source: againExchange(prefix),
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
      permanent: [publishDead(input), { operation: "basic.ack" }],
      return: [{ operation: "basic.nack", requeue: true }],
    },
    why: {
      success: "the message is done",
      transient:
        "a copy waits for the next attempt; the consumer acknowledges the message only after the broker has confirmed the copy. After the last attempt the queue dead-letters by itself",
      permanent:
        "the consumer publishes a copy with the reason to the dead queue; it acknowledges the message only after the broker has confirmed the copy",
      return: input.capabilities.returnsCount
        ? "with requeue the message comes back at once and costs no attempt, but on this version it spends crash budget"
        : "with requeue the message comes back at once and costs neither an attempt nor crash budget",
    },
    attemptNumber: {
      from: "routing-key",
      prefix: attemptKeyPrefix(names.workQueue),
      originalRoutingKey: { header: originalRoutingKeyHeader },
    },
    ...(retry.retryAfterMaxMs === null ? {} : { retryAfter: retryAfterSteps(input) }),
    promises: promisesOf(input),
  };
}

/** The longest times of the queues where this consumer's messages wait. Some may be the same. */
function waitsOf({ retry }: StrategyInput): number[] {
  if (retry.attempts.length === 1) return [];
  return [...retry.attempts.slice(1).flatMap(spreadWaits), ...ladder(retry.retryAfterMaxMs)];
}

/**
 * A copy waits in one of the queues at random. The operation's own queue has the longest wait, so a consumer that
 * ignores the others keeps the contract.
 */
function waitSomewhere({ prefix, names }: StrategyInput, attempt: AttemptPlan): readonly Operation[] {
  const places = spreadWaits(attempt).map((waitMs) => ({
    exchange: waitQueue(prefix, waitMs),
    expirationMs: { from: waitMs, to: waitMs },
  }));
  const longest = places.at(-1) as (typeof places)[number];
  return publishWaiting(names.attemptKey(attempt.attempt), longest, places.slice(0, -1));
}

/**
 * Handlers may ask for any delay up to the maximum. The longest delays of the wait queues double from 1 s on. So a copy
 * with a delay of 500 ms or more waits in a queue whose longest delay is at most twice its own.
 */
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
          exchange: waitQueue(input.prefix, upToMs),
          expirationMs: "asked",
        }),
      ),
      [{ operation: "basic.nack", requeue: false }],
    ],
  }));
}

function addWait(draft: TopologyDraft, input: StrategyInput, shared: Set<string>, longestMs: number): void {
  const name = waitQueue(input.prefix, longestMs);
  if (!isNew(shared, name)) return;
  addQueueWithExchange(draft, input.capabilities, {
    name,
    role: "wait",
    deadLetterExchange: againExchange(input.prefix),
    tuning: { "message-ttl": longestMs },
  });
}

function promisesOf(input: StrategyInput): StrategyOutput["promises"] {
  const { retry } = input;
  const attempts = retry.attempts.length;
  const crashes = retry.crashDeliveries;
  return {
    ...commonPromises(input),
    attempts: consumer`${count(attempts, "attempt")}, counted in the routing key of the copy; a crash between copy and acknowledgement doubles the message`,
    crash: broker`${count(crashes, "crash", "crashes")} on one attempt, then the dead queue: ${count(retry.maxDeliveries, "delivery", "deliveries")} at most`,
    "no-loop": consumer`every copy raises the attempt number, and after the last attempt there is none`,
    timing: broker`a copy waits for at least its delay, and at most for its queue's${retry.jitterPercent === 0 ? "" : `; the jitter is a choice between at most ${mostWaits} queues, from the delay to the delay with full jitter: copies that failed together come back in as many groups`}`,
    isolation: broker`the attempt key names the consumer, and only its queue is bound to it`,
    ...publisherPromises(input),
  };
}
