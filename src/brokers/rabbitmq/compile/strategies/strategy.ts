import { formatDurationMs } from "../../../../declare/duration.ts";
import type { ConsumerPlan, RetryPlan } from "../../../../plan/plan.ts";
import { type Candidate, type Objection, unless } from "../../../../contract/choose-strategy.ts";
import { type Promises, broker, consumer, nobody } from "../../../../contract/promise.ts";
import { type TargetCapabilities, type RabbitmqTarget, type StrategyName, rabbitmqLimits } from "../capabilities.ts";
import type { Contract, Operation, PublishOperation } from "../contract.ts";
import { argumentsOf } from "../queue-arguments.ts";
import { type ConsumerNames, againExchange, deadExchange, undeliverable } from "../names.ts";
import { addBinding, addExchange, addQueue, addQueueWithExchange } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";

/** One consumer with a work queue, and all that a strategy needs to compile it. */
export interface StrategyInput {
  readonly target: RabbitmqTarget;
  readonly capabilities: TargetCapabilities;
  /** The beginning of the names of everything that consumers share. */
  readonly prefix: string;
  readonly plan: ConsumerPlan;
  readonly retry: RetryPlan;
  readonly names: ConsumerNames;
}

/** The part of the contract and of the promises that depends on the strategy. */
export interface StrategyOutput extends Pick<
  Contract,
  "maxDeliveries" | "outcomes" | "why" | "attemptNumber" | "retryAfter"
> {
  readonly promises: Promises;
}

/** A way of using RabbitMQ. */
export interface Strategy extends Candidate<StrategyName, StrategyInput> {
  readonly protocol: Contract["protocol"];
  /** Adds the consumer's resources to the draft. It adds shared resources only once. */
  readonly build: (draft: TopologyDraft, input: StrategyInput, shared: Set<string>) => StrategyOutput;
}

/**
 * Adds the dead queue behind the exchange for dead letters, which all consumers share. Dead letters do not go through
 * the default exchange. The right to publish there would let a consumer, or a deployment, publish to every queue.
 *
 * The routing key of each letter is the name of the work queue that it died in. So a letter in a shared dead queue tells
 * whose it is.
 */
export function addDeadQueue(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): void {
  const { names, plan, prefix, capabilities, target } = input;
  const exchange = deadExchange(prefix);
  const isShared = target.deadQueue === "shared";
  if (isNew(shared, exchange)) addExchange(draft, { name: exchange, role: "dead", kind: "direct" });
  if (!isShared || isNew(shared, `queue ${names.dead}`)) {
    addQueue(draft, capabilities, {
      name: names.dead,
      role: "dead",
      consumer: isShared ? null : plan.consumer,
      settings: plan.deadQueueSettings,
    });
  }
  addBinding(draft, { source: exchange, destination: names.dead, routingKey: names.workQueue });
  if (input.retry.park === undefined) return;
  // Nothing is bound to it, because only people park letters.
  addQueue(draft, capabilities, { name: names.parked, role: "dead", consumer: plan.consumer });
}

/**
 * The number of queues of a system with this consumer alone.
 *
 * @param waiting the number of queues where messages wait. A queue for undeliverable messages comes with them
 */
export function queuesOf({ retry }: StrategyInput, waiting: number): number {
  return (retry.park === undefined ? 2 : 3) + (waiting === 0 ? 0 : waiting + 1);
}

/** True the first time that a shared resource is needed. */
export function isNew(shared: Set<string>, name: string): boolean {
  if (shared.has(name)) return false;
  shared.add(name);
  return true;
}

/**
 * Adds the exchange that brings back due messages. A message for a deleted consumer goes to a queue of its own. Without
 * a route it would stay at the head of at-least-once dead-lettering and hold up every other consumer.
 */
export function addWayBack(draft: TopologyDraft, input: StrategyInput, shared: Set<string>): void {
  const name = undeliverable(input.prefix);
  if (!isNew(shared, name)) return;
  addQueueWithExchange(draft, input.capabilities, { name, role: "undeliverable" });
  addExchange(draft, {
    name: againExchange(input.prefix),
    role: "again",
    kind: "direct",
    arguments: { "alternate-exchange": name },
  });
}

export function addWorkQueue(
  draft: TopologyDraft,
  input: StrategyInput,
  options: {
    readonly deadLetterExchange: string;
    readonly deliveryLimit: number;
    readonly tuning?: Readonly<Record<string, string | number>>;
  },
): void {
  const timeoutMs = consumerTimeoutMs(input);
  addQueue(draft, input.capabilities, {
    name: input.names.workQueue,
    role: "work",
    consumer: input.plan.consumer,
    deadLetterExchange: options.deadLetterExchange,
    deadLetterRoutingKey: input.names.workQueue,
    ownArguments: argumentsOf(input.plan),
    settings: input.plan.queueSettings,
    tuning: {
      "delivery-limit": options.deliveryLimit,
      ...options.tuning,
      ...(timeoutMs !== null && input.capabilities.consumerTimeoutPolicy ? { "consumer-timeout": timeoutMs } : {}),
    },
  });
}

