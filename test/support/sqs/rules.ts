import { type Rule, assumed } from "../semantics-rule.ts";
import { type ClaimName, claims } from "./known-gaps.ts";

const guide = (page: string): string => `SQS Developer Guide, ${JSON.stringify(page)}`;
const api = (action: string): string => `SQS API Reference, ${action}`;
const topics = (page: string): string => `SNS Developer Guide, ${JSON.stringify(page)}`;
const recorded = (test: string): string => `recorded from AWS by LocalStack's validated test ${test}`;
const deadLetters = guide("Using dead-letter queues in Amazon SQS");

/** A rule that an emulator is asked about in the same words. */
const asTried = (name: ClaimName, source: string): Rule => ({ says: claims[name].says, source });

/**
 * All the rules that the semantics relies on. Where an emulator differs from AWS, the semantics follows AWS. The live
 * tests ask the emulators about a claim under the same name.
 */
export const rules = {
  // Redrive
  "moves-on-next-receive": asTried("moves-on-next-receive", deadLetters),
  "unpolled-never-moves": asTried("unpolled-never-moves", "LocalStack issue 8234: 60 s without a receive, no move"),
  "count-across-queues": asTried("count-across-queues", recorded("test_dead_letter_queue_message_attributes")),
  "success-ends-it": asTried("success-ends-it", api("DeleteMessage")),
  "last-delivery-can-succeed": asTried("last-delivery-can-succeed", api("DeleteMessage")),
  "chain-delivers-in-the-middle": assumed(
    "in a chain of dead-letter queues the middle one delivers a message before it moves it, or moves it at once",
    "reports only: LocalStack issue 5225, ElasticMQ issue 582",
  ),
  "cycle-delivers-on": assumed(
    "in a cycle of two queues both deliver again and again, or the message moves on every receive",
    "reports only: stackoverflow.com/questions/25408158",
  ),
  "self-dead-letter-queue": assumed(
    "a queue that is its own dead-letter queue delivers again and again, or moves the message on every receive",
    "no source; ElasticMQ loses the message of a FIFO queue instead",
  ),
  "dead-queue-gone": assumed(
    "a message whose dead-letter queue does not exist is lost, or SQS keeps delivering it",
    "no source; some emulators do the one, some the other",
  ),
  "move-denied": assumed(
    "with denyAll no queue moves its messages there: they are lost, or SQS keeps delivering them",
    `${api("SetQueueAttributes, RedriveAllowPolicy")}, for naming the queue; the effect on a move is assumed`,
  ),
  "move-by-others-denied": assumed(
    "with byQueue only the listed queues move their messages there; messages of others are lost, or SQS keeps delivering them",
    `${api("SetQueueAttributes, RedriveAllowPolicy")}, for naming the queue; the effect on a move is assumed`,
  ),
  "move-with-too-many-sources": {
    says: "byQueue with more than ten queues allows every queue",
    source: api("SetQueueAttributes, RedriveAllowPolicy"),
  },
  "move-to-standard": assumed(
    "a FIFO queue does not move its messages to a standard one: they are lost, or SQS keeps delivering them",
    `${api("SetQueueAttributes, RedrivePolicy")}, for naming the queue; the effect on a move is assumed`,
  ),
  "move-to-fifo": assumed(
    "a standard queue does not move its messages to a FIFO one: they are lost, or SQS keeps delivering them",
    `${api("SetQueueAttributes, RedrivePolicy")}, for naming the queue; the effect on a move is assumed`,
  ),
  "dead-queue-delay": assumed(
    "a moved message waits out the delay of the dead-letter queue",
    "no source; a delay only makes the message visible later",
  ),

  // Retention
  "retention-deletes": asTried("retention-deletes", api("SetQueueAttributes, MessageRetentionPeriod")),
  "retention-goes-on-in-dead-queue": {
    says: "on standard queues the clock goes on in the dead-letter queue: it deletes messages older than its own retention",
    source: guide("Setting up dead-letter queue retention"),
  },
  "fifo-retention-starts-again": {
    says: "on FIFO queues the clock starts again in the dead-letter queue",
    source: guide("Setting up dead-letter queue retention"),
  },
  "retention-in-flight": assumed("a message in flight is deleted by retention like any other"),

  // Visibility and delay
  "visibility-from-receive": {
    says: "a message that is not deleted returns one visibility timeout after its receive",
    source: guide("Amazon SQS visibility timeout"),
  },
  "changed-visibility-from-call": asTried("changed-visibility-from-call", api("ChangeMessageVisibility")),
  "changed-visibility-is-forgotten": asTried("changed-visibility-is-forgotten", api("ChangeMessageVisibility")),
  "visibility-zero-returns-at-once": asTried("visibility-zero-returns-at-once", guide("Amazon SQS visibility timeout")),
  "change-beyond-12h": asTried("change-beyond-12h", api("ChangeMessageVisibility")),
  "change-beyond-total-12h": asTried("change-beyond-total-12h", api("ChangeMessageVisibility")),
  "delete-after-visibility": asTried(
    "delete-after-visibility",
    recorded("test_delete_message_after_visibility_timeout"),
  ),
  "delete-with-older-receipt": {
    says: "a delete with the receipt handle of an earlier receive may leave the message in the queue",
    source: api("DeleteMessage"),
  },
  "change-after-visibility": asTried(
    "change-after-visibility",
    recorded("test_change_message_visibility_after_visibility_timeout_expiration"),
  ),
  "queue-delay": { says: "a queue's delay holds a new message back", source: guide("Amazon SQS delay queues") },
  "message-delay-overrides": asTried("message-delay-overrides", guide("Amazon SQS message timers")),

  // FIFO
  "fifo-in-flight-blocks-group": asTried(
    "fifo-in-flight-blocks-group",
    guide("FIFO queue delivery logic in Amazon SQS"),
  ),
  "fifo-dead-letter-frees-group": asTried("fifo-dead-letter-frees-group", deadLetters),
  "fifo-delete-after-visibility": asTried(
    "fifo-delete-after-visibility",
    recorded("test_fifo_delete_message_with_expired_receipt_handle"),
  ),
  "fifo-change-after-visibility": assumed(
    "a change of the visibility after it ran out is accepted on a FIFO queue, or is refused",
  ),
  "fifo-message-delay": asTried("fifo-message-delay", api("SendMessage")),
  "send-wants-its-queue": {
    says: "SQS refuses a message to a queue that does not exist",
    source: api("SendMessage, QueueDoesNotExist"),
  },
  "fifo-send-wants-group": {
    says: "a message to a FIFO queue needs a group and a deduplication id; a deduplication id is refused on a standard queue",
    source: api("SendMessage"),
  },

  // SNS
  "topic-reaches-all": {
    says: "a topic gives every subscribed queue a copy",
    source: topics("Fanout to Amazon SQS queues"),
  },
  "topic-filter": asTried("topic-filter", topics("Amazon SNS subscription filter policies")),
  "topic-filter-operators": {
    says: "values are compared whole, by beginning, end, anything-but, equals-ignore-case or exists; for another operator Redeliver assumes both answers",
    source: topics("String value matching"),
  },
  "topic-dead-letters": asTried("topic-dead-letters", topics("Amazon SNS dead-letter queues")),
  "topic-raw-attributes": {
    says: "with raw delivery SNS accepts a message of more than ten attributes and does not deliver it: a client-side error",
    source: topics("Amazon SNS message attributes"),
  },
  "topic-raw-dead-letter": assumed(
    "a message that SNS does not deliver because of its attributes goes to the subscription's dead-letter queue, or is lost",
    `${topics("Amazon SNS dead-letter queues")} keeps client-side errors. But ${recorded("test_redrive_policy_sqs_queue_subscription")} shows the same attributes on the dead letter, and SQS takes no more than ten. Redeliver assumes the outcome`,
  ),
  "topic-wants-queue-policy": {
    says: "a topic reaches no queue whose policy does not allow it, also no dead-letter queue",
    source: topics("Subscribing an Amazon SQS queue to an Amazon SNS topic"),
  },
  "topic-types": {
    says: "a standard topic reaches no FIFO queue, a FIFO topic reaches both; a subscription's dead-letter queue is of its queue's type",
    source: topics("Message delivery for FIFO topics"),
  },
  "fifo-topic-wants-group": {
    says: "a message to a FIFO topic needs a group",
    source: "SNS API Reference, Publish, MessageGroupId",
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleName = keyof typeof rules;
