/**
 * What a dead letter says about its end, in the order of need: where a broker has room for only some of them, the first ones stay.
 * They are headers on RabbitMQ and attributes on SQS.
 */
export const deadLetterFields = Object.freeze([
  /** The work queue's name. */
  "dlq-original-queue",
  /** A code, or a name that the application gave. */
  "dlq-failure-reason",
  /** The last failure: ISO 8601, UTC, with milliseconds. */
  "dlq-failure-timestamp",
  /** Attempts made before it died, the first one among them. */
  "dlq-retry-count",
  /** The message id of the broker or of the producer, by which repeats are recognised. */
  "dlq-original-message-id",
  /** What the business knows it by, such as an order number. */
  "dlq-business-correlation-id",
  "dlq-exception-stack-trace-summary",
  "dlq-failing-consumer-info",
] as const);

export type DeadLetterField = (typeof deadLetterFields)[number];

/** Why a message died. An application adds reasons of its own with `permanent("REASON")`. */
export type ReasonCode =
  | "ATTEMPTS_EXHAUSTED"
  | "PERMANENT_FAILURE"
  | "CRASH_LIMIT"
  | "EXPIRED"
  | "QUEUE_OVERFLOW"
  | "UNREADABLE_MESSAGE"
  | "TIMEOUT"
  | "DEPENDENCY_UNAVAILABLE";
