import type { BrokerContract, Outcome as BrokerOutcome } from "../contract.ts";

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
  /**
   * Jitter: where the copy may go in place of `exchange`, and how long it waits there, shortest first. The consumer takes one
   * of these or the operation's own two fields, at random, each as likely as the others. Whoever does not look at them keeps the contract
   * as well: then every copy waits as long as the delay can be.
   */
  readonly spread?: readonly {
    readonly exchange: string;
    readonly expirationMs: { readonly from: number; readonly to: number };
  }[];
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
  /** The consumer may add annotations of its own, after any failure: the broker acts on none but those it knows. */
  readonly messageAnnotations?: Readonly<Record<string, string>>;
}

export type Outcome = BrokerOutcome<Operation>;

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

/** What the consumer's code must do for the promises to hold. */
export interface Contract extends BrokerContract<Operation> {
  readonly protocol: "amqp-0-9-1" | "amqp-1.0";
  readonly attemptNumber: AttemptNumber | null;
  /** Where producers publish what arrives here. */
  readonly sources: readonly { readonly exchange: string; readonly routingKeys: readonly string[] }[];
  /** The queue that each instance declares for itself; only for every-instance. */
  readonly instanceQueue?: InstanceQueue;
}

export interface InstanceQueue {
  readonly exclusive: true;
  readonly autoDelete: true;
  readonly durable: false;
  readonly arguments: Readonly<Record<string, string>>;
  readonly bindings: readonly { readonly exchange: string; readonly routingKey: string }[];
}
