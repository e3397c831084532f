/** The time that a message stays hidden, in seconds: a whole number between the two. */
export interface Visibility {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** The start of the time: the receive that hid the message, or the call that changed the time. */
  readonly since: "receive" | "call";
}

export type LossCause =
  /** No subscription of the topic takes it. */
  | "no-subscription"
  /** A topic could not deliver it, and could not put it into the subscription's dead-letter queue either. */
  | "undeliverable"
  /** It became older than its queue keeps messages, or the dead queue that it came to. */
  | "retention"
  /** Its queue had to move it to a queue that does not exist. */
  | "missing-dead-queue"
  /** Its queue had to move it to a queue with a redrive-allow policy that does not name the source. */
  | "redrive-not-allowed"
  /** Its queue had to move it from a FIFO queue to a standard one, or the other way round. */
  | "queue-type-mismatch";

export type QueuePlace =
  /** A consumer cannot receive it yet: the queue's delay, or its own. */
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

export type Place =
  | QueuePlace
  | { readonly kind: "deleted"; readonly queue: string }
  /** `queue` is the queue where it was lost, or its intended destination; null if there is none. */
  | { readonly kind: "lost"; readonly cause: LossCause; readonly queue: string | null }
  /** The broker refused the message, so the sender still has it. */
  | { readonly kind: "refused"; readonly by: string; readonly error: string };

/** The state of one copy of a message: everything that its further way depends on, or that its consumer sees. */
export interface MessageState {
  readonly place: Place;
  /** `ApproximateReceiveCount`: receives in all queues together. The receive that moves a message does not count. */
  readonly receiveCount: number;
  /** Receives since it entered its present queue. */
  readonly receivesHere: number;
  /** The `MessageGroupId` in a FIFO queue; null elsewhere. */
  readonly groupId: string | null;
}

/** A message as a client publishes it to a topic. */
export interface Publication {
  readonly topic: string;
  /** Message attributes of the type String. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** A FIFO topic requires one. */
  readonly groupId?: string;
}

/** A message as a client sends it to a queue. */
export interface SentMessage {
  readonly queue: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  /** The message's own delay, instead of the queue's. */
  readonly delaySeconds?: number;
}

/** An event that a message meets in a queue. */
export type SqsEvent =
  /** A consumer asks for messages, and it is this one's turn. */
  | { readonly kind: "receive" }
  /** `receipt`: the receipt handle of the last receive (the default), or of an earlier one. */
  | { readonly kind: "delete"; readonly receipt?: "latest" | "older" }
  /** With the receipt handle of the last receive, `elapsedSeconds` later (0 by default). */
  | {
      readonly kind: "change-visibility";
      readonly fromSeconds: number;
      readonly toSeconds: number;
      readonly elapsedSeconds?: number;
    }
  /** The consumer does nothing more: its handler is over, or its process died. SQS does not notice. */
  | { readonly kind: "let-go" }
  | { readonly kind: "visibility-passes" }
  | { readonly kind: "delay-passes" }
  /** The queue's retention period passes. */
  | { readonly kind: "expire" };

export interface Circumstances {
  /** The greatest possible age of the message. On a standard queue it counts from the publication. 0 by default. */
  readonly ageSeconds?: number;
  /** Groups of the FIFO queue that have an earlier message in flight. */
  readonly blockedGroups?: ReadonlySet<string>;
  /** Queues that a topic cannot reach at the moment. */
  readonly unreachableQueues?: ReadonlySet<string>;
}

/** One possible end of an event: the states of all the copies that exist afterwards, at least one. */
export type Outcome = readonly MessageState[];
