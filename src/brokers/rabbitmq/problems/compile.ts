import { type CatalogueEntry, error, warning } from "../../../diagnostics/catalogue-entry.ts";

/** Codes of RD2xx: declarations that RabbitMQ alone cannot keep, or keeps only at a price. */
export const compileProblems = {
  RD206: error(
    "Order per key cannot be kept",
    "While a failed message waits out its delay, later messages with the same key overtake it. RabbitMQ has no groups of messages that wait for one another. Use order none, and let the handler recognise an outdated message, for example by a version in it.",
  ),
  RD209: warning(
    "RabbitMQ raises no alarm",
    "RabbitMQ has no alarm on the depth of a queue, so it cannot keep this part of the declaration. Dead letters may pile up unseen. Let your monitoring watch the messages in the dead queue. The warning stays as a reminder as long as alarmAbove is declared.",
  ),
  RD210: warning(
    "Very many quorum queues",
    "Each quorum queue is a Raft group with a member on every node. From about 5 000 of them, check the cluster's resources. A consumer has a work queue and a dead queue. Consumers share the queues where messages wait. There is one for each attempt and delay under staged, and one for each delay under waits. With jitter a delay has up to five, so declare fewer distinct delays.",
  ),
  RD211: warning(
    "The broker may cut the handler short",
    "RabbitMQ takes a delivery back if the consumer does not settle it within the consumer timeout, 30 minutes by default. It closes the channel and requeues the message while the handler still works on it. From 3.12 a policy raises the timeout, and Redeliver writes it. Before 3.12 set consumer_timeout in rabbitmq.conf on every node, or shorten the handler.",
  ),
  RD212: error(
    "The routing key is reserved",
    "The routing key of a message in retry starts with redeliver: and names the next attempt. The broker could take a publisher's own key of that form for one, and the message would skip attempts. Choose another routing key.",
  ),
  RD213: error(
    "The protocol does not fit the target",
    "A consumer that speaks AMQP 1.0 compiles to the deferred strategy, in which its outcome names the time of the next delivery. RabbitMQ supports that from 4.3. Use a newer target, or let the consumer speak AMQP 0-9-1, which every strategy but deferred uses.",
  ),
  RD214: warning(
    "3.13 needs its message containers",
    "On 3.13 routing sees the reason of a message's last death only with the feature flag message_containers. An upgraded cluster has to enable the flag. Without it every first failure ends in the dead queue: nothing is lost, but nothing is retried. Enable the flag, or use the waits strategy, which does not use the reason.",
  ),
  RD241: warning(
    "A full work queue refuses messages",
    "With maxLength or maxLengthBytes the work queue takes no more messages while it is full. It never drops one that it has. The broker tells a publisher that waits for confirms, and nobody else: all other publishers lose the message. A source with several consumers may have given it to the others already. Let every publisher wait for confirms and publish again, or leave the limit out.",
    "https://www.rabbitmq.com/docs/maxlength",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
