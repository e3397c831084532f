/** How long a message stays hidden, in seconds: a whole number between the two. */
export interface Visibility {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** What the time is counted from: the receive that hid the message, or the call that changed the time. */
  readonly since: "receive" | "call";
}

/** Why a message is nowhere any more. */
export type LossCause =
  /** No subscription of the topic takes it. */
  | "no-subscription"
  /** A topic could not hand it over, and could not put it into the subscription's dead-letter queue either. */
  | "undeliverable"
  /** It was older than its queue keeps messages, or than the dead queue does that it came to. */
  | "retention"
  /** It had to be moved to a queue that is not there. */
  | "missing-dead-queue"
  /** It had to be moved to a queue whose redrive-allow policy does not name its own. */
  | "redrive-not-allowed"
  /** It had to be moved from a FIFO queue to a standard one, or the other way round. */
  | "queue-type-mismatch";

/** A message in a queue. */
export type QueuePlace =
  /** Not to be received yet: the queue's delay, or its own. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "delayed" }
  /** `handled`: the handler of its last receive still runs, though its time is over. */
  | { readonly kind: "queue"; readonly queue: string; readonly status: "visible"; readonly handled: boolean }
  /** Hidden until its visibility timeout has passed. `handled`: its handler runs, and may still answer. */
  | {
      readonly kind: "queue";
      readonly queue: string;
      readonly status: "in-flight";
      readonly visibility: Visibility;
      readonly handled: boolean;
    };

/** Where one copy of a message is. */
export type Place =
  | QueuePlace
  | { readonly kind: "deleted"; readonly queue: string }
  /** `queue` is the queue where it was lost, or that it should have come to; null where there is none. */
  | { readonly kind: "lost"; readonly cause: LossCause; readonly queue: string | null }
  /** The sender was told that the message was not taken, and still has it. */
  | { readonly kind: "refused"; readonly by: string; readonly error: string };

/** Everything about one copy of a message that its further way depends on, or that its consumer sees. */
export interface MessageState {
  readonly place: Place;
  /** `ApproximateReceiveCount`: receives in all queues together. The receive that moves a message is not counted. */
  readonly receiveCount: number;
  /** Receives since it came into the queue that it is in. */
  readonly receivesHere: number;
  /** The `MessageGroupId` in a FIFO queue; null elsewhere. */
  readonly groupId: string | null;
}

/** What a client publishes to a topic. */
export interface Publication {
  readonly topic: string;
  /** Message attributes of the type String. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** A FIFO topic wants one. */
  readonly groupId?: string;
}

/** What a client sends to a queue. */
export interface SentMessage {
  readonly queue: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  /** The message's own delay, instead of the queue's. */
  readonly delaySeconds?: number;
}

/** What happens to a message in a queue. */
export type SqsEvent =
  /** A consumer asks for messages, and this one's turn has come. */
  | { readonly kind: "receive" }
  /** `receipt`: the receipt handle of the last receive (the default), or of one before it. */
  | { readonly kind: "delete"; readonly receipt?: "latest" | "older" }
  /** With the receipt handle of the last receive, which was `elapsedSeconds` ago (0 unless said otherwise). */
  | {
      readonly kind: "change-visibility";
      readonly fromSeconds: number;
      readonly toSeconds: number;
      readonly elapsedSeconds?: number;
    }
  /** The consumer does nothing more about it: the handler is over, or the process died. SQS learns nothing of it. */
  | { readonly kind: "let-go" }
  /** The visibility timeout passes. */
  | { readonly kind: "visibility-passes" }
  /** The delay passes. */
  | { readonly kind: "delay-passes" }
  /** The queue's retention period passes. */
  | { readonly kind: "expire" };

/** What else is the case at the moment. */
export interface Circumstances {
  /** How old the message is at most: on a standard queue counted from its publishing. 0 unless said otherwise. */
  readonly ageSeconds?: number;
  /** Groups of the FIFO queue of which an earlier message is in flight. */
  readonly blockedGroups?: ReadonlySet<string>;
  /** Queues that a topic cannot hand over to just now. */
  readonly unreachableQueues?: ReadonlySet<string>;
}

/** One way in which an event can end: the states of all copies that there are afterwards, at least one. */
export type Outcome = readonly MessageState[];
