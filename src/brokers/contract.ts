export type OutcomeName = "success" | "transient" | "permanent" | "return";

/** Operations in order: the next one only when the one before has succeeded. */
export type Outcome<Operation> = readonly Operation[] | { readonly byAttempt: readonly (readonly Operation[])[] };

/** A delay that a handler may ask for, and what to do for it. */
export interface RetryAfterStep<Operation> {
  readonly upToMs: number;
  readonly byAttempt: readonly (readonly Operation[])[];
}

/**
 * What the consumer's code must do for the promises to hold, as far as every broker has it: each adds what is its own. Other programs drive
 * consumers by it.
 */
export interface BrokerContract<Operation> {
  readonly consumer: string;
  readonly target: string;
  readonly strategy: string;
  readonly protocol: string;
  /** What the consumer receives from; null where every instance has a queue of its own. */
  readonly workQueue: string | null;
  readonly deadQueue: string | null;
  /** `delayMs` is counted from the failure of the attempt before, `delayLatestMs` is the latest that the attempt is due. */
  readonly attempts: readonly { readonly attempt: number; readonly delayMs: number; readonly delayLatestMs?: number }[];
  /** On one attempt; null where crashes have no budget of their own and count towards the attempts. */
  readonly crashDeliveries: number | null;
  /** The most deliveries that one message can cause with this strategy on this target. */
  readonly maxDeliveries: number;
  readonly outcomes: Readonly<Record<OutcomeName, Outcome<Operation>>>;
  /** Why each outcome is what it is. */
  readonly why: Readonly<Record<OutcomeName, string>>;
  /** What to do when a handler asks for a delay of its own: the first entry whose `upToMs` is not below it. */
  readonly retryAfter?: readonly RetryAfterStep<Operation>[];
  /** Counted from the receive. */
  readonly handlerTimeoutMs: number | null;
  /** Names of errors that are permanent; every other one is transient. */
  readonly permanentErrors: readonly string[];
}

/** An operation that jitter has several ways of, with what is different in each. */
interface Spread<Operation> {
  readonly spread?: readonly Partial<Operation>[];
}

/**
 * The ways of doing an operation, of which the consumer takes one at random, each as likely as the others: those of its
 * `spread`, shortest wait first, and the operation as it stands, the longest.
 */
export function waysOf<Operation extends object>(operation: Operation & Spread<Operation>): readonly Operation[] {
  const { spread = [], ...own } = operation;
  return [...spread.map((each) => ({ ...own, ...each }) as Operation), own as Operation];
}

/**
 * The operations of an outcome after a given attempt. A number beyond the last attempt is taken for the last: fewer attempts may have been
 * declared while the message waited. There are none for what is no attempt.
 */
export function operationsAfter<Operation>(outcome: Outcome<Operation>, attempt: number): readonly Operation[] {
  return "byAttempt" in outcome ? (outcome.byAttempt[Math.min(attempt, outcome.byAttempt.length) - 1] ?? []) : outcome;
}
