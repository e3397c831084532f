import type { CatalogueEntry } from "./catalogue-entry.ts";

/** Guides of AWS, as the addresses of their pages begin. */
const guides = {
  sqs: "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide",
  sns: "https://docs.aws.amazon.com/sns/latest/dg",
  lambda: "https://docs.aws.amazon.com/lambda/latest/dg",
};

function entry(
  severity: CatalogueEntry["severity"],
  [guide, page]: readonly [keyof typeof guides, string],
  title: string,
  explanation: string,
): CatalogueEntry {
  return { severity, title, explanation, source: `${guides[guide]}/${page}.html` };
}

const deadLetters = ["sqs", "sqs-dead-letter-queues"] as const;
const visibility = ["sqs", "sqs-visibility-timeout"] as const;
const subscribing = ["sns", "subscribe-sqs-queue-to-sns-topic"] as const;

/** RD44x to RD46x: what an audit finds in queues of Amazon SQS, and in the topics and functions around them. */
export const sqsAuditCatalogue = {
  RD440: entry(
    "warning",
    deadLetters,
    "Nothing ends the receives of a message",
    "A queue without a redrive policy gives out a message that fails again and again, until it is as old as the queue's retention period. Then it is deleted, and nobody hears of it. Queues that are themselves named as a dead-letter queue are passed over. Name a dead-letter queue.",
  ),
  RD441: entry(
    "error",
    deadLetters,
    "The dead-letter queue does not exist",
    "AWS refuses a redrive policy to a queue that is not there, but it does not look again when that queue is deleted. What becomes of a message that has to be moved is not documented, and emulators lose it. Create the queue again, before the first message has used up its receives.",
  ),
  RD442: entry(
    "error",
    deadLetters,
    "The dead-letter queue is in another account or region",
    "SQS moves messages within one region of one account. A redrive policy that names a queue elsewhere comes from a text that was copied, and is refused or does nothing. Make a dead-letter queue beside each queue.",
  ),
  RD443: entry(
    "error",
    deadLetters,
    "The dead-letter queue is of the other type",
    "The dead-letter queue of a FIFO queue has to be FIFO, and that of a standard queue standard. Emulators take what AWS refuses, so the mistake may come out only in production. Make a dead-letter queue of the same type.",
  ),
  RD444: entry(
    "error",
    deadLetters,
    "Messages go round for ever between dead-letter queues",
    "Queues that are each other's dead-letter queues have no end: a message that always fails is received in one, moved to the next and so on, and each receive is paid for. AWS accepts such a circle when it is made in two steps. Take the redrive policy away from the queue where dead letters are to stay.",
  ),
  RD445: entry(
    "warning",
    deadLetters,
    "A dead-letter queue passes on its messages",
    "The queue where dead letters come in has a dead-letter queue itself. Whoever receives from it, even to look what is there, makes messages move on; and since receives of the queue before count too, perhaps at the first look. As a way to build delays it does not work, since nothing moves without a receive. Let dead letters stay where they come in.",
  ),
  RD446: entry(
    "warning",
    ["sqs", "avoiding-inconsistent-message-processing"],
    "A single receive, then dead",
    "With a maxReceiveCount of 1 the first receive is the last. SQS counts it when it sends the answer, so a message can be dead that no handler ever saw: the answer was lost, the consumer was stopped, somebody looked at it in the console. AWS advises against it.",
  ),
  RD447: entry(
    "warning",
    ["lambda", "services-sqs-configure"],
    "Few receives for a Lambda function",
    "A call that Lambda throttles costs a receive though no handler has run. With a maxReceiveCount below 5 healthy messages get to the dead-letter queue when many come at once. AWS asks for 5 at least.",
  ),
  RD448: entry(
    "warning",
    ["sqs", "setting-up-dead-letter-queue-retention"],
    "Dead letters are kept no longer than other messages",
    "On standard queues a message keeps the time at which it was sent when it is moved. A dead-letter queue with the same retention period, such as the 4 days that all queues have by default, so keeps a dead letter only for what is left of it, and one that is old enough for no time at all. Give the dead-letter queue 14 days, and the queue less.",
  ),
  RD449: entry(
    "error",
    ["sqs", "setting-up-dead-letter-queue-retention"],
    "Messages can be deleted before their retries are over",
    "Retention deletes a message by its age; it never puts one into the dead-letter queue. Here a message whose receives all run out of the visibility timeout is older than that before it comes to its end, so it is lost without a trace. Raise the retention period, or lower maxReceiveCount or the visibility timeout.",
  ),
  RD450: entry(
    "error",
    ["lambda", "services-sqs-configure"],
    "The function may run longer than its message is hidden",
    "When the visibility timeout is over, the message is received again, though the function is still at work on it: it is handled twice at a time, and its receives are used up. AWS refuses such a mapping when it is made, but not every later change of the queue or the function. Raise the visibility timeout first, and then the timeout of the function.",
  ),
  RD451: entry(
    "warning",
    ["lambda", "services-sqs-configure"],
    "The visibility timeout is short for a Lambda function",
    "AWS asks for a visibility timeout of 6 times the function's timeout, with the batch window added, so that Lambda can try again when a call is throttled. With less, messages come back while Lambda still holds them, and lose receives without any run of the handler. Raise the visibility timeout.",
  ),
  RD452: entry(
    "error",
    deadLetters,
    "The dead-letter queue does not let the queue in",
    "The redrive-allow policy of the dead-letter queue denies all sources, or lists others. AWS refuses a redrive policy that it does not allow, but an allow policy can be changed afterwards; what then becomes of a message that has to be moved is not documented. Emulators pass over these policies, so no test shows it. Add the queue to the list.",
  ),
  RD453: entry(
    "warning",
    deadLetters,
    "Too many source queues in a redrive-allow policy",
    "A redrive-allow policy by queue lists 10 source queues at most. With more it does not restrict anything: every queue of the account may use this one. Give groups of consumers dead-letter queues of their own.",
  ),
  RD454: entry(
    "warning",
    ["sqs", "sqs-server-side-encryption"],
    "Messages are kept unencrypted",
    "Encryption with keys of SQS (SSE-SQS) is on for new queues and was switched off here, and there is no KMS key either. It costs nothing and changes nothing for whoever sends or receives. Switch it on, on dead-letter queues too: they hold the same messages.",
  ),
  RD455: entry(
    "error",
    ["sqs", "sqs-security-best-practices"],
    "Anybody may send to the queue",
    'A statement of the queue\'s policy allows the principal "*" without a condition. That is everybody: any account of AWS, and requests that nobody signed. Name the accounts or services that send, or add a condition on the source.',
  ),
  RD456: entry(
    "warning",
    ["sns", "sns-dead-letter-queues"],
    "A subscription without a dead-letter queue",
    "SNS tries for some days to hand a message over to a queue that is gone, that its policy does not let it into, or whose key it may not use; errors that another try cannot mend it does not even repeat. Then the message is deleted. The dead-letter queue of the queue itself is no help, since the message never came there: the subscription needs one of its own.",
  ),
  RD457: entry(
    "error",
    subscribing,
    "A queue does not let its topic in",
    "SNS hands over only to queues whose policy allows the service sns.amazonaws.com to send for this topic, in the same account too. The subscription looks sound, publishers get no error, and nothing arrives. The same holds for the dead-letter queue of the subscription.",
  ),
  RD458: entry(
    "error",
    ["sns", "sns-subscription-filter-policies"],
    "A filter that no message meets",
    "Every attribute that a filter policy names has to have one of the values that it lists. Here one of them lists none, or only ranges without a number in them, so that the subscription takes nothing at all. Correct the filter, or take the subscription away.",
  ),
  RD459: entry(
    "error",
    ["sns", "fifo-topic-message-delivery"],
    "Topic and queue are of types that do not fit",
    "A standard topic does not hand over to a FIFO queue; a FIFO topic hands over to both. The dead-letter queue of a subscription is of the same type as its queue. Emulators take what AWS refuses.",
  ),
  RD460: entry(
    "warning",
    visibility,
    "A receive hides nothing",
    "With a visibility timeout of 0 a message is there for everybody while the first consumer handles it. It is handled several times at a time, and moved when it was received maxReceiveCount times, though no handler has failed. Only a consumer that sets the timeout in each receive is safe. Set it above the handler's time.",
  ),
  RD461: entry(
    "error",
    subscribing,
    "A subscription leads to a queue that does not exist",
    "When a queue is deleted, its subscriptions stay. Every message of the topic is tried in vain and goes to the subscription's dead-letter queue, or is lost where it has none. Take the subscription away, or create the queue again.",
  ),
  RD462: entry(
    "warning",
    ["lambda", "services-sqs-errorhandling"],
    "One failure brings back a whole batch",
    "Without ReportBatchItemFailures a function that fails on one message gets all of the batch again, those too that it had dealt with. Each of them loses a receive, and healthy messages end in the dead-letter queue beside a poisonous one. Let the function answer with the messages that failed.",
  ),
  RD463: entry(
    "warning",
    ["lambda", "with-sqs-filtering"],
    "Lambda deletes what a filter does not take",
    "A filter of an event source mapping does not leave messages in the queue for others: what meets no filter is deleted, and comes to no dead-letter queue. A mistyped filter empties the queue. Filter in the topic's subscription, where nothing is taken out of a queue.",
  ),
  RD464: entry(
    "error",
    ["sns", "sns-enable-encryption-for-topic-sqs-queue-subscriptions"],
    "A topic cannot use the key of its queue",
    "The queue is encrypted with the key that AWS manages for SQS, alias/aws/sqs. Its policy lets no other service in, and nobody can change it, so SNS cannot put messages into the queue. The same holds for the dead-letter queue of the subscription. SSE-SQS needs no key.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
