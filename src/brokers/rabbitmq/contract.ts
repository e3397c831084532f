/** What a consumer's code does with the broker for one outcome of an attempt. Fields are what the client library takes. */
export type Operation =
  | { readonly operation: "basic.ack" }
  | { readonly operation: "basic.nack" | "basic.reject"; readonly requeue: boolean }
  | PublishOperation
  | { readonly operation: "accepted" | "released" }
  | ModifiedOperation;

/** Publishes the same body and the same properties but for those named, then waits for the confirm; a returned or refused message is not acknowledged. */
export interface PublishOperation {
  readonly operation: "basic.publish";
  readonly exchange: string;
  readonly routingKey: string;
  readonly confirm: true;
  readonly mandatory: true;
  /**
   * The copy's `expiration` property: a random number between the two, or the delay that the handler asked for. Null means
   * that the copy must have none. The message's own is never kept: in a wait queue it would make the attempt early, in
   * the dead queue it would delete the dead letter.
   */
  readonly expirationMs: { readonly from: number; readonly to: number } | "asked" | null;
  /** Headers to set on the copy, beside those of the message. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The header that gets the delivery's routing key, unless the message has that header already. */
  readonly copyRoutingKeyTo?: string;
  /** Headers of the message that the copy must not have. */
  readonly removeHeaders: readonly string[];
  /**
   * Properties of the message that the copy must not have. The broker refuses a `user-id` that is not the publisher's own.
   * Source: docs, "Validated User ID".
   */
  readonly removeProperties: readonly ["user-id"];
}

/** The AMQP 1.0 `modified` outcome. */
export interface ModifiedOperation {
  readonly operation: "modified";
  readonly deliveryFailed: boolean;
  readonly undeliverableHere: boolean;
  /** Sets `x-opt-delivery-time` to now plus a random delay between the two, or plus the delay that the handler asked for. */
  readonly deliveryTimeMs?: { readonly from: number; readonly to: number } | "asked";
  readonly messageAnnotations?: Readonly<Record<string, string>>;
}

/** Operations in order: the next one only when the one before has succeeded. */
export type Outcome = readonly Operation[] | { readonly byAttempt: readonly (readonly Operation[])[] };

export type OutcomeName = "success" | "transient" | "permanent" | "return";

/** Where the handler's code finds which attempt it is running. */
export type AttemptNumber =
  | {
      /** The routing key is this prefix and the attempt number from the second attempt on; any other key is the first attempt. */
      readonly from: "routing-key";
      readonly prefix: string;
      /** Where the publisher's own routing key is from the second attempt on. */
      readonly originalRoutingKey:
        | { readonly header: string }
        /** In the `routing-keys` of this record of `x-death`: a record keeps the keys of its first death. */
        | { readonly death: { readonly queue: string; readonly reason: "rejected" } };
    }
  /**
   * The header holds the failed deliveries so far, and the attempt is one more. `x-delivery-count` is absent on the first;
   * `delivery-count` is a field of AMQP 1.0's own header section.
   */
  | { readonly from: "header"; readonly header: "x-delivery-count" | "delivery-count" };

/** What the consumer's code must do for the promises to hold. Other programs drive consumers by it. */
export interface Contract {
  readonly consumer: string;
  readonly target: string;
  readonly strategy: string;
  readonly protocol: "amqp-0-9-1" | "amqp-1.0";
  readonly workQueue: string | null;
  readonly deadQueue: string | null;
  /** `delayMs` is counted from the failure of the attempt before, `delayLatestMs` is the same with all jitter. */
  readonly attempts: readonly { readonly attempt: number; readonly delayMs: number; readonly delayLatestMs?: number }[];
  readonly crashDeliveries: number | null;
  /** The most deliveries that one message can cause with this strategy on this target. */
  readonly maxDeliveries: number;
  readonly outcomes: Readonly<Record<OutcomeName, Outcome>>;
  /** Why each outcome is what it is. */
  readonly why: Readonly<Record<OutcomeName, string>>;
  /** What to do when a handler asks for a delay of its own: the first entry whose `upToMs` is not below it. */
  readonly retryAfter?: readonly RetryAfterStep[];
  readonly attemptNumber: AttemptNumber | null;
  /** Where producers publish what arrives here. */
  readonly sources: readonly { readonly exchange: string; readonly routingKeys: readonly string[] }[];
  readonly handlerTimeoutMs: number | null;
  /** Names of errors that are permanent; every other one is transient. */
  readonly permanentErrors: readonly string[];
  /** The queue that each instance declares for itself; only for every-instance. */
  readonly instanceQueue?: InstanceQueue;
}

/** A delay that a handler may ask for, and what to do for it. */
export interface RetryAfterStep {
  readonly upToMs: number;
  readonly byAttempt: readonly (readonly Operation[])[];
}

export interface InstanceQueue {
  readonly exclusive: true;
  readonly autoDelete: true;
  readonly durable: false;
  readonly arguments: Readonly<Record<string, string>>;
  readonly bindings: readonly { readonly exchange: string; readonly routingKey: string }[];
}

/** The operations of an outcome after a given attempt; none where the contract has nothing for it. */
export function operationsAfter(outcome: Outcome, attempt: number): readonly Operation[] {
  return "byAttempt" in outcome ? (outcome.byAttempt[attempt - 1] ?? []) : outcome;
}
