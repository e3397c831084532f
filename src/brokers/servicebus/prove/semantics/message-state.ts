/** The part of a message that the broker looks at. It never changes on the way. */
export interface MessageContent {
  readonly messageId: string;
  /** Null without a session. */
  readonly sessionId: string | null;
  /** Filters call it `Label`. Null without a subject. */
  readonly subject: string | null;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
}

/** The reason that a message is in a dead-letter queue. A reason given by a consumer is a separate text. */
export type DeadLetterReason =
  | "MaxDeliveryCountExceeded"
  | "TTLExpiredException"
  | "MaxTransferHopCountExceeded"
  | "Session ID is null."
  /** Its entity had to forward it to one that takes nothing. */
  | "forward-failed"
  | "by-consumer";

/** A message in a queue or subscription, or in the dead-letter queue of either. */
export interface EntityPlace {
  readonly kind: "entity";
  /** The name of a queue, or the path of a subscription. */
  readonly entity: string;
  /** Null in the queue itself, the reason in its dead-letter queue. */
  readonly deadLetter: DeadLetterReason | null;
  /** `scheduled` until its time comes; `deferred` until a receiver asks for it by its sequence number. */
  readonly status: "active" | "locked" | "scheduled" | "deferred";
}

/** The cause of a loss: the message is gone without being completed. */
export type LossCause =
  /** Its time to live ended, in an entity that does not dead-letter on expiry. */
  | "expired"
  /** A message with the same id was sent before. */
  | "duplicate"
  /** No rule of any subscription lets it in. */
  | "no-subscription"
  /** Its sender cancelled the schedule. */
  | "cancelled"
  /** The receiver used receive-and-delete. */
  | "received-and-deleted";

export type Place =
  | EntityPlace
  | { readonly kind: "completed"; readonly entity: string }
  | { readonly kind: "lost"; readonly cause: LossCause; readonly entity: string }
  /** The broker refused the message, so the sender still has it. */
  | { readonly kind: "refused"; readonly entity: string; readonly error: string };

/** The state of one copy of a message: everything that its further way depends on, or that its consumer sees. */
export interface MessageState {
  readonly place: Place;
  readonly content: MessageContent;
  /** The number of deliveries that ended without a settlement, as in the AMQP header: 0 in the first delivery. */
  readonly deliveryCount: number;
  /** The number of times that it was forwarded. */
  readonly hops: number;
  /** The time to live that it carries; null for none. */
  readonly timeToLiveMs: number | null;
}

/** A message as a client sends it to a queue or a topic. */
export interface SentMessage {
  readonly to: string;
  readonly content: MessageContent;
  /** Its own time to live; null for none. */
  readonly timeToLiveMs: number | null;
  /** True if the entity enqueues it at a later time. */
  readonly scheduled: boolean;
}

/** An event that a message meets in an entity. */
export type ServicebusEvent =
  /** A receiver gets it and holds its lock, or that of its session. */
  | { readonly kind: "deliver" }
  /** A receiver asks for a deferred message. */
  | { readonly kind: "receive-deferred" }
  /** A receiver gets it and the broker forgets it. */
  | { readonly kind: "receive-and-delete" }
  | { readonly kind: "complete" }
  | { readonly kind: "abandon" }
  /** The AMQP outcome `released`: the consumer did not try it. */
  | { readonly kind: "release" }
  | { readonly kind: "dead-letter" }
  | { readonly kind: "defer" }
  | { readonly kind: "renew-lock" }
  /** The lock of the message, or of its session, ends. */
  | { readonly kind: "lock-expires" }
  /** The receiver closes its session without settling the message. */
  | { readonly kind: "session-closes" }
  /** The time of a scheduled message comes. */
  | { readonly kind: "schedule-due" }
  | { readonly kind: "cancel" }
  /** Its time to live has ended, and the broker notices. */
  | { readonly kind: "expire" }
  /** The broker tries again to forward a message. */
  | { readonly kind: "forward" };

export interface Circumstances {
  /** Tells if an entity with duplicate detection still knows a message's id. By default it knows none. */
  readonly isKnown?: (entity: string, messageId: string) => boolean;
  /** Queues and topics that take nothing, because they are full or disabled. */
  readonly closed?: ReadonlySet<string>;
  /**
   * True if the message's time to live has ended. The broker checks this when a lock ends and when a receiver asks for
   * a deferred message.
   */
  readonly isExpired?: boolean;
  /** Sessions that another receiver holds. */
  readonly lockedSessions?: ReadonlySet<string>;
  /** True if the message with its properties is larger than its destination takes. The default is false. */
  readonly isTooLarge?: boolean;
}

/** One possible end of an event: the states of all the copies that exist afterwards, at least one. */
export type Outcome = readonly MessageState[];
