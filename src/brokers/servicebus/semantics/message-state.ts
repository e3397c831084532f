/** What of a message the broker looks at. Nothing here changes on the way. */
export interface MessageContent {
  readonly messageId: string;
  /** Null where it is in no session. */
  readonly sessionId: string | null;
  /** `Label` in the words of filters; null where it has none. */
  readonly subject: string | null;
  /** Application properties. */
  readonly properties: Readonly<Record<string, string | number | boolean>>;
}

/** Why a message is in a dead-letter queue. What a consumer gives as its reason is a text of its own. */
export type DeadLetterReason =
  | "MaxDeliveryCountExceeded"
  | "TTLExpiredException"
  | "MaxTransferHopCountExceeded"
  | "Session ID is null."
  /** It had to be forwarded to an entity that takes nothing. */
  | "forward-failed"
  | "by-consumer";

/** A message in a queue or subscription, or in the dead-letter queue that each of them has. */
export interface EntityPlace {
  readonly kind: "entity";
  /** A queue's name, or a subscription's path. */
  readonly entity: string;
  /** Null in the queue itself, the reason in its dead-letter queue. */
  readonly deadLetter: DeadLetterReason | null;
  /** `scheduled` until its time comes, `deferred` until somebody asks for it by its sequence number. */
  readonly status: "active" | "locked" | "scheduled" | "deferred";
}

/** Why a message is nowhere any more, though nobody completed it. */
export type LossCause =
  /** Its time was over, in an entity that does not dead-letter on expiry. */
  | "expired"
  /** A message with its id was sent before. */
  | "duplicate"
  /** No rule of any subscription lets it in. */
  | "no-subscription"
  /** Whoever scheduled it took it back. */
  | "cancelled"
  /** It was received and deleted in one. */
  | "received-and-deleted";

/** Where one copy of a message is. */
export type Place =
  | EntityPlace
  | { readonly kind: "completed"; readonly entity: string }
  | { readonly kind: "lost"; readonly cause: LossCause; readonly entity: string }
  /** The sender was told that the message was not taken, and still has it. */
  | { readonly kind: "refused"; readonly entity: string; readonly error: string };

/** Everything about one copy of a message that its further way depends on, or that its consumer sees. */
export interface MessageState {
  readonly place: Place;
  readonly content: MessageContent;
  /** Deliveries that ended without the message being settled, as the AMQP header has it: 0 in the first delivery. */
  readonly deliveryCount: number;
  /** How often it was forwarded. */
  readonly hops: number;
  /** The time to live that it carries; null for ever. */
  readonly timeToLiveMs: number | null;
}

/** What a client sends to a queue or a topic. */
export interface SentMessage {
  readonly to: string;
  readonly content: MessageContent;
  /** Its own time to live; null for ever. */
  readonly timeToLiveMs: number | null;
  /** Whether it is to be enqueued at a time to come. */
  readonly scheduled: boolean;
}

/** What happens to a message in an entity. */
export type ServicebusEvent =
  /** A receiver gets it and holds its lock, or that of its session. */
  | { readonly kind: "deliver" }
  /** A receiver asks for a deferred message. */
  | { readonly kind: "receive-deferred" }
  /** A receiver gets it and the broker forgets it. */
  | { readonly kind: "receive-and-delete" }
  | { readonly kind: "complete" }
  | { readonly kind: "abandon" }
  /** AMQP's outcome `released`: it was not tried. */
  | { readonly kind: "release" }
  | { readonly kind: "dead-letter" }
  | { readonly kind: "defer" }
  | { readonly kind: "renew-lock" }
  /** The lock of the message, or of its session, runs out. */
  | { readonly kind: "lock-expires" }
  /** The receiver gives its session back and has not settled the message. */
  | { readonly kind: "session-closes" }
  /** The time of a scheduled message comes. */
  | { readonly kind: "schedule-due" }
  | { readonly kind: "cancel" }
  /** Its time to live is over, and the broker takes note of it. */
  | { readonly kind: "expire" }
  /** A message that could not be forwarded is tried again. */
  | { readonly kind: "forward" };

/** What else is the case at the moment. */
export interface Circumstances {
  /** Whether an entity with duplicate detection still knows a message's id. No id is known unless said otherwise. */
  readonly isKnown?: (entity: string, messageId: string) => boolean;
  /** Queues and topics that take nothing: full or disabled. */
  readonly closed?: ReadonlySet<string>;
  /** Whether the time of the message is over, which the broker looks at when a lock ends and when a deferred message is asked for. */
  readonly isExpired?: boolean;
  /** Sessions that another receiver holds. */
  readonly lockedSessions?: ReadonlySet<string>;
}

/** One way in which an event can end: the states of all copies that there are afterwards, at least one. */
export type Outcome = readonly MessageState[];
