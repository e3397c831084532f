import { formatDurationMs } from "../../../declare/duration.ts";
import type { ConsumerPlan, RetryPlan } from "../../../plan/plan.ts";
import type { KeptPromise, Keeper, Objection, PromiseName } from "../../broker.ts";
import type { RabbitmqCapabilities, RabbitmqTarget, StrategyName } from "../capabilities.ts";
import { rabbitmqLimits } from "../capabilities.ts";
import type { Contract, Operation, Outcome, PublishOperation } from "../contract.ts";
import type { OutcomeName } from "../../contract.ts";
import type { ConsumerNames } from "../names.ts";
import { addBinding, addExchange, addQueue } from "../resources.ts";
import type { TopologyDraft } from "../topology.ts";

/** One consumer with a work queue, and everything a strategy needs to know to compile it. */
export interface StrategyInput {
  readonly target: RabbitmqTarget;
  readonly capabilities: RabbitmqCapabilities;
  readonly system: string;
  readonly plan: ConsumerPlan;
  readonly retry: RetryPlan;
  readonly names: ConsumerNames;
}

/** The part of the contract and of the promises that depends on the strategy. */
export interface StrategyOutput {
  readonly maxDeliveries: number;
  readonly outcomes: Readonly<Record<OutcomeName, Outcome>>;
  readonly why: Readonly<Record<OutcomeName, string>>;
  readonly attemptNumber: Contract["attemptNumber"];
  readonly retryAfter?: NonNullable<Contract["retryAfter"]>;
  readonly promises: readonly KeptPromise[];
}

/** A way of using RabbitMQ. */
export interface Strategy {
  readonly name: StrategyName;
  readonly protocol: Contract["protocol"];
  /** What it is, in one sentence, for the reason of a choice. */
  readonly summary: string;
  /** What in the declaration it cannot keep on this target; empty where it keeps everything. */
  readonly objections: (input: StrategyInput) => Objection[];
  /** Adds the consumer's resources to the draft. Resources that consumers share are added once. */
  readonly build: (draft: TopologyDraft, input: StrategyInput, shared: Set<string>) => StrategyOutput;
}

/** Adds the dead queue behind its exchange, then the work queue. Dead-letter targets come before their users. */
export function addDeadQueue(draft: TopologyDraft, input: StrategyInput): void {
  const { names, plan } = input;
  addExchange(draft, { name: names.dead, role: "dead", kind: "fanout", consumer: plan.consumer });
  addQueue(draft, input.capabilities, {
    name: names.dead,
    role: "dead",
    consumer: plan.consumer,
    deadLetterExchange: null,
    tuning: {},
  });
  addBinding(draft, { source: names.dead, destination: names.dead });
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
    tuning: {
      "delivery-limit": options.deliveryLimit,
      ...options.tuning,
      ...(timeoutMs !== null && input.capabilities.consumerTimeoutPolicy ? { "consumer-timeout": timeoutMs } : {}),
    },
  });
}

/** The consumer timeout that a long handler needs; null where the broker's default is enough. */
export function consumerTimeoutMs(input: StrategyInput): number | null {
  const handlerMs = input.plan.handlerTimeoutMs ?? 0;
  return handlerMs < rabbitmqLimits.consumerTimeoutMs ? null : handlerMs + rabbitmqLimits.consumerTimeoutMs;
}

/** One counter of the broker for attempts and crashes: the delivery limit. Both budgets have to be the same number. */
export function sharedCounterObjection(input: StrategyInput): Objection[] {
  const { retry } = input;
  if (!retry.crashDeclared || retry.crashDeliveries === retry.attempts.length) return [];
  return [
    {
      reason: `attempts (${retry.attempts.length}) and crash deliveries (${retry.crashDeliveries}) share the broker's one counter, the delivery limit`,
      path: ["crash", "deliveries"],
    },
  ];
}

export function protocolObjection(input: StrategyInput, protocol: Contract["protocol"]): Objection[] {
  return input.plan.protocol === protocol
    ? []
    : [{ reason: `its contract is for ${protocol}; the consumer speaks ${input.plan.protocol}`, path: ["protocol"] }];
}

/**
 * The proof looks at every attempt with every number of crashes before it, so what has more of these is not compiled: it could
 * not be proved in a time that anybody waits for. Nobody needs a hundred crashes on each of a thousand attempts.
 */
const mostCombinations = 40_000;

export function provableObjection({ retry }: StrategyInput): Objection[] {
  const attempts = retry.attempts.length;
  const combinations = attempts * retry.crashDeliveries;
  if (combinations <= mostCombinations) return [];
  const most = Math.floor(mostCombinations / attempts);
  return [
    {
      reason: `${attempts} attempts with ${retry.crashDeliveries} crash deliveries are ${combinations} combinations, more than the ${mostCombinations} that are proved; crash: { deliveries: ${most} } would do`,
      path: ["crash", "deliveries"],
    },
  ];
}

