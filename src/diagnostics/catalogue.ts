/** What a code stands for, whatever the place it is found in. */
export interface CatalogueEntry {
  readonly severity: "error" | "warning";
  readonly title: string;
  /** What happens if nothing is done, and what to do. */
  readonly explanation: string;
}

const error = (title: string, explanation: string): CatalogueEntry => ({ severity: "error", title, explanation });
const warning = (title: string, explanation: string): CatalogueEntry => ({ severity: "warning", title, explanation });

/**
 * Every code there is. Codes are stable: one is never used again for something else.
 * RD0xx reading files, RD1xx the declaration, RD2xx RabbitMQ, RD3xx the configuration of a stack.
 */
export const catalogue = {
  RD001: error(
    "The file cannot be read",
    "The file does not exist, is a directory, may not be read, or its name does not end in .ts, .js, .mjs, .json, .yaml or .yml.",
  ),
  RD002: error(
    "The file is not well-formed",
    "The text is no JSON or YAML: a bracket is missing, an indentation is off, or a key is given twice. A duplicate key is an error because only one of the two values would count.",
  ),
  RD003: error(
    "The module gives no declaration",
    "A .ts or .js declaration is imported, and its default export is the system. The import failed, or there is no default export.",
  ),
  RD004: error("The file holds nothing", "The file is empty or holds nothing but comments."),
  RD101: error(
    "A value is missing or of the wrong kind",
    "The declaration has a fixed form; an editor that knows schema.json shows it while typing.",
  ),
  RD102: error(
    "Unknown key",
    "A key that Redeliver does not know would be without effect. A misspelled retry key that is silently ignored is how messages are lost, so it is refused.",
  ),
  RD103: error(
    "Malformed duration",
    "A duration is a whole number and a unit: ms, s, m, h or d. A bare number is refused, since seconds and milliseconds are confused too easily.",
  ),
  RD104: error(
    "Number out of range",
    "The number is outside of what has a meaning. attempts counts the first attempt, so 0 would mean that a message is never handled.",
  ),
  RD105: error(
    "Delay out of range",
    "A delay is at least one millisecond and at most ten years, the longest time to live that RabbitMQ takes. Nothing is clamped silently.",
  ),
  RD106: error("The cap is below the first delay", "With max below first every delay would be cut, and first would have no effect."),
  RD107: error(
    "The steps do not match the attempts",
    "steps lists each delay by itself: one for every attempt after the first.",
  ),
  RD108: error("Undeclared source", "A consumer takes from a source that the declaration does not have; nothing would ever arrive."),
  RD109: error("The consumer takes nothing", "A consumer without a source, or with an empty list of routing keys, never gets a message."),
  RD110: error(
    "Routing key does not fit the source",
    "topic sources match patterns of words between dots, direct sources match whole keys, fanout sources take no keys at all.",
  ),
  RD111: error("Malformed name", "Names become names of queues and exchanges: from 1 to 255 characters."),
  RD112: error(
    "Not possible for every-instance",
    "With delivery every-instance each running instance has a queue of its own that ends with it. Nothing can be retried or dead-lettered from there.",
  ),
  RD201: error(
    "Unknown target",
    "A target is a broker and its version, such as rabbitmq@4.3. Versions that have not been studied are refused: each RabbitMQ release changed what counts as a failed delivery or how dead-letter cycles are cut.",
  ),
  RD202: error(
    "The strategy cannot keep what is declared",
    "The strategy was asked for by name, and something in the declaration is beyond it. Approximating would break a promise silently.",
  ),
  RD203: error(
    "No strategy keeps what is declared",
    "No way of using this target keeps every promise. The notes say what stands in the way of each strategy.",
  ),
  RD204: error(
    "Name not usable on RabbitMQ",
    "A / or @ in a name breaks the Pulumi provider's ids, a purely numeric name is turned into a number by it, amq. is the broker's own, and no name may have more than 255 bytes.",
  ),
  RD205: error(
    "Two resources would have the same name",
    "Each consumer's queues and exchanges are derived from its name. Here two of them meet, and one consumer's messages would land in the other's queue.",
  ),
  RD206: error(
    "Order per key cannot be kept",
    "While a failed message waits out its delay, later messages with the same key overtake it: RabbitMQ has no groups that wait. SQS FIFO queues and Service Bus sessions do.",
  ),
  RD207: warning(
    "A returned message spends crash budget",
    "Up to RabbitMQ 4.2 the delivery limit counts every return to the queue, so messages that a consumer hands back unprocessed at shutdown use up the crash budget.",
  ),
  RD208: warning(
    "After a first failure a crash costs an attempt",
    "Up to RabbitMQ 3.12 a message carries only the reason of its first death where routing can see it. A message that failed once and then crashes to the limit is retried like a failure, until the attempts are used up.",
  ),
  RD209: warning(
    "Nobody raises the alarm",
    "RabbitMQ has no alarms on queue depth. The monitoring that scrapes the broker has to watch the dead queue.",
  ),
  RD210: warning(
    "Very many quorum queues",
    "The staged strategy makes one quorum queue per retry and consumer. Each is a Raft group; above some thousands a cluster spends its time on elections and snapshots. The waits strategy shares its queues between all consumers.",
  ),
  RD211: warning(
    "The broker may cut the handler short",
    "RabbitMQ takes a delivery back when it is not settled within the consumer timeout, 30 minutes by default. Where a policy can raise it, Redeliver does; before 3.12 only the broker's configuration file can.",
  ),
  RD212: error(
    "The routing key is reserved",
    "Routing keys that start with redeliver: carry the attempt number of messages that are being retried.",
  ),
  RD213: error(
    "The protocol does not fit the target",
    "AMQP 1.0 consumers use the deferred strategy, which needs RabbitMQ 4.3.",
  ),
  RD214: warning(
    "3.13 needs its message containers",
    "Up to 3.13 the reason of a message's last death is visible to routing only with the feature flag message_containers, which an upgraded cluster has to enable.",
  ),
  RD301: error(
    "The stack's configuration is refused",
    "The configuration of a Pulumi stack is checked like a declaration, before any resource is touched.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** A stable code such as `RD101`. */
export type DiagnosticCode = keyof typeof catalogue;
