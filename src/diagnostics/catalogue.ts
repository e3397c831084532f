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
    "The file does not exist, is a directory, may not be read, or its name does not end in .ts, .mts, .js, .mjs, .json, .yaml or .yml. The ending decides how a declaration is read, so it is never guessed. Correct the path, or rename the file.",
  ),
  RD002: error(
    "The file is not well-formed",
    "The text is neither JSON nor YAML: a bracket is missing, an indentation is off, or a key is given twice. A key given twice is refused because only one of its two values would count, and nobody would see which. The message names the line and the column where the reader knows them.",
  ),
  RD003: error(
    "The module gives no declaration",
    "A .ts or .js declaration is imported, and its default export is the system. Here the import failed, or the module has no default export. Write `export default defineSystem({ … })`; where the import fails, run the file with node to see the place.",
  ),
  RD004: error(
    "The file holds nothing",
    "The file is empty or holds nothing but blanks and comments. An empty system would compile to nothing and hide that the wrong file was named. Declare name, sources and consumers.",
  ),
  RD101: error(
    "A value is missing or of the wrong kind",
    "A declaration has a fixed form, and here something that it needs is left out, or is a text where a number belongs, or is none of the allowed words. Nothing is converted: a guess could be wrong by a factor of a thousand. An editor that knows schema.json shows the form while typing.",
  ),
  RD102: error(
    "Unknown key",
    "A key that Redeliver does not know would be without effect, and a misspelled limit that is ignored is a limit that is not kept. The note lists the keys that may stand there. Correct the key or remove it.",
  ),
  RD103: error(
    "Malformed duration",
    "A duration is a whole number followed by one of the units ms, s, m, h and d, without a blank: 250ms, 30s, 14d. A number without a unit is refused, since seconds and milliseconds are confused too easily. Write a fraction as a whole number of the next smaller unit.",
  ),
  RD104: error(
    "Value out of range",
    "The value is outside of what has a meaning. attempts counts the first attempt, so 0 would mean that a message is never handled; a factor below 1 would shorten each wait; jitter is a whole percentage from 1% to 100%. Choose a value in the range that the message names.",
  ),
  RD105: error(
    "Duration out of range",
    "A duration is at least one millisecond and at most ten years, the longest time to live that RabbitMQ takes; a delay that a handler may ask for is at least one second. A backoff without max is refused where its last delay would outgrow that. Nothing is clamped silently: choose another duration, add max, or use fewer attempts.",
  ),
  RD106: error(
    "The cap is below the first delay",
    "With max below first every delay would be cut to max, and first would have no effect. One of the two is most likely a slip of the unit. Raise max, or use a constant backoff.",
  ),
  RD107: error(
    "The steps do not match the attempts",
    "steps lists each delay by itself: one for every attempt after the first, which is due at once. With too few delays an attempt would have none, with too many the last ones would never be used. Change attempts or the list.",
  ),
  RD108: error(
    "Undeclared source",
    "A consumer takes from a source that the declaration does not have, so there is no exchange to bind its queue to and nothing would ever arrive. Declare the source, or correct its name.",
  ),
  RD109: error(
    "The consumer takes nothing",
    'A consumer without a source, or with an empty list of routing keys, gets a queue that nothing is bound to: it would wait for ever and never get a message. List at least one routing key, or write "all".',
  ),
  RD110: error(
    "Routing key does not fit the source",
    "topic sources match patterns of words between dots, where * and # stand for whole words; direct sources match whole keys; fanout sources look at no key at all. A key that does not fit its source would match nothing, or more than it says. No routing key may have more than 255 bytes, and none is listed twice.",
  ),
  RD111: error(
    "Malformed name",
    "Names become names of queues and exchanges, and routing keys become bindings: each has from 1 to 255 characters. The broker would refuse a longer one at deployment, after other resources are already there. Choose a short name of letters, digits, dots, dashes and underscores.",
  ),
  RD112: error(
    "Not possible for every-instance",
    "With delivery every-instance each running instance has a queue of its own that ends with it, and whatever waits in it is gone. Nothing can be retried or dead-lettered from there, so a retry policy would be a promise that nobody keeps. Remove the field, or use delivery work-queue.",
  ),
  RD201: error(
    "Unknown target",
    "A target is a broker and its version, such as rabbitmq@4.3, with a strategy that this broker has. Versions that have not been studied are refused: RabbitMQ changed between releases what counts as a failed delivery and which dead-letter cycles are cut, so a topology that is sound on one can lose or repeat messages on another. Name one of the versions in the note.",
  ),
  RD202: error(
    "The strategy cannot keep what is declared",
    "The strategy was asked for by name, and something in the declaration or the broker's version is beyond it. Deploying it all the same would break a promise silently: RabbitMQ 4.0, for one, accepts the queue arguments for delayed retry, ignores them and redelivers at once. Use a strategy that the fix names, or auto.",
  ),
  RD203: error(
    "No strategy keeps what is declared",
    "No way of using this target keeps everything that the declaration asks for. The notes say what stands in the way of each strategy. Change the field that the fix names, which is what the strategy that comes closest objects to.",
  ),
  RD204: error(
    "Name not usable on RabbitMQ",
    "The Pulumi provider splits resource ids at / and @ and turns what looks like a number into one, RabbitMQ keeps names that start with amq. for itself, and no name or routing key may have more than 255 bytes. The deployment would fail halfway or touch another resource. Use letters, digits, dots, dashes and underscores, with a letter in it.",
  ),
  RD205: error(
    "Two resources would have the same name",
    "The names of a consumer's queues and exchanges are derived from its own name, as in shop.billing.dead. Here two of them meet, so that one consumer's messages would land in the other's queue. Rename one of the two.",
  ),
  RD206: error(
    "Order per key cannot be kept",
    "While a failed message waits out its delay, later messages with the same key overtake it, since RabbitMQ has no groups of messages that wait for one another. Use order none, and let the handler recognise an outdated message, for example by a version in it.",
  ),
  RD207: warning(
    "A returned message spends crash budget",
    "Up to RabbitMQ 4.2 the delivery limit counts every return to the queue, also of messages that a consumer hands back unprocessed at shutdown. A message that is handed back as often as crashes are allowed ends in the dead queue although no handler ever failed on it. Keep the prefetch small and crash.deliveries well above the number of restarts that one message may see, or use RabbitMQ 4.3.",
  ),
  RD208: warning(
    "The consumer moves failed messages itself",
    "Up to RabbitMQ 3.12 a message carries only the reason of its first death where routing can see it. The broker could not tell a later crash from a failure, and its cycle rule would keep some messages for ever, so the consumer publishes a copy to the next tier and then acknowledges. A crash between the two doubles the message: handlers have to be idempotent. From 3.13 on the broker does it alone.",
  ),
  RD209: warning(
    "Nobody raises the alarm",
    "RabbitMQ has no alarms on the depth of a queue, so this part of the declaration is kept by nobody on the broker and dead letters may pile up unseen. The monitoring that watches the broker has to watch the messages in the dead queue. The warning stays as long as alarmAbove is declared, as a reminder of it.",
  ),
  RD210: warning(
    "Very many quorum queues",
    "The staged strategy makes one quorum queue for each retry of each consumer, and each is a Raft group with a member on every node. From about 5 000 of them on a cluster's resources need a look. The waits strategy shares its queues between all consumers, at the cost of a publish by the consumer.",
  ),
  RD211: warning(
    "The broker may cut the handler short",
    "RabbitMQ takes a delivery back when it is not settled within the consumer timeout, 30 minutes unless it was changed: the channel is closed, and the message goes back to the queue while the handler is still at work on it. From 3.12 on a policy raises the timeout, and Redeliver writes it. Before 3.12 set consumer_timeout in rabbitmq.conf on every node, or shorten the handler.",
  ),
  RD212: error(
    "The routing key is reserved",
    "The routing key of a message that is being retried starts with redeliver: and says which attempt is next. A publisher's own key of that form could be taken for one, and the message would skip attempts. Choose another routing key.",
  ),
  RD213: error(
    "The protocol does not fit the target",
    "A consumer that speaks AMQP 1.0 is compiled to the deferred strategy, in which its outcome names the time of the next delivery. RabbitMQ does that from 4.3 on. Use a newer target, or let the consumer speak AMQP 0-9-1, which every strategy but deferred is made for.",
  ),
  RD214: warning(
    "3.13 needs its message containers",
    "On 3.13 the reason of a message's last death is visible to routing only with the feature flag message_containers, which an upgraded cluster has to enable. Without it every first failure ends in the dead queue: nothing is lost, but nothing is retried either. Enable the flag, or use the waits strategy, which does not look at the reason.",
  ),
  RD301: error(
    "The stack's configuration is refused",
    "The configuration of a Pulumi stack is checked like a declaration, all of it at once and before any resource is touched. Missing, unknown and malformed keys are reported, as is a password in clear: whoever can read the repository could read it. Values that may be secret never appear in a message.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** A stable code such as `RD101`. */
export type DiagnosticCode = keyof typeof catalogue;
