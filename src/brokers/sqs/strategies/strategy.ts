import { formatDurationMs } from "../../../declare/duration.ts";
import type { ConsumerPlan, RetryPlan } from "../../../plan/plan.ts";
import type { Keeper, KeptPromise, Objection, PromiseName } from "../../broker.ts";
import type { SqsTarget, StrategyName } from "../capabilities.ts";
import { sqsDefaults, sqsLimits } from "../capabilities.ts";
import type { Contract, Operation, Outcome } from "../contract.ts";
import type { OutcomeName } from "../../contract.ts";
import type { LambdaConsumer } from "../lambda.ts";
import { visibilityForLambda } from "../lambda.ts";
import type { ConsumerNames } from "../names.ts";
import type { Retention } from "../retention.ts";

/** One consumer, and everything a strategy needs to know to compile it. */
export interface StrategyInput {
  readonly target: SqsTarget;
  readonly plan: ConsumerPlan;
  readonly retry: RetryPlan;
  readonly names: ConsumerNames;
  readonly fifo: boolean;
  /** Null for a consumer that receives by itself. */
  readonly lambda: LambdaConsumer | null;
}

/** The part of the contract and of the promises that depends on the strategy. */
export interface StrategyOutput {
  readonly attempts: Contract["attempts"];
  readonly outcomes: Readonly<Record<OutcomeName, Outcome>>;
  readonly why: Readonly<Record<OutcomeName, string>>;
  readonly retryAfter?: NonNullable<Contract["retryAfter"]>;
  readonly promises: readonly KeptPromise[];
}

/** A way of using SQS. */
export interface Strategy {
  readonly name: StrategyName;
  /** What it is, in one sentence, for the reason of a choice. */
  readonly summary: string;
  /** What in the declaration it cannot keep; empty where it keeps everything. */
  readonly objections: (input: StrategyInput) => Objection[];
  /** How long a receive hides a message: the queue's own value. */
  readonly visibilityTimeoutSeconds: (input: StrategyInput) => number;
  /** The longest from the first receive until a message may be moved, if a consumer is there. */
  readonly windowSeconds: (input: StrategyInput) => number;
  readonly build: (input: StrategyInput, retention: Retention) => StrategyOutput;
}

/** The time from a receive in which a handler ends and what came of it is said. */
export function handlingSeconds({ plan, lambda }: StrategyInput): number {
  if (lambda !== null) return visibilityForLambda(lambda);
  return plan.handlerTimeoutMs === null
    ? sqsDefaults.visibilityTimeoutSeconds
    : wholeSeconds(plan.handlerTimeoutMs) + sqsDefaults.settleSeconds;
}

/** What waiting costs, for a promise about time. */
export const inFlight = `A message that waits is in flight, of which a queue has about ${sqsLimits.inFlightMessages.toLocaleString("en")}: beyond that nothing more is received`;

/** Whole seconds, rounded up: a time that must not be too short. */
export function wholeSeconds(durationMs: number): number {
  return Math.ceil(durationMs / 1_000);
}

/** One counter of SQS for attempts, crashes and returns: the receive count. A crash budget has to be the same number. */
export function sharedCounterObjection({ retry }: StrategyInput): Objection[] {
  if (!retry.crashDeclared || retry.crashDeliveries === retry.attempts.length) return [];
  return [
    {
      reason: `attempts (${retry.attempts.length}) and crash deliveries (${retry.crashDeliveries}) share the one counter of SQS, the receive count`,
      path: ["crash", "deliveries"],
    },
  ];
}

/** SQS takes whole seconds. A shorter delay would be early, a longer one is not what is declared. */
export function wholeSecondsObjection({ retry }: StrategyInput): Objection[] {
  const odd = retry.attempts.find(({ delayMs }) => delayMs % 1_000 !== 0);
  if (odd === undefined) return [];
  return [
    {
      reason: `SQS counts whole seconds; the delay before attempt ${odd.attempt} is ${formatDurationMs(odd.delayMs)}`,
      path: ["retry", "backoff"],
    },
  ];
}

/** The copy goes to the dead queue before the message is deleted: a crash between the two doubles it, and loses nothing. */
export function deadLetter({ names, fifo }: StrategyInput, reason: string): readonly Operation[] {
  return [
    {
      operation: "SendMessage",
      queue: names.dead,
      attributes: { "dlq-original-queue": names.workQueue, "dlq-failure-reason": reason },
      ...(fifo ? { fifo: { messageGroupId: "kept", messageDeduplicationId: "message-id" } as const } : {}),
    },
    { operation: "DeleteMessage" },
  ];
}

/** May be received again after so many seconds from now. */
export function visibleAfter(from: number, to: number = from): Operation {
  return { operation: "ChangeMessageVisibility", visibilityTimeoutSeconds: { from, to } };
}

/** The outcomes that every strategy has in common, with their reasons. */
export function commonOutcomes(input: StrategyInput): {
  readonly outcomes: Omit<StrategyOutput["outcomes"], "transient">;
  readonly why: Omit<StrategyOutput["why"], "transient">;
} {
  const byLambda =
    input.lambda === null ? "" : ". The function leaves it out of batchItemFailures, and Lambda deletes the message";
  return {
    outcomes: {
      success: [{ operation: "DeleteMessage" }],
      permanent: deadLetter(input, "PERMANENT_FAILURE"),
      return: [visibleAfter(0)],
    },
    why: {
      success: `the message is done${byLambda}`,
      permanent: `a copy goes to the dead queue with the reason on it, since SQS moves a message only after all of its receives; only when SQS has answered is the message deleted. SQS takes ${sqsLimits.messageAttributes} attributes, so a message may have ${sqsLimits.messageAttributes - 2} of its own, routing-key among them${byLambda}`,
      return: `it comes back at once, but the receive counts like a failed attempt${namedByLambda(input)}`,
    },
  };
}

