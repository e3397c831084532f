import { formatDurationMs } from "../../../../declare/duration.ts";
import type { ConsumerPlan, RetryPlan } from "../../../../plan/plan.ts";
import type { Candidate, Objection } from "../../../../contract/choose-strategy.ts";
import { type Promises, broker, consumer } from "../../../../contract/promise.ts";
import { type ServicebusTarget, type StrategyName, servicebusDefaults, servicebusLimits } from "../capabilities.ts";
import type { Contract, DeadLetterOperation, Operation, SendOperation } from "../contract.ts";

/** The entities that hold a consumer's messages, and the one where they end. */
export interface ConsumerPlaces {
  /** The name of a queue, or the path of a subscription with sessions. */
  readonly workQueue: string;
  readonly deadQueue: string;
  readonly parkedQueue: string;
  readonly sessions: boolean;
  /** True if the consumer receives from the subscription itself, because messages with sessions are not forwarded. */
  readonly inSubscription: boolean;
}

/** One consumer, and all that a strategy needs to compile it. */
export interface StrategyInput extends ConsumerPlaces {
  readonly target: ServicebusTarget;
  readonly plan: ConsumerPlan;
  readonly retry: RetryPlan;
}

/** A queue where copies wait until their time to live ends. */
export interface Tier {
  readonly name: string;
  readonly delayMs: number;
}

/** The part of the contract, the topology and the promises that depends on the strategy. */
export interface StrategyOutput extends Pick<
  Contract,
  "attempts" | "crashDeliveries" | "maxDeliveries" | "attemptNumber" | "outcomes" | "why" | "retryAfter"
> {
  readonly promises: Promises;
  /** Of the work queue. */
  readonly maxDeliveryCount: number;
  readonly tiers: readonly Tier[];
}

/** A way of using Service Bus. */
export interface Strategy extends Candidate<StrategyName, StrategyInput> {
  readonly build: (input: StrategyInput) => StrategyOutput;
}

export const complete: Operation = Object.freeze({ operation: "complete" });
export const abandon: Operation = Object.freeze({ operation: "abandon" });
export const release: Operation = Object.freeze({ operation: "release" });
export const closeSession: Operation = Object.freeze({ operation: "closeSession" });

export function deadLetter(reason: DeadLetterOperation["reason"]): DeadLetterOperation {
  return { operation: "deadLetter", reason, description: "error-message" };
}

const tooLarge = deadLetter("MESSAGE_TOO_LARGE");

/**
 * Application properties from an earlier death of the message. A copy must not describe that death, so the consumer
 * removes them, as Rebus does.
 */
const deathProperties = ["DeadLetterReason", "DeadLetterErrorDescription"] as const;

/** Sends a copy for the next attempt, and only then settles the message itself: see `SendOperation`. */
export function copyFor(
  attempt: number,
  queue: string,
  delayMs: SendOperation["delayMs"],
): readonly [SendOperation, Operation] {
  return [
    {
      operation: delayMs === undefined ? "send" : "schedule",
      queue,
      ...(delayMs === undefined ? {} : { delayMs }),
      messageIdSuffix: `:r${attempt}`,
      applicationProperties: { "redeliver-attempt": attempt, "redeliver-original-id": "original-id" },
      removeApplicationProperties: deathProperties,
      ifTooLarge: tooLarge,
      timeToLive: null,
    },
    complete,
  ];
}

export const attemptProperty: Contract["attemptNumber"] = Object.freeze({
  from: "application-property",
  attempt: "redeliver-attempt",
  originalId: "redeliver-original-id",
});

/** Order survives only if no message leaves its place. */
export function orderObjection({ sessions }: StrategyInput): Objection[] {
  if (!sessions) return [];
  const reason = "a copy of a message comes behind the later ones of its session, so per-key order is lost";
  return [{ reason, path: ["order"], edit: "leave order out" }];
}

/** The time that the consumer has to renew a lock. */
export function lockRenewalMs({ plan, sessions }: StrategyInput): number {
  if (sessions) return servicebusLimits.renewalMs;
  return plan.handlerTimeoutMs === null
    ? servicebusDefaults.renewalMs
    : plan.handlerTimeoutMs + servicebusDefaults.settleMs;
}

/** The promises that every strategy keeps in the same way. */
export function commonPromises(input: StrategyInput): Promises {
  const { plan, retry, deadQueue, sessions, target } = input;
  const renewed = formatDurationMs(lockRenewalMs(input));
  return {
    "no-loss": broker`every message ends completed by its consumer or in ${deadQueue}: expired messages are dead-lettered, not dropped`,
    permanent: consumer`the consumer dead-letters the message itself, with reason and description; it makes no copy, so nothing is doubled`,
    "handler-timeout":
      plan.handlerTimeoutMs === null
        ? consumer`no handlerTimeout is declared: after ${renewed} the SDK stops renewing the lock, and another receiver gets the message while its handler runs`
        : consumer`the consumer's code ends a handler ${formatDurationMs(plan.handlerTimeoutMs)} after the receive and treats it as a transient failure; the SDK renews ${sessions ? "the session's" : "its"} lock of ${formatDurationMs(target.lockMs)} for ${renewed}`,
    retention:
      target.deadQueue === "own"
        ? broker`dead letters stay until they are removed: a dead-letter queue ignores times to live`
        : broker`dead letters stay in ${deadQueue}, which has no time to live; a message's own applies there, and moves it to ${deadQueue}/$DeadLetterQueue`,
    ...(sessions && {
      order: broker`messages of one session come in order, to one receiver at a time; when one dies the later ones go on without it`,
    }),
    ...(retry.alarmAbove !== null && {
      alarm: broker`Azure Monitor raises an alert when more than ${retry.alarmAbove} dead letters exist, or as many could not be forwarded to the work queue`,
    }),
  };
}
