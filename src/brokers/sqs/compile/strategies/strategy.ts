import { formatDurationMs } from "../../../../declare/duration.ts";
import { type ConsumerPlan, isDirect, type RetryPlan } from "../../../../plan/plan.ts";
import { count } from "../../../../contract/in-words.ts";
import type { Candidate, Objection } from "../../../../contract/choose-strategy.ts";
import { type Promises, broker, consumer, nobody } from "../../../../contract/promise.ts";
import { type SqsTarget, type StrategyName, sqsDefaults, sqsLimits } from "../capabilities.ts";
import type { Contract, Operation } from "../contract.ts";
import { type LambdaConsumer, visibilityForLambda } from "../lambda.ts";
import type { ConsumerNames } from "../names.ts";
import type { Retention } from "../retention.ts";

/** One consumer, and all that a strategy needs to compile it. */
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
export interface StrategyOutput extends Pick<Contract, "attempts" | "outcomes" | "why" | "retryAfter"> {
  readonly promises: Promises;
}

/** A way of using SQS. */
export interface Strategy extends Candidate<StrategyName, StrategyInput> {
  /** The time that a receive hides a message: the queue's own value. */
  readonly visibilityTimeoutSeconds: (input: StrategyInput) => number;
  /** The longest time from the first receive to a possible move, if a consumer is there. */
  readonly windowSeconds: (input: StrategyInput) => number;
  readonly build: (input: StrategyInput, retention: Retention) => StrategyOutput;
}

/** The time from a receive in which a handler ends and its consumer settles the message. */
export function handlingSeconds({ plan, lambda }: StrategyInput): number {
  if (lambda !== null) return visibilityForLambda(lambda);
  return plan.handlerTimeoutMs === null
    ? sqsDefaults.visibilityTimeoutSeconds
    : wholeSeconds(plan.handlerTimeoutMs) + sqsDefaults.settleSeconds;
}

/** The cost of waiting, for a promise about time. */
export const inFlight = `A waiting message is in flight, and a queue has at most about ${sqsLimits.inFlightMessages / 1_000},000 of them: beyond that SQS delivers nothing more`;

/** Whole seconds, rounded up: a time that must not be too short. */
export function wholeSeconds(durationMs: number): number {
  return Math.ceil(durationMs / 1_000);
}

/** It counts attempts, crashes and returns alike. */
export const sharedCounter = "the one counter of SQS, the receive count";

/** SQS takes whole seconds. A shorter delay would be early, and a longer one would not be as declared. */
export function wholeSecondsObjection({ retry }: StrategyInput): Objection[] {
  const odd = retry.attempts.find(({ delayMs }) => delayMs % 1_000 !== 0);
  if (odd === undefined) return [];
  return [
    {
      reason: `SQS counts whole seconds; the delay before attempt ${odd.attempt} is ${formatDurationMs(odd.delayMs)}`,
      path: ["retry", "backoff"],
      edit: `use delays of whole seconds, such as ${wholeSeconds(odd.delayMs)}s,`,
    },
  ];
}

/**
 * The copy goes to the dead queue before the consumer deletes the message. A crash between the two doubles it, and
 * loses nothing.
 */
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

/** A consumer may receive it again after this many seconds from now. */
export function visibleAfter(from: number, to: number = from): Operation {
  return { operation: "ChangeMessageVisibility", visibilityTimeoutSeconds: { from, to } };
}

/** The outcomes that all strategies share, with their reasons. */
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
      permanent: `the consumer sends a copy with the reason to the dead queue, since SQS moves a message only after all of its receives; it deletes the message only after SQS has answered. SQS accepts ${sqsLimits.messageAttributes} attributes, so a message may have ${sqsLimits.messageAttributes - 2} of its own, routing-key among them${byLambda}`,
      return: `the message comes back at once, but the receive counts like a failed attempt${namedByLambda(input)}`,
    },
  };
}

/** The further duty of a Lambda function for a message that is to come back; for a sentence. */
export function namedByLambda({ lambda }: StrategyInput): string {
  return lambda === null
    ? ""
    : ". The function names the message in batchItemFailures, so that Lambda does not delete it";
}

/** The promises that every strategy keeps in the same way. */
export function commonPromises(input: StrategyInput, retention: Retention): Promises {
  const { plan, retry, names } = input;
  const attempts = retry.attempts.length;
  const throughTopic = `. Publishers give it at most ${sqsLimits.messageAttributes} message attributes: SNS delivers no message with more, and may lose it`;
  return {
    "no-loss": broker`every message ends deleted by its consumer or in the dead queue, if that takes less than ${inWords(retention.workSeconds)} from its publishing on: SQS deletes older messages${isDirect(plan) ? "" : throughTopic}`,
    attempts: broker`${count(attempts, "receive")} at most, then the dead queue: SQS moves the message on the receive after the last, which no consumer sees (maxReceiveCount ${attempts}), at the latest ${inWords(retention.windowSeconds)} after the first if a consumer is receiving`,
    "exact-attempts": nobody`a receive counts even if no handler ran: a lost answer, a look in the console, ${input.lambda === null ? "a consumer that stops" : "a function that is throttled"}; so there are at most as many attempts as declared, and there can be fewer`,
    crash: broker`${input.lambda === null ? "a crash counts" : "a function that throws, or that Lambda ends, fails with its whole batch, which counts"} as an attempt, and waits for the rest of the visibility timeout: ${count(attempts, "delivery", "deliveries")} at most`,
    "no-loop": broker`the receive count ends every series of receives, and the dead queue has no redrive policy`,
    isolation: broker`a retry never leaves the consumer's own queue`,
    permanent: consumer`the consumer sends a copy to ${names.dead}, then deletes the message: a crash between the two doubles the dead letter`,
    return: nobody`a returned message costs an attempt: after ${count(attempts, "receive")} without a success the message dies, tried or not`,
    ...declaredPromises(input, retention),
  };
}

function declaredPromises(input: StrategyInput, retention: Retention): Promises {
  const { retry, fifo } = input;
  return {
    "handler-timeout": consumer`${timeoutStatement(input)}`,
    retention: broker`${retentionStatement(fifo, retention)}`,
    ...(fifo && {
      order: broker`messages of one group (MessageGroupId) come in order, and wait while an earlier one is retried; when it dies the later ones go on without it`,
    }),
    ...(retry.alarmAbove !== null && { alarm: broker`${alarmStatement(input, retry.alarmAbove)}` }),
  };
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
  const depth = `CloudWatch raises an alarm when more than ${alarmAbove} messages are in ${endsOf({ plan, names }).join(", or in ")}`;
  return target.emptiedDeadQueues?.includes(plan.consumer) === true
    ? `${depth}; and when more than ${alarmAbove} are received from ${names.dead} within a minute, since another program empties it`
    : depth;
}

/** The queues where messages end. Without a topic, no message can be undelivered. */
export function endsOf({ plan, names }: Pick<StrategyInput, "plan" | "names">): readonly string[] {
  return isDirect(plan) ? [names.dead] : [names.dead, names.undelivered];
}

function retentionStatement(fifo: boolean, { deadSeconds, workSeconds, leftSeconds }: Retention): string {
  if (fifo) return `dead letters stay for ${inWords(deadSeconds)}: on FIFO the clock starts again in the dead queue`;
  return `dead letters stay until ${inWords(deadSeconds)} after they were published, so at least ${inWords(leftSeconds)}: ${inWords(workSeconds)} at most may pass before that`;
}

export function inWords(seconds: number): string {
  return formatDurationMs(seconds * 1_000);
}