export function noJitterObjection(input: StrategyInput, because: string): Objection[] {
  const { retry } = input;
  return [
    ...(retry.jitterPercent === 0
      ? []
      : [{ reason: `${retry.jitterPercent}% jitter: ${because}`, path: ["retry", "backoff", "jitter"] }]),
    ...(retry.retryAfterMaxMs === null
      ? []
      : [{ reason: `a delay that the handler chooses: ${because}`, path: ["retry", "retryAfter"] }]),
  ];
}

/** Keeps the publisher's routing key, which the attempt key takes the place of. */
export const originalRoutingKeyHeader = "redeliver-original-routing-key";

/**
 * Headers that would make another message of a copy: by CC and BCC the broker routes it to further queues, and the counts of deliveries belong to the
 * queue that the message was in. Source: docs, "Sender-selected Distribution"; `rabbit_fifo:maybe_set_msg_delivery_count` (4.3).
 */
const routingAndCountHeaders = ["CC", "BCC", "x-delivery-count", "x-acquired-count"];

/** A dead letter keeps the record of its deaths: it says how it came there. */
const deadCopyRemoves = Object.freeze(routingAndCountHeaders);

/**
 * Up to 3.13 the broker believes death records that a client publishes. A copy of a replayed dead letter would bring
 * the record of its death along, and the cycle rule would then keep it in the tier for ever.
 */
const waitingCopyRemoves = Object.freeze([
  ...routingAndCountHeaders,
  "x-death",
  "x-first-death-exchange",
  "x-first-death-queue",
  "x-first-death-reason",
]);

const removeProperties = Object.freeze(["user-id"] as const);

/** Puts a copy where it waits for its next attempt; only when the broker has confirmed it is the message acknowledged. */
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

/** Hands a copy to the dead queue with the reason on it, before the message is acknowledged. */
export function publishDead(input: StrategyInput, reason: string): PublishOperation {
  return Object.freeze({
    operation: "basic.publish",
    exchange: input.names.dead,
    routingKey: input.names.dead,
    confirm: true,
    mandatory: true,
    expirationMs: null,
    headers: Object.freeze({ "dlq-original-queue": input.names.workQueue, "dlq-failure-reason": reason }),
    removeHeaders: deadCopyRemoves,
    removeProperties,
  });
}

export function promise(input: StrategyInput, name: PromiseName, keeper: Keeper, statement: string): KeptPromise {
  return Object.freeze({ consumer: input.plan.consumer, promise: name, keeper, statement });
}

/** The promises that every strategy keeps in the same words. */
export function commonPromises(input: StrategyInput): KeptPromise[] {
  const { retry, plan } = input;
  const promises = [
    promise(
      input,
      "no-loss",
      "broker",
      "every message ends acknowledged or in the dead queue, whatever it dies of: quorum queues, dead-lettering at least once",
    ),
  ];
  if (plan.handlerTimeoutMs !== null) {
    promises.push(
      promise(
        input,
        "handler-timeout",
        "consumer",
        `the consumer's code ends a handler after ${formatDurationMs(plan.handlerTimeoutMs)} and treats it as a transient failure`,
      ),
    );
  }
  if (retry.retainMs !== null) {
    promises.push(
      promise(
        input,
        "retention",
        "broker",
        `dead letters stay until somebody takes them, so at least ${formatDurationMs(retry.retainMs)}`,
      ),
    );
  }
  if (retry.alarmAbove !== null) {
    promises.push(
      promise(
        input,
        "alarm",
        "nobody",
        `RabbitMQ has no alarms on depth: watch messages of ${input.names.dead} for more than ${retry.alarmAbove}`,
      ),
    );
  }
  return promises;
}

/** The promises of a consumer that publishes its permanent failures itself and hands back with `basic.nack`. */
export function publisherPromises(input: StrategyInput): KeptPromise[] {
  const returned = input.capabilities.returnsCount
    ? `a returned message costs no attempt, but it spends crash budget: ${input.retry.crashDeliveries - 1} in a row are safe`
    : "a returned message costs no attempt";
  return [
    promise(
      input,
      "permanent",
      "consumer",
      "the consumer publishes a copy to the dead queue, then acknowledges: a crash between the two doubles the dead letter",
    ),
    promise(input, "return", "broker", returned),
  ];
}

/** A number and its noun: `1 crash`, `3 crashes`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** How long the waits are, for a sentence: `1s, 2s, 4s, 8s`. */
export function delaysInWords(retry: RetryPlan): string {
  const delays = retry.attempts.slice(1).map((each) => formatDurationMs(each.delayMs));
  return delays.length <= 6 ? delays.join(", ") : `${delays.slice(0, 5).join(", ")}, … ${delays.at(-1)}`;
}
