export type OutcomeName = "success" | "transient" | "permanent" | "return";

/** Operations in order, each after the success of the one before. */
export type Outcome<Operation> = readonly Operation[] | { readonly byAttempt: readonly (readonly Operation[])[] };

/** A delay that a handler may ask for, and the operations for it. */
export interface RetryAfterStep<Operation> {
  readonly upToMs: number;
  readonly byAttempt: readonly (readonly Operation[])[];
}

/**
 * The operations that a consumer's code must do for the promises to hold. These are the fields that all brokers share,
 * and each broker adds its own. Other programs drive consumers by it.
 */
export interface BrokerContract<Operation> {
  /** The consumer whose code keeps it. */
  readonly consumer: string;
  /** The target as on the command line, such as `rabbitmq@4.3`. */
  readonly target: string;
  /** The strategy that the operations belong to. Another one needs other operations. */
  readonly strategy: string;
  /** The protocol that the names of the operations come from. */
  readonly protocol: string;
  /** The queue that the consumer receives from. Null if every instance has its own queue. */
  readonly workQueue: string | null;
  /** The queue where dead letters end. Null if every instance has its own queue. */
  readonly deadQueue: string | null;
  /** The queue for parked letters. Left out if the declaration asks for none. */
  readonly parkedQueue?: string;
  /**
   * `delayMs` counts from the failure of the attempt before. `delayLatestMs` is the latest time at which the attempt is
   * due.
   */
  readonly attempts: readonly { readonly attempt: number; readonly delayMs: number; readonly delayLatestMs?: number }[];
  /** For one attempt. Null if crashes have no budget and count towards the attempts. */
  readonly crashDeliveries: number | null;
  /** The most deliveries of one message with this strategy on this target. */
  readonly maxDeliveries: number;
  /** The operations to do in order, by the end of a handler run. `byAttempt` has them for each attempt. */
  readonly outcomes: Readonly<Record<OutcomeName, Outcome<Operation>>>;
  /** The reason for each outcome. */
  readonly why: Readonly<Record<OutcomeName, string>>;
  /** The operations for a delay that a handler asks for: the first entry with `upToMs` at or above it applies. */
  readonly retryAfter?: readonly RetryAfterStep<Operation>[];
  /** Counts from the receive. */
  readonly handlerTimeoutMs: number | null;
  /** Names of permanent errors. Every other error is transient. */
  readonly permanentErrors: readonly string[];
}

/** One operation, for code that knows no broker. */
export interface AnyOperation {
  readonly operation: string;
}

/** A contract of any broker. */
export type AnyContract = BrokerContract<AnyOperation>;
