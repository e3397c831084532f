/**
 * The fields of a dead letter about its end, most needed first. If a broker lacks room for all, the first ones stay.
 * They are headers on RabbitMQ and attributes on SQS.
 */
export const deadLetterFields = Object.freeze([
  /** The work queue's name. */
  "dlq-original-queue",
  /** A code, or the application's own name for the reason. */
  "dlq-failure-reason",
  /** The last failure: ISO 8601, UTC, with milliseconds. */
  "dlq-failure-timestamp",
  /** The number of attempts before it died, with the first. */
  "dlq-retry-count",
  /** The message id of the broker or of the producer, which identifies repeats. */
  "dlq-original-message-id",
  /** The message's business key, such as an order number. */
  "dlq-business-correlation-id",
  "dlq-exception-stack-trace-summary",
  "dlq-failing-consumer-info",
] as const);

export type DeadLetterField = (typeof deadLetterFields)[number];

/** The reason why a message died. An application adds its own reasons with `permanent("REASON")`. */
export type ReasonCode =
  | "ATTEMPTS_EXHAUSTED"
  | "PERMANENT_FAILURE"
  | "CRASH_LIMIT"
  | "EXPIRED"
  | "QUEUE_OVERFLOW"
  /** The broker accepts no copy of it for another attempt. */
  | "MESSAGE_TOO_LARGE"
  | "UNREADABLE_MESSAGE"
  | "TIMEOUT"
  | "DEPENDENCY_UNAVAILABLE";
