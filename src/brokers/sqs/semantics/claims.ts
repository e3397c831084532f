/** A program that acts like SQS, on which a claim can be tried. */
export type Emulator = "elasticmq" | "moto";

/** One rule of the semantics, and how far it is known. */
export interface Claim {
  /** What AWS does, in a sentence. */
  readonly says: string;
  /** A page of AWS, behaviour recorded from AWS, or a public report. */
  readonly source: string;
  /** The emulators that do the same; where there is none the claim rests on its source alone. */
  readonly provedOn: readonly Emulator[];
  /** True where no source settles it, and the worse of the possibilities is taken, or all of them. */
  readonly assumed?: true;
}

const guide = (page: string): string => `SQS Developer Guide, ${JSON.stringify(page)}`;
const api = (action: string): string => `SQS API Reference, ${action}`;
const topics = (page: string): string => `SNS Developer Guide, ${JSON.stringify(page)}`;
const recorded = (test: string): string => `recorded from AWS by LocalStack's validated test ${test}`;
const deadLetters = guide("Using dead-letter queues in Amazon SQS");
const both: readonly Emulator[] = ["elasticmq", "moto"];
const none: readonly Emulator[] = [];

/**
 * All that the semantics relies on. Where an emulator does something else than AWS, AWS is followed. A claim that the live tests ask the
 * emulators about has the same name there.
 */
