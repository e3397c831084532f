import { type CatalogueEntry, error, warning } from "../../diagnostics/catalogue-entry.ts";

const sqs = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide";
const sns = "https://docs.aws.amazon.com/sns/latest/dg";
const lambda = "https://docs.aws.amazon.com/lambda/latest/dg";
const deadLetters = `${sqs}/sqs-dead-letter-queues.html`;
const visibility = `${sqs}/sqs-visibility-timeout.html`;
const subscribing = `${sns}/subscribe-sqs-queue-to-sns-topic.html`;

/** The codes of Amazon SQS. */
export const sqsProblems = {
  // RD6xx: declarations that Amazon SQS alone cannot keep, or keeps only at a price.
  RD609: error(
    "Retries take longer than SQS keeps a message",
    "SQS deletes a message 14 days after it was published, wherever it is, and does not move it to the dead queue. With these attempts and delays SQS could delete a message before its last attempt, without notice. Use fewer attempts or shorter delays.",
  ),
  RD610: error(
    "Dead letters cannot be kept so long",
    "SQS keeps a message for 14 days in all. On a standard queue the clock starts when the message is published and goes on in the dead queue, so retries shorten the stay there. On a FIFO queue it starts again. Choose a shorter time, and archive messages that have to stay longer.",
  ),
  RD611: warning(
    "One receive, then dead",
    "With one attempt the first receive is the last. SQS counts it when it sends the answer, and the answer can be lost, so a message can die before a handler saw it. AWS advises against it. Use at least two attempts, with a handler that can be repeated.",
  ),
  RD614: warning(
    "No whole second of jitter",
    "SQS counts whole seconds, so Redeliver spreads a delay over the whole seconds within its jitter. Here the only one is the delay itself, and messages that fail together come back together. Raise the jitter or the delay.",
  ),
  RD615: warning(
    "Fourteen days are short here",
    "SQS keeps a message for 14 days in all, in the work queue and in the dead queue together. Here one of the two gets less than 4 days, the default of SQS. SQS deletes older messages without notice. Handle dead letters soon, and let no consumer be away for long.",
  ),
  // RD617 to RD624: the settings of a target for Amazon SQS beside its region.
  RD617: error(
    "A key that SNS cannot use",
    "Every queue gets its messages from a topic, so SNS has to be able to use the key of the queue. The policy of a key that AWS manages, such as alias/aws/sqs, allows no service and cannot be changed. Every published message would be lost. Use a key of your own, or SSE-SQS, which needs none.",
  ),
  RD618: error(
    "Another region or account than that of the queues",
    "A queue, its dead queue, its key and its function have to be in one region. Redeliver makes all queues of a target in one account. This ARN names another one. AWS would refuse it in the middle of the deployment, or treat it as missing.",
  ),
  RD619: error(
    "The function ends before the handler may",
    "The declaration allows a handler more time than Lambda allows its function. When Lambda ends a function, every message of its batch has failed and has spent an attempt. Raise the function's timeout, or shorten handlerTimeout.",
  ),
  RD620: error(
    "A batch that Lambda or the order does not allow",
    "Lambda takes more than 10 messages at a time only with a batch window, and a FIFO queue has no window. In order, a function has to stop at the first failure and return everything after it. Untried messages would spend their attempts, so there a batch has one message. Change the batch as the fix says.",
  ),
  RD621: error(
    "A single receive with Lambda",
    "Lambda receives messages before it knows whether a function may run. If the function is throttled until the message is visible again, its one receive is spent. SQS moves it to the dead queue although no code saw it. Use at least five attempts.",
  ),
  RD622: warning(
    "Few attempts for Lambda",
    "Lambda receives messages before it knows whether a function may run, and a batch that is throttled for too long has spent a receive. With fewer than five attempts a busy hour can send healthy messages to the dead queue. AWS advises at least five, and maximumConcurrency rather than reserved concurrency.",
  ),
  RD623: warning(
    "The policy of the key has to allow SNS",
    "The queues are encrypted with a key of your own, and Redeliver cannot see its policy. The policy has to let sns.amazonaws.com use the key. Otherwise neither the work queue nor the queue of undelivered messages accepts messages from a topic, and published messages are lost. Check the policy, and try it with one message.",
  ),
  RD624: warning(
    "The provider is for another region",
    "Redeliver makes everything in the region of the target, and writes it on every resource. The provider of the program is for another region, and so probably is the rest of the program. Give the component a provider for the target's region, or change the target.",
  ),
  // RD625: a queue to adopt.
  RD625: warning(
    "Producers of a FIFO queue have to change",
    "With content-based deduplication SQS makes the deduplication id of a message from its body. A compiled FIFO queue has it off: two messages with one body may both be meant, and SQS would drop the second. After the deployment SQS refuses messages without an id, and a producer that ignores the refusal loses them. An id of the producer wins over that of SQS, so change the producers first.",
    `${sqs}/FIFO-queues-exactly-once-processing.html`,
  ),
  // RD44x to RD46x: the findings that only an audit of SQS has, and of topics and functions around its queues.
  RD442: error(
    "The dead-letter queue is in another account or region",
    "SQS moves messages within one region of one account. A redrive policy that names a queue elsewhere is usually a copied text, and AWS refuses it or ignores it. Make a dead-letter queue beside each queue.",
    deadLetters,
  ),
  RD443: error(
    "The dead-letter queue is of the other type",
    "The dead-letter queue of a FIFO queue has to be FIFO, and that of a standard queue standard. Emulators accept the mistake and AWS refuses it, so it may appear only in production. Make a dead-letter queue of the same type.",
    deadLetters,
  ),
  RD444: error(
    "Messages go round for ever between dead-letter queues",
    "Queues that are each other's dead-letter queues form a circle. A message that always fails moves from one to the next for ever, and each receive costs money. AWS accepts such a circle if it is made in two steps. Remove the redrive policy of the queue that has to keep the dead letters.",
    deadLetters,
  ),
  RD445: warning(
    "A dead-letter queue has a dead-letter queue",
    "The queue that receives dead letters has a redrive policy too. Each receive from it, even by a person in the console, counts towards the move. Receives in the queue before count as well, so the first look may move a message. It does not work as a delay, because nothing moves without a receive. Remove the redrive policy of the dead-letter queue.",
    deadLetters,
  ),
  RD447: warning(
    "Few receives for a Lambda function",
    "A call that Lambda throttles costs a receive although the handler did not run. With a maxReceiveCount below 5, healthy messages reach the dead-letter queue when many come at once. AWS asks for at least 5.",
    `${lambda}/services-sqs-configure.html`,
  ),
  RD448: warning(
    "Dead letters are kept no longer than other messages",
    "On standard queues a moved message keeps the time at which it was sent. A dead-letter queue with the same retention period, such as the default 4 days, keeps a dead letter only for the rest of it. A message that is old enough is deleted at once. Give the dead-letter queue 14 days, and the queue less.",
    `${sqs}/setting-up-dead-letter-queue-retention.html`,
  ),
  RD449: error(
    "Messages can be deleted before their retries are over",
    "Retention deletes a message by its age and never moves it to the dead-letter queue. Here the receives times the visibility timeout exceed the retention period, so SQS can delete a message before its last receive. Raise the retention period, or lower maxReceiveCount or the visibility timeout.",
    `${sqs}/setting-up-dead-letter-queue-retention.html`,
  ),
  RD450: error(
    "The function may run longer than its message is hidden",
    "When the visibility timeout ends, SQS delivers the message again while the function still works on it. The function handles it twice, and its receives run out. AWS refuses such a mapping when it is made, but does not check every later change. Raise the visibility timeout first, and then the timeout of the function.",
    `${lambda}/services-sqs-configure.html`,
  ),
  RD451: warning(
    "The visibility timeout is short for a Lambda function",
    "AWS asks for a visibility timeout of 6 times the function's timeout plus the batch window, so that Lambda can repeat a throttled call. With less, messages come back while Lambda still holds them, and lose receives without a run of the handler. Raise the visibility timeout.",
    `${lambda}/services-sqs-configure.html`,
  ),
  RD452: error(
    "The dead-letter queue does not allow the queue",
    "The redrive-allow policy of the dead-letter queue denies all sources, or lists others. AWS checks it when the redrive policy is set, but the allow policy can change later. AWS does not document the fate of a message that has to move then. Emulators ignore these policies, so no test shows it. Add the queue to the list.",
    deadLetters,
  ),
  RD453: warning(
    "Too many source queues in a redrive-allow policy",
    "A redrive-allow policy by queue lists at most 10 source queues. With more it restricts nothing: every queue of the account may use this one. Give groups of consumers separate dead-letter queues.",
    deadLetters,
  ),
  RD454: warning(
    "Messages are kept unencrypted",
    "Encryption with keys of SQS (SSE-SQS) is on by default. Here it is off, and there is no KMS key. It costs nothing and changes nothing for publishers and consumers. Switch it on, also for dead-letter queues: they hold the same messages.",
    `${sqs}/sqs-server-side-encryption.html`,
  ),
  RD455: error(
    "Any principal may send to the queue",
    'A statement of the queue\'s policy allows the principal "*" without a condition. It lets in every account of AWS, and requests without a signature. Name the accounts or services that send, or add a condition on the source.',
    `${sqs}/sqs-security-best-practices.html`,
  ),
  RD456: warning(
    "A subscription without a dead-letter queue",
    "SNS tries for some days to deliver if the queue is gone, its policy denies SNS, or its key is closed to SNS. It does not repeat errors that another try cannot correct. Then it deletes the message. The dead-letter queue of the queue is no help, because the message never reached the queue: the subscription needs a separate one.",
    `${sns}/sns-dead-letter-queues.html`,
  ),
  RD457: error(
    "A queue does not allow its topic",
    "SNS delivers only to queues whose policy allows the service sns.amazonaws.com to send for this topic, in the same account too. Without it the subscription looks sound, publishers get no error, and nothing arrives. The same holds for the dead-letter queue of the subscription.",
    subscribing,
  ),
  RD458: error(
    "A filter matches no message",
    "Each attribute in a filter policy has to have one of the listed values. Here an attribute lists no value, or only ranges without a number in them, so the subscription takes nothing. Correct the filter, or remove the subscription.",
    `${sns}/sns-subscription-filter-policies.html`,
  ),
  RD459: error(
    "The types of topic and queue do not fit",
    "A standard topic does not deliver to a FIFO queue. A FIFO topic delivers to both types. The dead-letter queue of a subscription has the same type as its queue. Emulators accept the mistake, and AWS refuses it.",
    `${sns}/fifo-topic-message-delivery.html`,
  ),
  RD460: warning(
    "A receive hides nothing",
    "With a visibility timeout of 0 a message stays visible to all while the first consumer handles it. Several consumers handle it at a time. After maxReceiveCount receives SQS moves it although no handler failed. Only a consumer that sets the timeout in each receive is safe. Set it above the handler's time.",
    visibility,
  ),
  RD461: error(
    "A subscription leads to a queue that does not exist",
    "When a queue is deleted, its subscriptions stay. SNS tries every message of the topic in vain and sends it to the subscription's dead-letter queue, or loses it without one. Remove the subscription, or create the queue again.",
    subscribing,
  ),
  RD462: warning(
    "One failure brings back a whole batch",
    "Without ReportBatchItemFailures a function that fails on one message gets the whole batch again, also the messages it handled. Each of them loses a receive, and healthy messages die beside a poisonous one. Let the function answer with the messages that failed.",
    `${lambda}/services-sqs-errorhandling.html`,
  ),
  RD463: warning(
    "Lambda deletes messages that a filter does not match",
    "A filter of an event source mapping does not leave other messages in the queue. Lambda deletes a message that matches no filter, and no dead-letter queue gets it. A mistyped filter empties the queue. Filter in the topic's subscription, which takes nothing out of a queue.",
    `${lambda}/with-sqs-filtering.html`,
  ),
  RD464: error(
    "A topic cannot use the key of its queue",
    "The queue is encrypted with the key that AWS manages for SQS, alias/aws/sqs. The policy of that key allows no other service and cannot be changed, so SNS cannot put messages into the queue. The same holds for the dead-letter queue of the subscription. SSE-SQS needs no key.",
    `${sns}/sns-enable-encryption-for-topic-sqs-queue-subscriptions.html`,
  ),
  // Reasons why a consumer of SQS does not start.
  RD809: error(
    "The consumer is a Lambda function",
    "The target says that Lambda receives this consumer's messages. A second program that receives from the same queue would take messages away from the function, and each receive counts. Run the consumer in one place: in the function, or here.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
