import { type Claim, acceptedByBoth, accepts, api, both, guide, recorded } from "./claim.ts";

/** The time of a message's deliveries, their end, and its place then. */
export const deliveryClaims = {
  // --- redrive ---
  "moves-on-next-receive": {
    says: "a message is delivered maxReceiveCount times; the receive after that gets nothing and moves it",
    aws: { counts: ["1", "2"], thenDelivered: 0, left: 0, dead: 1 },
    source: recorded("test_dead_letter_queue_max_receive_count"),
  },
  "move-keeps-message": {
    says: "the move keeps message id, body, attributes, sent and first receive timestamp",
    aws: { id: true, body: true, attributes: true, sent: true, firstReceive: true },
    source: recorded("test_dead_letter_queue_message_attributes"),
  },
  "unpolled-never-moves": {
    says: "without a further receive a message that has used up its receives stays",
    aws: { left: 1, dead: 0 },
    source: "LocalStack issue 8234: 60 s without a receive, no move",
  },
  "count-across-queues": {
    says: "the receive count goes on in the dead-letter queue, and the moving receive is not counted",
    aws: "3",
    source: recorded("test_dead_letter_queue_message_attributes"),
  },
  "dead-letter-names-source": {
    says: "a message in the dead-letter queue names the queue it came from",
    aws: true,
    source: api("ReceiveMessage"),
    gaps: { moto: { observed: false, does: "leaves DeadLetterQueueSourceArn out" } },
  },
  "no-loop": {
    says: "after maxReceiveCount deliveries, polling all queues again and again delivers nothing more from the source",
    aws: { deliveries: 2, dead: 1 },
    source: guide("sqs-dead-letter-queues"),
  },
  "success-ends-it": {
    says: "a message deleted on its second delivery is in no queue any more",
    aws: { left: 0, dead: 0 },
    source: api("DeleteMessage"),
  },
  "last-delivery-can-succeed": {
    says: "a message deleted on delivery maxReceiveCount does not become a dead letter",
    aws: { left: 0, dead: 0 },
    source: api("DeleteMessage"),
  },
  "chain-delivers-in-the-middle": {
    says: "in a chain of dead-letter queues the middle one delivers before it passes on (reports only)",
    aws: { first: 2, middle: 2, last: 1 },
    source: "reports: LocalStack issue 5225, ElasticMQ issue 582",
    gaps: both({
      observed: { first: 2, middle: 0, last: 1 },
      does: "compares the count across all queues, so the middle queue never delivers",
    }),
  },
  "cycle-is-accepted": {
    says: "two queues may be each other's dead-letter queue",
    aws: "accepted",
    source: "stackoverflow.com/questions/25408158",
  },
  "cycle-delivers-on": {
    says: "in a cycle of two queues the message is delivered again and again (reports only)",
    aws: "delivers on",
    source: "stackoverflow.com/questions/25408158",
    gaps: both({
      observed: "delivers no more",
      does: "moves the message back and forth on every poll and delivers it no more",
    }),
  },
  "retention-deletes": {
    says: "a message older than the retention period is deleted and does not become a dead letter",
    aws: { left: 0, dead: 0 },
    source: api("SetQueueAttributes"),
    gaps: { elasticmq: { observed: { left: 1, dead: 0 }, does: "keeps messages for ever" } },
  },
  "redrive-makes-new-message": {
    says: "StartMessageMoveTask brings dead letters back as new messages",
    aws: "moved, new id",
    source: guide("sqs-configure-dead-letter-queue-redrive"),
    gaps: {
      elasticmq: { observed: "moved, same id", does: "moves the message with its id" },
      moto: { observed: "unknown to it", does: "has no StartMessageMoveTask" },
    },
  },
  "redrive-wants-dead-letter-queue": {
    says: "StartMessageMoveTask refuses a queue that is nobody's dead-letter queue",
    aws: "refused",
    source: recorded("test_source_needs_redrive_policy"),
    gaps: { elasticmq: accepts, moto: { observed: "unknown to it", does: "has no StartMessageMoveTask" } },
  },

  // --- visibility and delay ---
  "visibility-from-receive": {
    says: "a message that is not deleted returns one visibility timeout after its receive, not earlier",
    aws: { early: false, late: false },
    source: recorded("test_receive_after_visibility_timeout"),
  },
  "changed-visibility-from-call": {
    says: "a changed visibility timeout counts from the call that changes it",
    aws: { early: false, late: false },
    source: api("ChangeMessageVisibility"),
  },
  "changed-visibility-is-forgotten": {
    says: "a changed visibility timeout is not remembered: after the next receive the queue's applies",
    aws: { changed: "3 s or more", next: "less than 3 s" },
    source: recorded("test_change_message_visibility_not_permanent"),
  },
  "visibility-zero-returns-at-once": {
    says: "a visibility timeout of 0 returns a message at once, and its receive still counts",
    aws: "2",
    source: recorded("test_terminate_visibility_timeout_after_receive"),
  },
  "delete-after-visibility": {
    says: "a delete after the visibility timeout still works on a standard queue until the next receive of the message",
    aws: { answer: "accepted", left: 0 },
    source: recorded("test_delete_after_visibility_timeout"),
  },
  "change-after-visibility": {
    says: "the visibility can be changed after it ran out, until the next receive of the message",
    aws: { answer: "accepted", visible: false },
    source: recorded("test_change_message_visibility_after_visibility_timeout_expiration"),
  },
  "queue-delay": {
    says: "a queue's delay holds a new message back, not earlier",
    aws: { early: false, late: false },
    source: guide("sqs-delay-queues"),
  },
  "message-delay-overrides": {
    says: "a message's own delay replaces its queue's",
    aws: { early: false, late: false },
    source: guide("sqs-message-timers"),
  },
  "change-beyond-12h": {
    says: "a visibility timeout above 43200 s is refused for a message",
    aws: "refused",
    source: api("ChangeMessageVisibility"),
    gaps: { elasticmq: accepts },
  },
  "change-beyond-total-12h": {
    says: "a visibility timeout that would end more than 12 h after the receive is refused, not shortened",
    aws: "refused",
    source: api("ChangeMessageVisibility"),
    gaps: { elasticmq: accepts },
  },

  // --- FIFO ---
  "fifo-in-flight-blocks-group": {
    says: "a message in flight blocks its group and no other",
    aws: ["a1", "b1", null],
    source: recorded("test_fifo_message_group_visibility"),
  },
  "fifo-retry-keeps-order": {
    says: "a failed message comes back before the later ones of its group",
    aws: ["a1", "a1", "a2"],
    source: recorded("test_fifo_messages_in_order_after_timeout"),
  },
  "fifo-batch-holds-group": {
    says: "one receive may hold several messages of a group, in order",
    aws: ["a1", "a2", "a3"],
    source: guide("FIFO-queues-understanding-logic"),
  },
  "fifo-dead-letter-frees-group": {
    says: "after the move of a message to the dead-letter queue the later ones of its group pass it",
    aws: { delivered: ["a1", "a1", "a2"], dead: ["a1"] },
    source: recorded("test_dead_letter_queue_with_fifo_and_content_based_deduplication"),
  },
  "fifo-dead-letter-id": {
    says: "the move to a FIFO dead-letter queue replaces the deduplication id by the message id",
    aws: "message id",
    source: guide("sqs-dead-letter-queues"),
    gaps: { moto: { observed: "own", does: "keeps the deduplication id" } },
  },
  "fifo-release-first-of-batch": {
    says: "a visibility of 0 on the first message of a batch makes it alone visible, while the second is still in flight",
    aws: ["a1"],
    source: recorded("test_fifo_message_group_visibility_after_terminate_visibility_timeout"),
    gaps: { moto: { observed: [], does: "blocks the group until the whole batch is back" } },
  },
  "fifo-deduplicates": {
    says: "a second message with the deduplication id of the first is accepted and not delivered",
    aws: ["a1"],
    source: recorded("test_fifo_content_based_message_deduplication_arrives_once"),
  },
  "fifo-delete-after-visibility": {
    says: "a delete after the visibility timeout is refused on a FIFO queue",
    aws: "refused",
    source: recorded("test_fifo_delete_message_with_expired_receipt_handle"),
    gaps: acceptedByBoth,
  },
  "fifo-message-delay": {
    says: "a delay of a single message is refused on a FIFO queue",
    aws: "refused",
    source: recorded("test_fifo_queue_send_message_with_delay_seconds_fails"),
  },
} as const satisfies Readonly<Record<string, Claim>>;
