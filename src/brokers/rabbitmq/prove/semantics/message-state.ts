/** A value in a header or an argument table, as in JSON. */
export type HeaderValue =
  | string
  | number
  | boolean
  | null
  | readonly HeaderValue[]
  | { readonly [key: string]: HeaderValue };
export type Headers = Readonly<Record<string, HeaderValue>>;

/** The reasons for a death in a queue. Source: `rabbit_dead_letter:reason/0`. */
export const deathReasons = ["rejected", "expired", "maxlen", "delivery_limit"] as const;
export type DeathReason = (typeof deathReasons)[number];

/** One record of `x-death`: all the deaths of a message in one queue for one reason. */
export interface Death {
  readonly queue: string;
  readonly reason: DeathReason;
  /** The exchange that had put the message into the queue, and its keys then (without BCC), at the first such death. */
  readonly exchange: string;
  readonly routingKeys: readonly string[];
  readonly count: number;
  /** The `expiration` property that the broker removed at the first such death; null if there was none. */
  readonly originalExpirationMs: number | null;
}

/** The content of `x-first-death-*` or `x-last-death-*`. */
export type DeathSummary = Pick<Death, "queue" | "reason" | "exchange">;

export type LossCause =
  /** It died in a queue that has no dead-letter exchange. */
  | "no-dead-letter-exchange"
  /** The dead-letter exchange, or the exchange of the publication, does not exist. */
  | "missing-exchange"
  /** The exchange has no route for it, and no alternate exchange has one. */
  | "no-route"
  /** Every target queue closes a cycle of deaths without a rejection, so the broker drops the message. */
  | "cycle"
  /** Every target queue is full and refuses it. */
  | "target-full"
  /** Its queue dead-letters at most once, and does not learn that no target queue has it. */
  | "no-confirm"
  /** The broker deleted the unused queue with the message in it (`x-expires`). */
  | "queue-expired"
  /** The broker deleted the queue with the message in it: its node restarted, or its last consumer went. */
  | "queue-deleted";

export type QueueStatus =
  /** Waits for a consumer, or for the end of its time to live. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "ready" }
  /** A consumer holds it and has not settled it yet. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "delivered" }
  /** Delayed retry holds it back. The delay counts from the return. Null if the consumer named the time itself. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "delayed"; readonly delayMs: number | null }
  /**
   * Dead, but kept in the internal list of a quorum queue, because at-least-once dead-lettering failed. It is neither
   * ready nor unacknowledged, and the queue tries again every 180 s. `waitingFor` names the queues that must still take
   * or confirm it. If it is empty, there is no target at all, and only a change of the topology helps.
   */
  | {
      readonly kind: "queue";
      readonly queue: string;
      readonly status: "retained";
      readonly reason: DeathReason;
      readonly cause: RetentionCause;
      readonly waitingFor: readonly string[];
    };

/**
 * `unconfirmed`: every target has it, but one of them is the source itself, which never learns of it (before 3.12.2).
 */
export type RetentionCause = "missing-exchange" | "no-route" | "cycle" | "target-full" | "unconfirmed";

export type Place =
  | QueueStatus
  | { readonly kind: "acked"; readonly queue: string }
  /** `queue` is the queue where it died; null if it never entered one. */
  | {
      readonly kind: "lost";
      readonly cause: LossCause;
      readonly queue: string | null;
      readonly reason: DeathReason | null;
    }
  /** The broker refused the message with a negative confirm, so the publisher still has it. */
  | { readonly kind: "refused"; readonly queue: string };

/**
 * The state of one copy of a message: everything that the broker's further behaviour depends on, or that its consumer
 * sees.
 */
export interface MessageState {
  readonly place: Place;
  /** The exchange of its last publication, by a client or by dead-lettering. */
  readonly exchange: string;
  /** The routing key, followed by the keys of the CC header and then those of BCC. */
  readonly routingKeys: readonly string[];
  /** The keys that came from the BCC header. Deaths do not record them. */
  readonly blindKeys: readonly string[];
  /** The publisher's own headers, without BCC. `x-death` is missing too if this version does not read it. */
  readonly headers: Headers;
  readonly firstDeath: DeathSummary | null;
  readonly lastDeath: DeathSummary | null;
  /** In the order of `x-death`, which the consumer sees and the cycle rule uses. */
  readonly deaths: readonly Death[];
  /** The count of failures (4.0), or of all returns (3.10). From 4.0 on the message carries it from queue to queue. */
  readonly deliveryCount: number;
  /** The number of returns by a consumer in this stay in the queue (4.0). */
  readonly acquiredCount: number;
  /** The `expiration` property. Dead-lettering removes it. */
  readonly expirationMs: number | null;
  /**
   * The time from its arrival in the queue to its expiry: the smaller of the message's and the queue's. Null for never.
   */
  readonly expiresAfterMs: number | null;
}

/** A message as a client publishes it. */
export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  /** `CC` and `BCC` are lists of further routing keys. */
  readonly headers?: Headers;
  readonly expirationMs?: number | null;
}

/** An event that a message meets in a queue. */
export type BrokerEvent =
  | ConsumerEvent
  | { readonly kind: "deliver" }
  /** The time to live ends while the message is at the head of its queue. */
  | { readonly kind: "expire" }
  /** The delay of a delayed retry ends. */
  | { readonly kind: "due" }
  /** The queue is too long with this message at its head, and drops the head. */
  | { readonly kind: "overflow" }
  /** The queue stayed unused for as long as `x-expires` says. */
  | { readonly kind: "queue-expires" }
  /** The node of the queue stops and starts again. A queue that is not durable is then gone. */
  | { readonly kind: "broker-restart" }
  /** The last consumer of the queue cancels or goes away. An auto-delete queue is then gone. */
  | { readonly kind: "last-consumer-gone" }
  /** The broker tries a retained dead letter again. */
  | { readonly kind: "retry-dead-letter" };

/** A consumer's answer, or its missing answer. AMQP 1.0 outcomes have their own names. */
export type ConsumerEvent =
  | { readonly kind: "ack" }
  | { readonly kind: "nack"; readonly requeue: boolean }
  | { readonly kind: "reject"; readonly requeue: boolean }
  /** The consumer's channel or connection closes while it holds the message. */
  | { readonly kind: "crash" }
  /** The consumer held the message for longer than the consumer timeout. */
  | { readonly kind: "consumer-timeout" }
  /** AMQP 1.0. */
  | { readonly kind: "accepted" }
  | { readonly kind: "released" }
  | { readonly kind: "rejected" }
  | {
      readonly kind: "modified";
      readonly deliveryFailed: boolean;
      readonly undeliverableHere: boolean;
      /** True if `x-opt-delivery-time` names the time of the next delivery. */
      readonly deliveryTime?: boolean;
    };

export interface Circumstances {
  /**
   * Queues that hold as many messages as they may. This matters only if the overflow mode begins with `reject-publish`.
   */
  readonly fullQueues?: ReadonlySet<string>;
}

/** One possible end of an event: the states of all the copies that exist afterwards, at least one. */
export type Outcome = readonly MessageState[];
