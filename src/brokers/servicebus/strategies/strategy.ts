import { formatDurationMs } from "../../../declare/duration.ts";
import type { ConsumerPlan, RetryPlan } from "../../../plan/plan.ts";
import type { Keeper, KeptPromise, Objection, PromiseName } from "../../broker.ts";
import type { ServicebusTarget, StrategyName } from "../capabilities.ts";
import { servicebusDefaults, servicebusLimits } from "../capabilities.ts";
import type { Contract, DeadLetterOperation, Operation, Outcome, SendOperation } from "../contract.ts";
import type { OutcomeName } from "../../contract.ts";

/** One consumer, and everything a strategy needs to know to compile it. */
export interface StrategyInput {
  readonly target: ServicebusTarget;
  readonly plan: ConsumerPlan;
  readonly retry: RetryPlan;
  /** A queue's name, or the path of a subscription with sessions. */
  readonly workQueue: string;
  readonly deadQueue: string;
  readonly sessions: boolean;
}

/** A queue in which copies wait until their time to live is over. */
export interface Tier {
  readonly name: string;
  readonly delayMs: number;
}

/** The part of the contract, the topology and the promises that depends on the strategy. */
export interface StrategyOutput {
  readonly attempts: Contract["attempts"];
  readonly crashDeliveries: number | null;
  readonly maxDeliveries: number;
  readonly attemptNumber: Contract["attemptNumber"];
  readonly outcomes: Readonly<Record<OutcomeName, Outcome>>;
  readonly why: Readonly<Record<OutcomeName, string>>;
  readonly retryAfter?: NonNullable<Contract["retryAfter"]>;
  readonly promises: readonly KeptPromise[];
  /** Of the work queue. */
  readonly maxDeliveryCount: number;
  readonly tiers: readonly Tier[];
}

/** A way of using Service Bus. */
export interface Strategy {
  readonly name: StrategyName;
  /** Whether `auto` may choose it. */
  readonly isAutomatic: boolean;
  /** What it is, in one sentence, for the reason of a choice. */
  readonly summary: string;
  /** What in the declaration it cannot keep; empty where it keeps everything. */
  readonly objections: (input: StrategyInput) => Objection[];
  readonly build: (input: StrategyInput) => StrategyOutput;
}

export const complete: Operation = Object.freeze({ operation: "complete" });
export const abandon: Operation = Object.freeze({ operation: "abandon" });
export const release: Operation = Object.freeze({ operation: "release" });
export const closeSession: Operation = Object.freeze({ operation: "closeSession" });

export function deadLetter(reason: DeadLetterOperation["reason"]): Operation {
  return { operation: "deadLetter", reason, description: "error-message" };
}

/** Application properties that a message has after it was dead, and that would tell of an old death. They are removed as Rebus removes them. */
const deathProperties = ["DeadLetterReason", "DeadLetterErrorDescription"] as const;

/** A copy for the next attempt, and only then the message itself: see `SendOperation`. */
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

/** Order is kept where nothing leaves its place. */
export function orderObjection({ sessions }: StrategyInput): Objection[] {
  if (!sessions) return [];
  const reason = "a copy of a message comes behind the later ones of its session, so per-key order is lost";
  return [{ reason, path: ["order"] }];
}

export function promise(input: StrategyInput, name: PromiseName, keeper: Keeper, statement: string): KeptPromise {
  return Object.freeze({ consumer: input.plan.consumer, promise: name, keeper, statement });
}

/** For how long a lock has to be renewed. */
export function lockRenewalMs({ plan, sessions }: StrategyInput): number {
  if (sessions) return servicebusLimits.renewalMs;
  return plan.handlerTimeoutMs === null
    ? servicebusDefaults.renewalMs
    : plan.handlerTimeoutMs + servicebusDefaults.settleMs;
}

/** The promises that every strategy keeps in the same words. */
export function commonPromises(input: StrategyInput): KeptPromise[] {
  const { plan, retry, deadQueue, sessions, target } = input;
  const renewed = formatDurationMs(lockRenewalMs(input));
  return [
    promise(
      input,
      "no-loss",
      "broker",
      `every message ends completed by its consumer or in ${deadQueue}: what expires is dead-lettered, not dropped`,
    ),
    promise(
      input,
      "permanent",
      "consumer",
      "the consumer dead-letters the message itself, with reason and description; no copy is made, so nothing is doubled",
    ),
    promise(
      input,
      "handler-timeout",
      "consumer",
      plan.handlerTimeoutMs === null
        ? `no handlerTimeout is declared: after ${renewed} the SDK stops renewing the lock, and the message goes to somebody else while its handler runs`
        : `the consumer's code ends a handler ${formatDurationMs(plan.handlerTimeoutMs)} after the receive and treats it as a transient failure; the SDK renews ${sessions ? "the session's" : "its"} lock of ${formatDurationMs(target.lockMs)} for ${renewed}`,
    ),
    promise(
      input,
      "retention",
      "broker",
      target.deadQueue === "own"
        ? "dead letters stay until somebody takes them: a dead-letter queue observes no time to live"
        : `dead letters stay in ${deadQueue}, which has no time to live of its own; what a message carries is observed there, and moves it to ${deadQueue}/$DeadLetterQueue`,
    ),
    ...(sessions
      ? [
          promise(
            input,
            "order",
            "broker",
            "messages of one session come in order, to one receiver at a time; when one is dead the later ones go on without it",
          ),
        ]
      : []),
    ...(retry.alarmAbove === null
      ? []
      : [
          promise(
            input,
            "alarm",
            "broker",
            `Azure Monitor raises an alert when more than ${retry.alarmAbove} dead letters are there, or as many could not be forwarded to the work queue`,
          ),
        ]),
  ];
}

/** A number and its noun: `1 delivery`, `3 deliveries`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
