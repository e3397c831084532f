import type { BrokerContract, Outcome as BrokerOutcome } from "../../../contract/contract.ts";
import type { BindingResource } from "./topology.ts";

/**
 * One operation of a consumer's code on the broker, for one outcome of an attempt. The fields are the client library's.
 */
export type Operation =
  | { readonly operation: "basic.ack" }
  | { readonly operation: "basic.nack" | "basic.reject"; readonly requeue: boolean }
  | PublishOperation
  | { readonly operation: "accepted" | "released" }
  | ModifiedOperation;

/**
 * Publishes the same body and properties, except for the named changes. Then waits for the confirm. If the broker
 * returns or refuses the copy, the consumer does not acknowledge the message.
 */
export interface PublishOperation {
  readonly operation: "basic.publish";
  /** The exchange that receives the copy. "" is the default exchange. */
  readonly exchange: string;
  /** The routing key of the copy. With the default exchange it is the name of a queue. */
  readonly routingKey: string;
  /** The consumer settles the message only after the broker's confirm. */
  readonly confirm: true;
  /** The broker returns a copy that reaches no queue. */
  readonly mandatory: true;
  /**
   * The copy's `expiration` property: a random number between the two, or the delay that the handler asked for. Null
   * means that the copy must have none. The copy never keeps the message's own. In a wait queue it would make the
   * attempt early; in the dead queue it would delete the dead letter.
   */
  readonly expirationMs: { readonly from: number; readonly to: number } | "asked" | null;
  /**
   * Jitter: the exchanges that the copy may go to instead of `exchange`, and the wait there, shortest first. The
   * consumer takes one of these or the operation's own two fields, at random, each as likely as the others. A consumer
   * that ignores them keeps the contract as well: then every copy waits for the longest delay.
   */
  readonly spread?: readonly {
    readonly exchange: string;
    readonly expirationMs: { readonly from: number; readonly to: number };
  }[];
  /** Headers to set on the copy, beside those of the message. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The header that receives the delivery's routing key, unless the message has that header already. */
  readonly copyRoutingKeyTo?: string;
  /** Headers of the message that the copy must not have. */
  readonly removeHeaders: readonly string[];
  /**
   * Properties of the message that the copy must not have. The broker refuses a `user-id` that is not the publisher's
   * own. Source: docs, "Validated User ID".
   */
  readonly removeProperties: readonly ["user-id"];
}

/** The AMQP 1.0 outcome `modified`. */
export interface ModifiedOperation {
  readonly operation: "modified";
  /** True counts the delivery towards the delivery limit. */
  readonly deliveryFailed: boolean;
  /** True sends the message to the dead-letter exchange. */
  readonly undeliverableHere: boolean;
  /**
   * Sets `x-opt-delivery-time` to now plus a random delay between the two, or plus the delay that the handler asked
   * for. Now is the time of the broker's clock.
   */
  readonly deliveryTimeMs?: { readonly from: number; readonly to: number } | "asked";
  /**
   * The consumer may add annotations of its own after any failure. The broker ignores the ones that it does not know.
   */
  readonly messageAnnotations?: Readonly<Record<string, string>>;
}

export type Outcome = BrokerOutcome<Operation>;

/** The place where the handler's code finds the number of its attempt. */
export type AttemptNumber =
  | {
      /**
       * From the second attempt on, the delivery's routing key or exchange is this prefix and the attempt number. Any
       * other is the first attempt.
       */
      readonly from: "routing-key" | "exchange";
      readonly prefix: string;
      /** The place of the publisher's own routing key from the second attempt on. */
      readonly originalRoutingKey:
        | { readonly header: string }
        /** In the `routing-keys` of this record of `x-death`: a record keeps the keys of its first death. */
        | { readonly death: { readonly queue: string; readonly reason: "rejected" } };
    }
  /**
   * The header holds the number of failed deliveries so far; the attempt is one more. `x-delivery-count` is absent on
   * the first delivery. `delivery-count` is a field of AMQP 1.0's own header section.
   */
  | { readonly from: "header"; readonly header: "x-delivery-count" | "delivery-count" };

/** The duties of the consumer's code that make the promises hold. */
export interface Contract extends BrokerContract<Operation> {
  /** AMQP 0-9-1 acknowledges and rejects. AMQP 1.0 ends each delivery with a disposition. */
  readonly protocol: "amqp-0-9-1" | "amqp-1.0";
  /** The place of the attempt's number in a delivery. Null if every instance has its own queue. */
  readonly attemptNumber: AttemptNumber | null;
  /**
   * The exchanges that producers publish to, with the routing keys that arrive here. The exchange "" is the default
   * exchange: producers send straight to the work queue, and its name is the routing key. A headers exchange is there
   * once for each match.
   */
  readonly sources: readonly {
    readonly exchange: string;
    readonly routingKeys: readonly string[];
    /** The arguments of the binding to a headers exchange, which name the headers to match. Left out for other kinds. */
    readonly arguments?: BindingResource["arguments"];
  }[];
  /** Set if the work queue refuses messages while it is full. The publisher keeps them then. */
  readonly refusesWhenFull?: true;
  /** The queue that each instance declares for itself; only for every-instance. */
  readonly instanceQueue?: InstanceQueue;
}

export interface InstanceQueue {
  readonly exclusive: true;
  readonly autoDelete: true;
  readonly durable: false;
  readonly arguments: Readonly<Record<string, string>>;
  readonly bindings: readonly {
    readonly exchange: string;
    readonly routingKey: string;
    readonly arguments?: BindingResource["arguments"];
  }[];
}
