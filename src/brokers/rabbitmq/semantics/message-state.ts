/** A value in a header or an argument table, as JSON has it. */
export type HeaderValue =
  | string
  | number
  | boolean
  | null
  | readonly HeaderValue[]
  | { readonly [key: string]: HeaderValue };
export type Headers = Readonly<Record<string, HeaderValue>>;

/** Why a queue gave a message up. Source: `rabbit_dead_letter:reason/0`. */
export type DeathReason = "rejected" | "expired" | "maxlen" | "delivery_limit";

/** One record of `x-death`: all the deaths of a message in one queue for one reason. */
export interface Death {
  readonly queue: string;
  readonly reason: DeathReason;
  /** The exchange by which the message had come into the queue, and its keys then (without BCC), at the first such death. */
  readonly exchange: string;
  readonly routingKeys: readonly string[];
  readonly count: number;
  /** The `expiration` property that was taken away at the first such death; null where there was none. */
  readonly originalExpirationMs: number | null;
}

/** What `x-first-death-*` or `x-last-death-*` say. */
export interface DeathSummary {
  readonly queue: string;
  readonly reason: DeathReason;
  readonly exchange: string;
}

/** Why a message is nowhere any more. */
export type LossCause =
  /** It died in a queue that has no dead-letter exchange. */
  | "no-dead-letter-exchange"
  /** The dead-letter exchange, or the exchange that it was published to, does not exist. */
  | "missing-exchange"
  /** The exchange has no route for it, and no alternate that has one. */
  | "no-route"
  /** Every queue that it would go to closes a cycle of deaths without a rejection, so the broker drops it. */
  | "cycle"
  /** Every queue that it would go to is full and refuses it. */
  | "target-full"
  /** The queue was deleted for not being used (`x-expires`) with the message in it. */
  | "queue-expired";

/** A message in a queue. */
export type QueueStatus =
  /** Waiting for a consumer, or for its time to live to pass. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "ready" }
  /** With a consumer, which has not settled it yet. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "delivered" }
  /** Held back by delayed retry; the delay is counted from the return. Null where the consumer named the time itself. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "delayed"; readonly delayMs: number | null }
  /**
   * Dead, but kept in the internal list of a quorum queue whose at-least-once dead-lettering could not be done: neither
   * ready nor unacknowledged. It is tried again every 180 s. `waitingFor` names the queues that it still has to get into, or
   * whose confirmation is missing; empty means that it has no target at all, which only a change of the topology can mend.
   */
  | {
      readonly kind: "queue";
      readonly queue: string;
      readonly status: "retained";
      readonly reason: DeathReason;
      readonly cause: RetentionCause;
      readonly waitingFor: readonly string[];
    };

/** `unconfirmed`: every target has it, but one of them is the source itself, which never learns of it (before 3.12.2). */
export type RetentionCause = "missing-exchange" | "no-route" | "cycle" | "target-full" | "unconfirmed";

/** Where one copy of a message is. */
export type Place =
  | QueueStatus
  | { readonly kind: "acked"; readonly queue: string }
  /** `queue` is the queue that it died in; null where it never came into one. */
  | {
      readonly kind: "lost";
      readonly cause: LossCause;
      readonly queue: string | null;
      readonly reason: DeathReason | null;
    }
  /** The publisher was told that the message was not taken (negative confirm): it still has it. */
  | { readonly kind: "refused"; readonly queue: string };

/** Everything about one copy of a message that the broker's further behaviour depends on, or that its consumer sees. */
export interface MessageState {
  readonly place: Place;
  /** The exchange it was last published to, by a client or by dead-lettering. */
  readonly exchange: string;
  /** The routing key, followed by the keys of the CC header and then those of BCC. */
  readonly routingKeys: readonly string[];
  /** Which of the keys came from the BCC header: they are not recorded in deaths. */
  readonly blindKeys: readonly string[];
  /** The publisher's own headers, without BCC, and without `x-death` where this version does not read it. */
  readonly headers: Headers;
  readonly firstDeath: DeathSummary | null;
  readonly lastDeath: DeathSummary | null;
  /** In the order in which a consumer gets them in `x-death`, which is the order that the cycle rule sees. */
  readonly deaths: readonly Death[];
  /** The count of failures (4.0), or of all returns (3.10). From 4.0 on it goes with the message from queue to queue. */
  readonly deliveryCount: number;
  /** How often a consumer gave it back in this stay in the queue (4.0). */
  readonly acquiredCount: number;
  /** The `expiration` property, which dead-lettering takes away. */
  readonly expirationMs: number | null;
  /** How long after it entered its queue it expires: the smallest of the message's own and the queue's. Null for never. */
  readonly expiresAfterMs: number | null;
}

/** What a client publishes. */
export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  /** `CC` and `BCC` are lists of further routing keys. */
  readonly headers?: Headers;
  readonly expirationMs?: number | null;
}

/** What happens to a message in a queue. AMQP 1.0 outcomes have their own names. */
export type BrokerEvent =
  | { readonly kind: "deliver" }
  | { readonly kind: "ack" }
  | { readonly kind: "nack"; readonly requeue: boolean }
  | { readonly kind: "reject"; readonly requeue: boolean }
  /** The channel or connection of the consumer is closed with the message unacknowledged. */
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
      /** Whether `x-opt-delivery-time` names the time of the next delivery. */
      readonly deliveryTime?: boolean;
    }
  /** The time to live passes with the message at the head of its queue. */
  | { readonly kind: "expire" }
  /** The delay of a delayed retry passes. */
  | { readonly kind: "due" }
  /** The queue is too long with this message at its head, and drops the head. */
  | { readonly kind: "overflow" }
  /** Nobody used the queue for as long as `x-expires` says. */
  | { readonly kind: "queue-expires" }
  /** The broker tries a retained dead letter again. */
  | { readonly kind: "retry-dead-letter" };

/** What else is the case on the broker at the moment. */
export interface Circumstances {
  /** Queues that hold as many messages as they may. It matters where the overflow mode is a `reject-publish` one. */
  readonly fullQueues?: ReadonlySet<string>;
}

/** One way in which an event can end: the states of all copies that there are afterwards, at least one. */
export type Outcome = readonly MessageState[];
