import type { CatalogueEntry } from "../../../diagnostics/catalogue-entry.ts";

/** The beginnings of the addresses of AWS guides. */
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
  return { severity, title, explanation, sources: [`${guides[guide]}/${page}.html`] };
}

const deadLetters = ["sqs", "sqs-dead-letter-queues"] as const;
const visibility = ["sqs", "sqs-visibility-timeout"] as const;
const subscribing = ["sns", "subscribe-sqs-queue-to-sns-topic"] as const;

/** RD44x to RD46x: the findings that only an audit of SQS has, and of topics and functions around its queues. */
export const auditProblems = {
  RD442: entry(
    "error",
    deadLetters,
    "The dead-letter queue is in another account or region",
    "SQS moves messages within one region of one account. A redrive policy that names a queue elsewhere is usually a copied text, and AWS refuses it or ignores it. Make a dead-letter queue beside each queue.",
  ),
  RD443: entry(
    "error",
    deadLetters,
    "The dead-letter queue is of the other type",
    "The dead-letter queue of a FIFO queue has to be FIFO, and that of a standard queue standard. Emulators accept the mistake and AWS refuses it, so it may appear only in production. Make a dead-letter queue of the same type.",
  ),
  RD444: entry(
    "error",
    deadLetters,
    "Messages go round for ever between dead-letter queues",
    "Queues that are each other's dead-letter queues form a circle. A message that always fails moves from one to the next for ever, and each receive costs money. AWS accepts such a circle if it is made in two steps. Remove the redrive policy of the queue that has to keep the dead letters.",
  ),
  RD445: entry(
    "warning",
    deadLetters,
    "A dead-letter queue has a dead-letter queue",
    "The queue that receives dead letters has a redrive policy too. Each receive from it, even by a person in the console, counts towards the move. Receives in the queue before count as well, so the first look may move a message. It does not work as a delay, because nothing moves without a receive. Remove the redrive policy of the dead-letter queue.",
  ),
  RD447: entry(
    "warning",
    ["lambda", "services-sqs-configure"],
    "Few receives for a Lambda function",
    "A call that Lambda throttles costs a receive although the handler did not run. With a maxReceiveCount below 5, healthy messages reach the dead-letter queue when many come at once. AWS asks for at least 5.",
  ),
  RD448: entry(
    "warning",
    ["sqs", "setting-up-dead-letter-queue-retention"],
    "Dead letters are kept no longer than other messages",
    "On standard queues a moved message keeps the time at which it was sent. A dead-letter queue with the same retention period, such as the default 4 days, keeps a dead letter only for the rest of it. A message that is old enough is deleted at once. Give the dead-letter queue 14 days, and the queue less.",
  ),
  RD449: entry(
    "error",
    ["sqs", "setting-up-dead-letter-queue-retention"],
    "Messages can be deleted before their retries are over",
    "Retention deletes a message by its age and never moves it to the dead-letter queue. Here the receives times the visibility timeout exceed the retention period, so SQS can delete a message before its last receive. Raise the retention period, or lower maxReceiveCount or the visibility timeout.",
  ),
  RD450: entry(
    "error",
    ["lambda", "services-sqs-configure"],
    "The function may run longer than its message is hidden",
    "When the visibility timeout ends, SQS delivers the message again while the function still works on it. The function handles it twice, and its receives run out. AWS refuses such a mapping when it is made, but does not check every later change. Raise the visibility timeout first, and then the timeout of the function.",
  ),
  RD451: entry(
    "warning",
    ["lambda", "services-sqs-configure"],
    "The visibility timeout is short for a Lambda function",
    "AWS asks for a visibility timeout of 6 times the function's timeout plus the batch window, so that Lambda can repeat a throttled call. With less, messages come back while Lambda still holds them, and lose receives without a run of the handler. Raise the visibility timeout.",
  ),
  RD452: entry(
    "error",
    deadLetters,
    "The dead-letter queue does not allow the queue",
    "The redrive-allow policy of the dead-letter queue denies all sources, or lists others. AWS checks it when the redrive policy is set, but the allow policy can change later. AWS does not document the fate of a message that has to move then. Emulators ignore these policies, so no test shows it. Add the queue to the list.",
  ),
  RD453: entry(
    "warning",
    deadLetters,
    "Too many source queues in a redrive-allow policy",
    "A redrive-allow policy by queue lists at most 10 source queues. With more it restricts nothing: every queue of the account may use this one. Give groups of consumers separate dead-letter queues.",
  ),
  RD454: entry(
    "warning",
    ["sqs", "sqs-server-side-encryption"],
    "Messages are kept unencrypted",
    "Encryption with keys of SQS (SSE-SQS) is on by default. Here it is off, and there is no KMS key. It costs nothing and changes nothing for publishers and consumers. Switch it on, also for dead-letter queues: they hold the same messages.",
  ),
  RD455: entry(
    "error",
    ["sqs", "sqs-security-best-practices"],
    "Any principal may send to the queue",
    'A statement of the queue\'s policy allows the principal "*" without a condition. It lets in every account of AWS, and requests without a signature. Name the accounts or services that send, or add a condition on the source.',
  ),
  RD456: entry(
    "warning",
    ["sns", "sns-dead-letter-queues"],
    "A subscription without a dead-letter queue",
    "SNS tries for some days to deliver if the queue is gone, its policy denies SNS, or its key is closed to SNS. It does not repeat errors that another try cannot correct. Then it deletes the message. The dead-letter queue of the queue is no help, because the message never reached the queue: the subscription needs a separate one.",
  ),
  RD457: entry(
    "error",
    subscribing,
    "A queue does not allow its topic",
    "SNS delivers only to queues whose policy allows the service sns.amazonaws.com to send for this topic, in the same account too. Without it the subscription looks sound, publishers get no error, and nothing arrives. The same holds for the dead-letter queue of the subscription.",
  ),
  RD458: entry(
    "error",
    ["sns", "sns-subscription-filter-policies"],
    "A filter matches no message",
    "Each attribute in a filter policy has to have one of the listed values. Here an attribute lists no value, or only ranges without a number in them, so the subscription takes nothing. Correct the filter, or remove the subscription.",
  ),
  RD459: entry(
    "error",
    ["sns", "fifo-topic-message-delivery"],
    "The types of topic and queue do not fit",
    "A standard topic does not deliver to a FIFO queue. A FIFO topic delivers to both types. The dead-letter queue of a subscription has the same type as its queue. Emulators accept the mistake, and AWS refuses it.",
  ),
  RD460: entry(
    "warning",
    visibility,
    "A receive hides nothing",
    "With a visibility timeout of 0 a message stays visible to all while the first consumer handles it. Several consumers handle it at a time. After maxReceiveCount receives SQS moves it although no handler failed. Only a consumer that sets the timeout in each receive is safe. Set it above the handler's time.",
  ),
  RD461: entry(
    "error",
    subscribing,
    "A subscription leads to a queue that does not exist",
    "When a queue is deleted, its subscriptions stay. SNS tries every message of the topic in vain and sends it to the subscription's dead-letter queue, or loses it without one. Remove the subscription, or create the queue again.",
  ),
  RD462: entry(
    "warning",
    ["lambda", "services-sqs-errorhandling"],
    "One failure brings back a whole batch",
    "Without ReportBatchItemFailures a function that fails on one message gets the whole batch again, also the messages it handled. Each of them loses a receive, and healthy messages die beside a poisonous one. Let the function answer with the messages that failed.",
  ),
  RD463: entry(
    "warning",
    ["lambda", "with-sqs-filtering"],
    "Lambda deletes messages that a filter does not match",
    "A filter of an event source mapping does not leave other messages in the queue. Lambda deletes a message that matches no filter, and no dead-letter queue gets it. A mistyped filter empties the queue. Filter in the topic's subscription, which takes nothing out of a queue.",
  ),
  RD464: entry(
    "error",
    ["sns", "sns-enable-encryption-for-topic-sqs-queue-subscriptions"],
    "A topic cannot use the key of its queue",
    "The queue is encrypted with the key that AWS manages for SQS, alias/aws/sqs. The policy of that key allows no other service and cannot be changed, so SNS cannot put messages into the queue. The same holds for the dead-letter queue of the subscription. SSE-SQS needs no key.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
