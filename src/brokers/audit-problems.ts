import { type CatalogueEntry, error, warning } from "../diagnostics/catalogue-entry.ts";

/** Findings of an audit that more than one broker has: one code on all brokers, with the consequence on each. */
export const auditProblems = {
  RD411: error(
    "The dead-letter exchange or queue does not exist",
    "RabbitMQ does not check the name of a dead-letter exchange, and AWS not again when a dead-letter queue is deleted. At-most-once dead-lettering of RabbitMQ deletes every dead letter without notice. At-least-once keeps it inside the queue, neither ready nor unacknowledged, until the exchange exists. AWS does not document the fate of a message that has to move, and emulators lose it. Declare the exchange and bind a dead queue to it, or create the queue again, before the first message dies.",
    "https://www.rabbitmq.com/docs/dlx",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html",
  ),
  RD415: warning(
    "Redelivery has no limit",
    "A message that crashes its consumer comes back and crashes the next one. A quorum queue of RabbitMQ up to 3.13 has no delivery limit unless you set one, and repeats that for ever. A queue of SQS without a redrive policy repeats it until the retention period ends, and then deletes the message without notice. Redeliver does not report queues of SQS that are dead-letter queues themselves. Set delivery-limit in a policy, or name a dead-letter queue.",
    "https://www.rabbitmq.com/docs/quorum-queues",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html",
  ),
  RD446: warning(
    "A single delivery, then dead",
    "A message dies after its first delivery, even if no handler finished it. SQS counts a receive when it sends the answer: the answer may be lost, or a person may view the message in the console. Service Bus counts a delivery that the consumer abandons, and one whose lock ends because the consumer restarts. AWS advises against it. Choose the number of consumer crashes that a message has to survive.",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/avoiding-inconsistent-message-processing.html",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