export const claims = {
  // Redrive
  "moves-on-next-receive": {
    says: "a message is delivered maxReceiveCount times; the receive after that gets nothing and moves it",
    source: deadLetters,
    provedOn: both,
  },
  "unpolled-never-moves": {
    says: "without a further receive a message that used up its receives stays where it is",
    source: "LocalStack issue 8234: 60 s without a receive, no move",
    provedOn: both,
  },
  "count-across-queues": {
    says: "the receive count goes on in the dead-letter queue, and the moving receive is not counted",
    source: recorded("test_dead_letter_queue_message_attributes"),
    provedOn: both,
  },
  "success-ends-it": {
    says: "a message deleted on its second delivery is gone from everywhere",
    source: api("DeleteMessage"),
    provedOn: both,
  },
  "last-delivery-can-succeed": {
    says: "a message deleted on delivery maxReceiveCount does not become a dead letter",
    source: api("DeleteMessage"),
    provedOn: both,
  },
  "chain-delivers-in-the-middle": {
    says: "in a chain of dead-letter queues the middle one delivers before it passes on, or passes on at once",
    source: "reports only: LocalStack issue 5225, ElasticMQ issue 582",
    provedOn: none,
    assumed: true,
  },
  "cycle-delivers-on": {
    says: "in a cycle of two queues both deliver again and again, or the message moves on every receive",
    source: "reports only: stackoverflow.com/questions/25408158",
    provedOn: none,
    assumed: true,
  },
  "self-dead-letter-queue": {
    says: "a queue that is its own dead-letter queue delivers again and again, or moves the message on every receive",
    source: "no source; ElasticMQ loses the message of a FIFO queue instead",
    provedOn: none,
    assumed: true,
  },
  "dead-queue-gone": {
    says: "a message whose dead-letter queue is not there is lost, or is delivered on",
    source: "no source; emulators do the one or the other",
    provedOn: none,
    assumed: true,
  },
  "move-denied": {
    says: "with denyAll no queue moves its messages there: they are lost, or are delivered on",
    source: `${api("SetQueueAttributes, RedriveAllowPolicy")}, for naming the queue; what a move does is assumed`,
    provedOn: none,
    assumed: true,
  },
  "move-by-others-denied": {
    says: "with byQueue no queue but those it lists moves its messages there: they are lost, or are delivered on",
    source: `${api("SetQueueAttributes, RedriveAllowPolicy")}, for naming the queue; what a move does is assumed`,
    provedOn: none,
    assumed: true,
  },
  "move-with-too-many-sources": {
    says: "byQueue with more than ten queues allows every queue",
    source: api("SetQueueAttributes, RedriveAllowPolicy"),
    provedOn: none,
  },
  "move-to-standard": {
    says: "a FIFO queue does not move its messages to a standard one: they are lost, or are delivered on",
    source: `${api("SetQueueAttributes, RedrivePolicy")}, for naming the queue; what a move does is assumed`,
    provedOn: none,
    assumed: true,
  },
  "move-to-fifo": {
    says: "a standard queue does not move its messages to a FIFO one: they are lost, or are delivered on",
    source: `${api("SetQueueAttributes, RedrivePolicy")}, for naming the queue; what a move does is assumed`,
    provedOn: none,
    assumed: true,
  },
  "dead-queue-delay": {
    says: "a moved message waits out the delay of the dead-letter queue",
    source: "no source; a delay only makes it later that anybody sees the message",
    provedOn: none,
    assumed: true,
  },

  // Retention
  "retention-deletes": {
    says: "a message older than the retention period is deleted and does not become a dead letter",
    source: api("SetQueueAttributes, MessageRetentionPeriod"),
    provedOn: ["moto"],
  },
  "retention-goes-on-in-dead-queue": {
    says: "on standard queues the clock goes on in the dead-letter queue: what is older than that one keeps is deleted there",
    source: guide("Setting up dead-letter queue retention"),
    provedOn: none,
  },
  "fifo-retention-starts-again": {
    says: "on FIFO queues the clock starts again in the dead-letter queue",
    source: guide("Setting up dead-letter queue retention"),
    provedOn: none,
  },
  "retention-in-flight": {
    says: "a message in flight is deleted by retention like any other",
    source: "no source",
    provedOn: none,
    assumed: true,
  },

  // Visibility and delay
  "visibility-from-receive": {
    says: "a message nobody deletes is back one visibility timeout after its receive",
    source: guide("Amazon SQS visibility timeout"),
    provedOn: both,
  },
  "changed-visibility-from-call": {
    says: "a changed visibility timeout counts from the call that changes it",
    source: api("ChangeMessageVisibility"),
    provedOn: both,
  },
  "changed-visibility-is-forgotten": {
    says: "a changed visibility timeout is not remembered: after the next receive the queue's applies",
    source: api("ChangeMessageVisibility"),
    provedOn: both,
  },
  "visibility-zero-returns-at-once": {
    says: "a visibility timeout of 0 gives a message back at once, and its receive stays counted",
    source: guide("Amazon SQS visibility timeout"),
    provedOn: both,
  },
  "change-beyond-12h": {
    says: "a visibility timeout above 43200 s is refused for a message",
    source: api("ChangeMessageVisibility"),
    provedOn: ["moto"],
  },
  "change-beyond-total-12h": {
    says: "a visibility timeout that would end more than 12 h after the receive is refused, not shortened",
    source: api("ChangeMessageVisibility"),
    provedOn: ["moto"],
  },
  "delete-after-visibility": {
    says: "a delete after the visibility timeout still works on a standard queue while nobody has received the message again",
    source: recorded("test_delete_message_after_visibility_timeout"),
    provedOn: both,
  },
  "delete-with-older-receipt": {
    says: "a delete with the receipt handle of an earlier receive may leave the message where it is",
    source: api("DeleteMessage"),
    provedOn: none,
  },
  "change-after-visibility": {
    says: "the visibility can be changed after it ran out while nobody has received the message again",
    source: recorded("test_change_message_visibility_after_visibility_timeout_expiration"),
    provedOn: both,
  },
  "queue-delay": {
    says: "a queue's delay holds a new message back",
    source: guide("Amazon SQS delay queues"),
    provedOn: both,
  },
  "message-delay-overrides": {
    says: "a message's own delay replaces its queue's",
    source: guide("Amazon SQS message timers"),
    provedOn: both,
  },

  // FIFO
  "fifo-in-flight-blocks-group": {
    says: "a message in flight blocks its group and no other",
    source: guide("FIFO queue delivery logic in Amazon SQS"),
    provedOn: both,
  },
  "fifo-dead-letter-frees-group": {
    says: "the move of a message to the dead-letter queue lets the later ones of its group pass it",
    source: deadLetters,
    provedOn: both,
  },
  "fifo-delete-after-visibility": {
    says: "a delete after the visibility timeout is refused on a FIFO queue",
    source: recorded("test_fifo_delete_message_with_expired_receipt_handle"),
    provedOn: none,
  },
  "fifo-change-after-visibility": {
    says: "a change of the visibility after it ran out is accepted on a FIFO queue, or is refused",
    source: "no source",
    provedOn: none,
    assumed: true,
  },
  "fifo-message-delay": {
    says: "a delay of a single message is refused on a FIFO queue",
    source: api("SendMessage"),
    provedOn: both,
  },
  "send-wants-its-queue": {
    says: "a message to a queue that is not there is refused",
    source: api("SendMessage, QueueDoesNotExist"),
    provedOn: none,
  },
  "fifo-send-wants-group": {
    says: "a message to a FIFO queue needs a group and a deduplication id; a deduplication id is refused on a standard queue",
    source: api("SendMessage"),
    provedOn: none,
  },

  // SNS
  "topic-reaches-all": {
    says: "a topic gives every subscribed queue a copy",
    source: topics("Fanout to Amazon SQS queues"),
    provedOn: ["moto"],
  },
  "topic-filter": {
    says: "a filter policy lets through only the messages whose attributes it names",
    source: topics("Amazon SNS subscription filter policies"),
    provedOn: ["moto"],
  },
  "topic-filter-operators": {
    says: "values are compared whole, by beginning, end, anything-but, equals-ignore-case or exists; of another operator both answers are taken",
    source: topics("String value matching"),
    provedOn: none,
  },
  "topic-dead-letters": {
    says: "what a subscription cannot deliver goes to the subscription's own dead-letter queue",
    source: topics("Amazon SNS dead-letter queues"),
    provedOn: none,
  },
  "topic-wants-queue-policy": {
    says: "a topic reaches no queue whose policy does not allow it, as a dead-letter queue neither",
    source: topics("Subscribing an Amazon SQS queue to an Amazon SNS topic"),
    provedOn: none,
  },
  "topic-types": {
    says: "a standard topic reaches no FIFO queue, a FIFO topic reaches both; a subscription's dead-letter queue is of its queue's type",
    source: topics("Message delivery for FIFO topics"),
    provedOn: none,
  },
  "fifo-topic-wants-group": {
    says: "a message to a FIFO topic needs a group",
    source: "SNS API Reference, Publish, MessageGroupId",
    provedOn: none,
  },
} as const satisfies Readonly<Record<string, Claim>>;

export type ClaimName = keyof typeof claims;

/** How far a claim is known: `proved on elasticmq, moto`, or `static only`. */
export function proofOf(name: ClaimName): string {
  const { provedOn } = claims[name];
  return provedOn.length === 0 ? "static only" : `proved on ${provedOn.join(", ")}`;
}
