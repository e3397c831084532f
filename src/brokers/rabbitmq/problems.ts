import { type CatalogueEntry, error, warning } from "../../diagnostics/catalogue-entry.ts";

const docs = "https://www.rabbitmq.com/docs";

/** The codes of RabbitMQ. */
export const rabbitmqProblems = {
  // Codes of RD2xx: declarations that RabbitMQ alone cannot keep, or keeps only at a price.
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
  RD242: error(
    "A policy of others breaks a promise",
    "The target names policies on the broker that others own, and the proof fails with one of them. Of several user policies the broker takes only the one with the highest priority, whole. It merges an operator's policy into it and takes the stricter value. So a time to live of an administrator may delete messages that wait, and a shorter limit may end their retries early. The notes give the path of a message. Let the owner leave the queues out, or use a strategy that holds with it.",
    `${docs}/policies`,
  ),
  // RD403 to RD406: exports and brokers that cannot be read completely.
  RD403: warning(
    "The broker is newer than the rules",
    "The export comes from a version of RabbitMQ that Redeliver does not know yet. The audit uses the rules of the newest version it knows. Between minor releases RabbitMQ has changed which deliveries count as failed. Use a newer Redeliver if there is one, and compare the findings with the release notes.",
  ),
  RD404: warning(
    "The file names it more than once",
    "The file has the same queue or exchange twice, perhaps with different arguments. A broker that imports the file keeps the first entry and skips the others without an error, and the audit does the same. Remove the entries without effect: a change to one of them does nothing.",
  ),
  RD405: warning(
    "Bindings to resources that are not in the export",
    "RabbitMQ leaves exclusive queues and internal exchanges out of its exports, but keeps their bindings. The audit skips bindings to such a queue. It guesses the kind of such an exchange by its bindings. Read the broker with --url to get everything.",
  ),
  RD406: warning(
    "No rules for this kind",
    "An exchange or queue has a type that a plugin adds, or a policy applies to an unknown kind of queue. The audit assumes that such an exchange routes a message by all of its bindings, and that such a queue is classic. It skips such a policy. Other findings hold. Check a finding that involves one of these by hand.",
  ),
  // RD412 to RD439: the findings that only an audit of RabbitMQ has.
  RD412: error(
    "Dead letters have no route",
    "The dead-letter exchange exists, but neither it nor an alternate exchange has a binding for these messages. Dead letters keep the routing key of their publisher unless x-dead-letter-routing-key replaces it. At-most-once dead-lettering deletes them. At-least-once keeps them, and everything that dies later in this queue waits behind them.",
    `${docs}/dlx`,
  ),
  RD413: error(
    "Messages are lost in a cycle of dead-lettering",
    "RabbitMQ drops a dead letter that returns to a queue in which it died before, unless a consumer rejected it in between. Delivery limit and expiry are no rejection. A work queue and a wait queue that dead-letter to each other lose exactly the messages whose consumer crashes too often. Route by the reason, with a headers exchange on x-last-death-reason: rejected to the wait queue, everything else to a dead queue.",
    `${docs}/dlx`,
  ),
  RD414: error(
    "Messages go round for ever without a consumer",
    "The topology has a cycle that neither a counter of the broker nor a consumer ends. At best it wastes the broker's time. Without a delay, one message occupies a whole core. End the cycle with a dead queue for messages that come round too often.",
    `${docs}/dlx`,
  ),
  RD416: warning(
    "Only the consumer can end the retries",
    "A rejected message waits and comes back, and the broker never stops that, because its cycle rule allows rejections. The consumer has to count its attempts, in x-death or in its own header, correctly on every version. Redeliver's staged strategy tells attempts by exchanges instead.",
    `${docs}/dlx`,
  ),
  RD417: warning(
    "The delivery limit does not count basic.nack with requeue",
    "From 4.3 the limit counts failures, and basic.nack with requeue is not a failure: it returns an untried message. A consumer that uses it after an error gets the message back at once, thousands of times a second. Use basic.reject with requeue for a failure. The contract of a queue that Redeliver made says so, so no such queue is reported.",
    `${docs}/quorum-queues`,
  ),
  RD418: warning(
    "At-least-once dead-lettering is not in force",
    "A quorum queue dead-letters at least once only if it has a dead-letter exchange and overflow reject-publish. Otherwise the broker falls back to at-most-once without notice. It then loses a dead letter if the target is full or missing at that moment.",
    `${docs}/quorum-queues`,
  ),
  RD419: error(
    "A queue that holds waiting messages expires",
    "x-expires deletes an unused queue. Publishing to a queue does not count as use, and a wait queue or a dead queue has no consumer. The broker deletes the messages in it and does not dead-letter them. Remove x-expires.",
    `${docs}/ttl`,
  ),
  RD420: warning(
    "Dead letters are deleted",
    "Without a dead-letter exchange the broker deletes a rejected message, and one that is returned too often. From 4.0 every quorum queue has a default delivery limit of 20. That may be right for a queue whose messages do not matter. If they do, name a dead-letter exchange in a policy.",
    `${docs}/dlx`,
  ),
  RD421: warning(
    "Dead letters that are looked at too often are deleted",
    "Up to 4.2 every return counts towards the delivery limit, also that of a message viewed in the management interface. From 4.0 a quorum queue has a default limit of 20, and a dead queue has no dead-letter exchange. Set x-delivery-limit to -1 there. Up to 3.13 leave the limit out, because RabbitMQ treats a negative one as 0.",
    `${docs}/quorum-queues`,
  ),
  RD422: warning(
    "A policy is overridden",
    "Only one user policy applies to a queue: the one with the highest priority. RabbitMQ does not merge policies. A dead-letter exchange in another policy has no effect there. With equal priorities the broker chooses. Put everything into one policy with an anchored pattern.",
    `${docs}/policies`,
  ),
  RD423: warning(
    "A setting has no effect",
    "The broker accepts some arguments unchecked and ignores those without meaning. Examples are a delivery limit that is a text, and delayed retry on a version without it. It ignores a whole policy if the queue's type does not know one of its keys. Correct the value. Prefer policies, because the broker checks their values.",
    `${docs}/policies`,
  ),
  RD424: error(
    "A retry reaches other queues",
    "The wait queue dead-letters to an exchange with bindings to several queues. When the message comes back for the consumer that failed, the others get it again, though they have handled it. Dead-letter to the default exchange with the queue's name as routing key, or to a separate exchange.",
    `${docs}/dlx`,
  ),
  RD425: warning(
    "An upgrade changes the behaviour",
    "The same topology behaves differently on the newer version: limits appear, counts change their meaning, or another rule routes dead letters. The notes compare a message's course under each simple behaviour of its consumer, before and after. Decide which you want, and state it in a policy before the upgrade.",
    `${docs}/upgrade`,
  ),
  RD426: warning(
    "A wait queue lives only while it is redeclared",
    "The broker deletes a classic queue with x-expires, and the messages in it, if no client has declared or consumed it for that time. The queue is safe if every publisher declares it right before it publishes, and messages expire sooner than the queue. A publisher that declares it only at its start loses messages.",
    `${docs}/ttl`,
  ),
  RD428: warning(
    "A queue was judged only in part",
    "Redeliver explores every path of a message, and here there are too many. Dead letters go to many wait queues at once, and the order in which they return matters to the broker. Every finding is true, but Redeliver searched only the shortest paths, and others may be wrong too. Give each consumer separate wait queues, and let a routing key choose among them.",
    `${docs}/dlx`,
  ),
  RD429: warning(
    "Some dead letters have no route",
    "The queue takes all keys of a pattern, such as order.*, or any key, but its dead-letter exchange has bindings for only some of them. Dead letters keep their routing key. A headers exchange may likewise ask for headers that not every message has. Those without a binding are deleted, or kept inside the queue with at-least-once. Such keys may be unused today, but the first publisher of one loses messages. Bind the dead queue by the same pattern.",
    `${docs}/dlx`,
  ),
  RD427: warning(
    "A policy's pattern cannot be read",
    "Patterns of policies are regular expressions of the dialect PCRE, and Redeliver understands most of it. It cannot tell which queues this pattern matches, so it judges the policy as if it matched none. Write a simpler pattern.",
    `${docs}/policies`,
  ),
  RD430: warning(
    "A negative delivery limit counts as 0",
    "From 4.0 a negative delivery limit means no limit. Up to 3.13 the first count exceeds it: the broker gives up a message after one return or one crash of its consumer. Leave the limit out there.",
    `${docs}/quorum-queues`,
  ),
  RD431: warning(
    "Dead letters are deleted in the end",
    "The dead queue has a time to live or a length limit and no dead-letter exchange. So the broker deletes dead letters after a while, or when many come at once, seen or not. That is right if it is the retention you want. If not, remove the limit and watch the length of the queue instead.",
    `${docs}/maxlength`,
  ),
  RD432: warning(
    "Full queues can block each other",
    "A queue that dead-letters at least once keeps a dead letter until its target has accepted it. With overflow reject-publish a full target accepts none. Full queues that dead-letter to each other wait for each other for ever. Remove the length limit of one of them.",
    `${docs}/quorum-queues`,
  ),
  RD433: error(
    "A queue that holds dead letters disappears",
    "A queue that is not durable disappears when its node restarts. An auto-delete queue disappears with its last consumer, even one that only views it. The broker deletes its messages and does not dead-letter them. Make queues that hold dead letters or waiting messages durable, and not auto-delete.",
    `${docs}/queues`,
  ),
  RD434: error(
    "The dead-letter exchange disappears",
    "An exchange that is not durable disappears with its bindings when the broker restarts. An auto-delete exchange disappears with its last binding. The queue keeps naming it, so from then on the broker deletes every dead letter without notice. Make the dead-letter exchange durable, and not auto-delete.",
    `${docs}/dlx`,
  ),
  RD435: error(
    "The broker's version refuses it",
    "This version no longer knows a setting of an older one, and refuses to make or import the resource. It refuses a policy as a whole, with its dead-letter exchange, and an exchange with its bindings. Replace it before the upgrade.",
    `${docs}/upgrade`,
  ),
  RD436: warning(
    "Dead letters are lost while their target is full",
    "At-most-once dead-lettering does not wait for an answer. A full classic queue with overflow reject-publish accepts nothing, so the broker deletes a dead letter that arrives then. Remove the length limit, or use quorum queues with at-least-once dead-lettering, which keeps the dead letter until there is room.",
    `${docs}/dlx`,
  ),
  RD437: warning(
    "The alternate exchange does not exist",
    "The broker does not check the name of an alternate exchange. If it does not exist, the broker drops a message without a route, and a publisher that does not set mandatory never learns of it. Declare the exchange and bind a queue to it.",
    `${docs}/ae`,
  ),
  RD438: warning(
    "A full wait queue sends messages on too early",
    "A queue with a length limit and overflow drop-head dead-letters the messages it drops. In a wait queue such a message has not waited for its time: it comes back at once, just when many messages fail. Remove the length limit.",
    `${docs}/maxlength`,
  ),
  RD439: warning(
    "Messages wait behind others with a longer delay",
    "A queue checks only its head for expiry. If each message sets its own expiration, one with a long delay holds back all later ones, however short their delays are. Make one wait queue with a time to live for each delay.",
    `${docs}/ttl`,
  ),
  // RD82x: reasons why a consumer of RabbitMQ does not start.
  RD821: error(
    "Another connection uses the queue alone",
    "An exclusive queue belongs to one connection, and a consumer of a classic queue may ask to be the only one. The broker then refuses all others. The compiled quorum queues have neither, so this queue was made elsewhere or by hand. A single active consumer is different: others may wait there for their turn.",
    `${docs}/consumers#exclusivity`,
  ),
  RD822: error(
    "A limit of the broker is reached",
    "A consumer opens one channel for its deliveries, and another one if its contract publishes copies. It opens both before the first message. Beyond the limit the broker would close the whole connection, and the consumer would handle each message again and again. A consumer with a queue for every instance needs one more queue. Raise the limit of the user or of the virtual host, or channelMax in the URL.",
    `${docs}/user-limits`,
  ),
  RD823: error(
    "The work queue does not answer",
    "The broker knows the queue, but the queue does not answer. A quorum queue does that while it has no leader: more than half of its members are away, or have just started. A consumer that starts reports this and ends. A consumer that ran before tries again by itself, with growing pauses.",
    `${docs}/quorum-queues#quorum-requirements`,
  ),
  // RD84x: dead letters that a look endangers.
  RD841: error(
    "Looking would use up the letters",
    "RabbitMQ has no look without a delivery, and each look counts towards the delivery limit of a quorum queue. A letter above the limit is dropped, because a dead queue has no dead-letter exchange. So Redeliver looks only if no message can reach a limit: x-delivery-limit is -1 from 4.0, or Redeliver's policy has the greatest one. If it cannot learn the limit from the management API, it does not look. On SQS a look is a receive, and a dead queue with a RedrivePolicy of its own would move its letters after some of them.",
    `${docs}/quorum-queues#poison-message-handling`,
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