/** What a function of Lambda does beside, with a message that is to come back; for a sentence. */
export function namedByLambda({ lambda }: StrategyInput): string {
  return lambda === null
    ? ""
    : ". The function names the message in batchItemFailures, so that Lambda does not delete it";
}

export function promise(input: StrategyInput, name: PromiseName, keeper: Keeper, statement: string): KeptPromise {
  return Object.freeze({ consumer: input.plan.consumer, promise: name, keeper, statement });
}

/** The promises that every strategy keeps in the same words. */
export function commonPromises(input: StrategyInput, retention: Retention): KeptPromise[] {
  const { retry, names } = input;
  const attempts = retry.attempts.length;
  return [
    promise(
      input,
      "no-loss",
      "broker",
      `every message ends deleted by its consumer or in the dead queue, if that takes less than ${inWords(retention.workSeconds)} from its publishing on: SQS deletes what is older`,
    ),
    promise(
      input,
      "attempts",
      "broker",
      `${count(attempts, "receive")} at most, then the dead queue: SQS moves the message on the receive after the last, which nobody sees (maxReceiveCount ${attempts}), at the latest ${inWords(retention.windowSeconds)} after the first if somebody is receiving`,
    ),
    promise(
      input,
      "exact-attempts",
      "nobody",
      `a receive counts even if no handler ran: a lost answer, a look in the console, ${input.lambda === null ? "a consumer that stops" : "a function that is throttled"}; so attempts are the most there are, and can be fewer`,
    ),
    promise(
      input,
      "crash",
      "broker",
      `${input.lambda === null ? "a crash counts" : "a function that throws, or is ended, fails with its whole batch; it counts"} as an attempt, and waits for the rest of the visibility timeout: ${count(attempts, "delivery", "deliveries")} at most`,
    ),
    promise(
      input,
      "no-loop",
      "broker",
      "the receive count ends every series of receives, and the dead queue has no redrive policy",
    ),
    promise(input, "isolation", "broker", "a retry never leaves the consumer's own queue"),
    promise(
      input,
      "permanent",
      "consumer",
      `the consumer sends a copy to ${names.dead}, then deletes the message: a crash between the two doubles the dead letter`,
    ),
    promise(
      input,
      "return",
      "nobody",
      `a returned message costs an attempt: after ${count(attempts, "receive")} without a success it is dead, tried or not`,
    ),
    ...declaredPromises(input, retention),
  ];
}

function declaredPromises(input: StrategyInput, retention: Retention): KeptPromise[] {
  const { retry, fifo } = input;
  return [
    promise(input, "handler-timeout", "consumer", timeoutStatement(input)),
    promise(input, "retention", "broker", retentionStatement(fifo, retention)),
    ...(fifo
      ? [
          promise(
            input,
            "order",
            "broker",
            "messages of one group (MessageGroupId) come in order, and wait while an earlier one is retried; when it is dead the later ones go on without it",
          ),
        ]
      : []),
    ...(retry.alarmAbove === null ? [] : [promise(input, "alarm", "broker", alarmStatement(input, retry.alarmAbove))]),
  ];
}

function timeoutStatement({ plan, lambda }: StrategyInput): string {
  if (lambda !== null) {
    const own = `Lambda ends the function after ${formatDurationMs(lambda.timeoutSeconds * 1_000)}, and its whole batch has failed`;
    return plan.handlerTimeoutMs === null
      ? own
      : `the consumer's code ends a handler ${formatDurationMs(plan.handlerTimeoutMs)} after its beginning and treats it as a transient failure; ${own}`;
  }
  return plan.handlerTimeoutMs === null
    ? `no handlerTimeout is declared: ${sqsDefaults.visibilityTimeoutSeconds}s after the receive the message comes back, even while its handler runs`
    : `the consumer's code ends a handler ${formatDurationMs(plan.handlerTimeoutMs)} after the receive and treats it as a transient failure`;
}

function alarmStatement({ target, plan, names }: StrategyInput, alarmAbove: number): string {
  const depth = `CloudWatch raises an alarm when more than ${alarmAbove} messages are in ${names.dead}, or in ${names.undelivered}`;
  return target.emptiedDeadQueues?.includes(plan.consumer) === true
    ? `${depth}; and when more than ${alarmAbove} are received from ${names.dead} within a minute, since another program empties it`
    : depth;
}

function retentionStatement(fifo: boolean, { deadSeconds, workSeconds, leftSeconds }: Retention): string {
  if (fifo) return `dead letters stay for ${inWords(deadSeconds)}: on FIFO the clock starts again in the dead queue`;
  return `dead letters stay until ${inWords(deadSeconds)} after they were published, so at least ${inWords(leftSeconds)}: ${inWords(workSeconds)} at most may pass before`;
}

function inWords(seconds: number): string {
  return formatDurationMs(seconds * 1_000);
}

/** A number and its noun: `1 receive`, `3 receives`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** How long the waits are, for a sentence: `1s, 2s, 4s, 8s`. */
export function delaysInWords(retry: RetryPlan): string {
  const delays = retry.attempts.slice(1).map((each) => formatDurationMs(each.delayMs));
  return delays.length <= 6 ? delays.join(", ") : `${delays.slice(0, 5).join(", ")}, … ${delays.at(-1)}`;
}
