import { type CatalogueEntry, error, warning } from "../../../diagnostics/catalogue-entry.ts";

const docs = "https://www.rabbitmq.com/docs";

/** RD412 to RD439: the findings that only an audit of RabbitMQ has. */
export const auditProblems = {
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
    "From 4.3 the limit counts failures, and basic.nack with requeue is not a failure: it returns an untried message. A consumer that uses it after an error gets the message back at once, thousands of times a second. Use basic.reject with requeue for a failure.",
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
    "The queue takes all keys of a pattern, such as order.*, but its dead-letter exchange has bindings for only some of them. Dead letters keep their routing key. Those without a binding are deleted, or kept inside the queue with at-least-once. Such keys may be unused today, but the first publisher of one loses messages. Bind the dead queue by the same pattern.",
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
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
