import { type CatalogueEntry, error, warning } from "../diagnostics/catalogue-entry.ts";

/** Declarations and targets that more than one broker cannot keep: one code on all brokers, with the limits of each. */
export const compileProblems = {
  RD201: error(
    "Unknown target",
    "A target is a broker with its version, region or tier, such as rabbitmq@4.3, sqs@eu-west-1 or servicebus@standard. It may also name a strategy of that broker. Redeliver refuses versions of RabbitMQ that it has not studied: a topology that is sound on one version can lose or repeat messages on another. In a mistyped region of AWS a deployment would wait for an answer in vain. Redeliver accepts a newer region if a target file also names its partition, as in `partition: aws`. Use a word from the note or the fix.",
  ),
  RD202: error(
    "The strategy cannot keep the declaration",
    "The target names a strategy that cannot keep this declaration, or that the broker's version does not have. Deploying it would break a promise silently. For example, RabbitMQ 4.0 accepts the queue arguments for delayed retry, ignores them and redelivers at once. Under redrive on SQS every attempt has the same delay, the queue's visibility timeout. Under immediate on Service Bus an abandoned message returns at once. Use a strategy that the fix names, or auto.",
  ),
  RD203: error(
    "No strategy keeps the declaration",
    "No strategy of this target keeps everything that the declaration asks for. For example, SQS has one counter for failures, crashes and returns, and hides a message for at most 12 hours. On Service Bus a message that is scheduled again loses its place, so order per key and a delay exclude each other. The notes give the objection of each strategy. Change the field that the fix names: it stops the strategy that comes closest.",
  ),
  RD204: error(
    "Name not usable on the broker",
    "Redeliver derives the names of queues, topics and exchanges from this one, and the target cannot use one of them. The Pulumi provider for RabbitMQ splits resource ids at / and @, and turns a name of digits into a number. SQS and SNS take letters, digits, hyphens and underscores, and 80 characters for a queue with all additions, such as `.fifo`. Service Bus also takes periods, but a name begins and ends with a letter or digit, and a subscription has at most 50 characters. The deployment would fail half-way or touch another resource. Use letters, digits and hyphens, with at least one letter.",
  ),
  RD205: error(
    "Two resources would have the same name",
    "Redeliver derives the names of a consumer's resources from its own name, as in shop.billing.dead. Here two of them are equal, so one consumer's messages would land in the other's queue. On Service Bus queues and topics share one set of names, and upper and lower case are the same. Rename one of the two.",
  ),
  RD207: warning(
    "A returned message costs a delivery",
    "The broker counts a message that a consumer returns unprocessed, for example at shutdown. RabbitMQ up to 4.2 counts it against the crash budget, and SQS as an attempt. The maintainers of Service Bus say that a release counts nothing, but no documentation says so, so Redeliver assumes the worse. A message that is returned too often ends in the dead queue, although no handler failed on it. Receive no more messages than you handle at once, and allow more deliveries than the restarts that one message may see. RabbitMQ 4.3 counts no returns, and neither do sessions of Service Bus.",
  ),
  RD215: error(
    "The broker has no queue for every instance",
    "A queue of SQS, and a subscription of SNS or Service Bus, exists until a program deletes it. One that an instance made would keep filling up, and cost money, after the instance has died. Use one work queue for the consumer, or a target whose queues end with their connection: RabbitMQ.",
  ),
  RD216: error(
    "The broker cannot filter by this",
    "Service Bus filters by the routing key alone, and a filter of SNS has a list of texts for each attribute. SNS compares the whole key, its beginning or its end: order.# is a beginning, and order.* is not, because that would also match order.placed.again. A SQL pattern of Service Bus matches one word between dots only if their number is fixed, so `*` and `#` mostly exclude each other. The number of values, and the length of a rule's name and expression, are limited, too. Redeliver never widens a filter silently: the consumer would get messages that it did not ask for. List the routing keys, or ask for more and let the handler skip the rest.",
  ),
  RD217: warning(
    "No handler timeout is declared",
    "SQS hides a message from other receivers for a fixed time. On Service Bus the SDK renews the lock for a fixed time. Without a handlerTimeout that time is the vendor's default: 30 seconds on SQS, 5 minutes on Service Bus. If a handler takes longer, the broker delivers the message again while the handler runs, and counts the delivery. Declare how long the handler may run.",
  ),
  RD218: error(
    "The handler may run longer than its message stays hidden",
    "SQS hides a message for at most 12 hours after its receive, with all extensions. The SDKs of Service Bus renew a lock by a timer, and a timer runs for at most 24 days. If a handler runs longer, the broker delivers the message again beside it. Let the handler start the long work elsewhere and end.",
  ),
  RD219: error(
    "The system exceeds a limit of the broker",
    "AWS allows 100 subscriptions of a FIFO topic, one for each consumer, and 8,192 bytes for a queue's policy, which names every source's topic. A CloudFormation template has at most 500 resources, 200 outputs and 1 MB. A namespace of Service Bus has at most 10,000 queues and topics, and in the premium tier 1,000 for each of 64 messaging units. A topic there has at most 2,000 subscriptions, 2,000 SQL filters for patterns, and 100,000 correlation filters for whole routing keys. The broker would refuse the rest in the middle of a deployment. Divide the system as the fix says.",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html",
    "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas",
  ),
  RD220: warning(
    "The system needs a higher quota or a bucket",
    "Unless you request more, AWS allows a topic 200 filter policies and an account 10,000. A consumer that takes routing keys of a source has one there. A CloudFormation template over 51,200 bytes has to lie in a bucket. A premium namespace of Service Bus has 1,000 queues and topics for each messaging unit, and starts with one unit. Do this before the deployment, which would otherwise stop half-way.",
    "https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html",
    "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas",
  ),
  RD221: error(
    "Option of the target not usable",
    "A target may set the place of dead letters, and one for SQS an account, a key, tags, Lambda functions and dead queues to empty. A target for Service Bus may set the length of locks and duplicate detection. Here an option is unknown, or its value is malformed or out of range. It would have no effect, or the broker would refuse it in the middle of a deployment. Write durations as everywhere in Redeliver: in ISO 8601, which Azure uses, P5M is five months and PT5M five minutes. Write the option as the fix says.",
  ),
  RD222: error(
    "The source of another owner cannot be used",
    "A source with `owner: other` is an exchange or topic that somebody else made. On RabbitMQ its name is that of the exchange, and an exchange of a plugin has the kind `opaque` and an `exchangeType`. Only there it may have `arguments`, which are compared with those of the exchange. On SQS its name is the ARN of an SNS topic, because the topic may lie in another account or region. Only a FIFO topic delivers to a consumer in order. On Service Bus it is the name of a topic in the same namespace.",
  ),
  RD223: error(
    "The system exceeds its own budget",
    "The declaration limits the queues or the resources of the system on its broker, and the compiled topology has more. Each one costs memory and time there: a quorum queue of RabbitMQ keeps a log of its own and elects a leader. The notes give the numbers of the strategies that need fewer. Another strategy may give a promise to another keeper, so read its page first. Use a strategy that fits, give consumers the same delays so that they share tiers, divide the system, or raise the limit.",
  ),
  RD240: error(
    "Queue argument not usable",
    "A consumer's queueArguments are arguments of its work queue on RabbitMQ. SQS and Service Bus have no such arguments, and versions of RabbitMQ ignore those that they do not know. A consumer timeout that ends before the handler would let the broker deliver the message a second time beside it. `queueSettings` chooses between the arguments and the policy of a queue of RabbitMQ. Consumers that share a dead queue say the same. Leave the argument out, or change it as the fix says.",
    "https://www.rabbitmq.com/docs/queues#optional-arguments",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