/** The consumer timeout that a long handler needs; null if the broker's default, or the declared one, is enough. */
export function consumerTimeoutMs(input: StrategyInput): number | null {
  if (input.plan.queueArguments?.consumerTimeout !== undefined) return null;
  const handlerMs = input.plan.handlerTimeoutMs ?? 0;
  return handlerMs < rabbitmqLimits.consumerTimeoutMs ? null : handlerMs + rabbitmqLimits.consumerTimeoutMs;
}

/** It counts attempts and crashes alike. */
export const sharedCounter = "the broker's one counter, the delivery limit";

export function protocolObjection({ plan }: StrategyInput, protocol: Contract["protocol"]): Objection[] {
  const reason = `its contract is for ${protocol}; the consumer speaks ${plan.protocol}`;
  return unless(plan.protocol === protocol, reason, ["protocol"]);
}

/** Keeps the publisher's routing key, because the attempt key replaces it. */
export const originalRoutingKeyHeader = "redeliver-original-routing-key";

/**
 * Headers that would turn a copy into another message. With CC and BCC the broker routes it to further queues. The
 * counts of deliveries belong to the queue that the message was in. Source: docs, "Sender-selected Distribution";
 * `rabbit_fifo:maybe_set_msg_delivery_count` (4.3).
 */
const routingAndCountHeaders = ["CC", "BCC", "x-delivery-count", "x-acquired-count"];

/** A dead letter keeps the record of its deaths, because it tells how the letter came there. */
const deadCopyRemoves = Object.freeze(routingAndCountHeaders);

/**
 * Up to 3.13 the broker believes death records that a client publishes. A copy of a replayed dead letter would bring
 * the record of its death along. The cycle rule would then keep it in the tier for ever.
 */
const waitingCopyRemoves = Object.freeze([
  ...routingAndCountHeaders,
  "x-death",
  "x-first-death-exchange",
  "x-first-death-queue",
  "x-first-death-reason",
]);

const removeProperties = Object.freeze(["user-id"] as const);

/**
 * Puts a copy into the queue where it waits for its next attempt. The consumer acknowledges the message only after the
 * broker's confirm.
 */
export function publishWaiting(
  routingKey: string,
  { exchange, expirationMs }: Pick<PublishOperation, "exchange" | "expirationMs">,
  spread: NonNullable<PublishOperation["spread"]> = [],
): readonly Operation[] {
  return [
    {
      operation: "basic.publish",
      exchange,
      routingKey,
      confirm: true,
      mandatory: true,
      expirationMs,
      ...(spread.length === 0 ? {} : { spread }),
      copyRoutingKeyTo: originalRoutingKeyHeader,
      removeHeaders: waitingCopyRemoves,
      removeProperties,
    },
    { operation: "basic.ack" },
  ];
}

/** Puts a copy of a permanent failure into the dead queue before the consumer acknowledges the message. */
export function publishDead(input: StrategyInput): PublishOperation {
  return Object.freeze({
    operation: "basic.publish",
    exchange: deadExchange(input.prefix),
    routingKey: input.names.workQueue,
    confirm: true,
    mandatory: true,
    expirationMs: null,
    headers: Object.freeze({ "dlq-original-queue": input.names.workQueue, "dlq-failure-reason": "PERMANENT_FAILURE" }),
    removeHeaders: deadCopyRemoves,
    removeProperties,
  });
}

/** The promises that every strategy keeps in the same way. */
export function commonPromises({ retry, plan, names }: StrategyInput): Promises {
  return {
    "no-loss": broker`every message ends acknowledged or in the dead queue, for every cause of death: quorum queues, dead-lettering at least once`,
    ...(plan.handlerTimeoutMs !== null && {
      "handler-timeout": consumer`the consumer's code ends a handler after ${formatDurationMs(plan.handlerTimeoutMs)} and treats it as a transient failure`,
    }),
    ...(retry.retainMs !== null && {
      retention: broker`dead letters stay until they are removed, so at least ${formatDurationMs(retry.retainMs)}`,
    }),
    ...(retry.alarmAbove !== null && {
      alarm: nobody`RabbitMQ has no alarms on depth: watch messages of ${names.dead} for more than ${retry.alarmAbove}`,
    }),
  };
}

/** The promises of a consumer that publishes its permanent failures itself and returns messages with `basic.nack`. */
export function publisherPromises(input: StrategyInput): Promises {
  const returned = input.capabilities.returnsCount
    ? `a returned message costs no attempt, but it spends crash budget: ${input.retry.crashDeliveries - 1} in a row are safe`
    : "a returned message costs no attempt";
  return {
    permanent: consumer`the consumer publishes a copy to the dead queue, then acknowledges: a crash between the two doubles the dead letter`,
    return: broker`${returned}`,
  };
}
