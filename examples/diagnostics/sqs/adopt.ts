import type { AdoptExample } from "../example.ts";

/** A FIFO queue with its dead-letter queue, as `aws sqs get-queue-attributes` prints them. */
function listed(deduplication: "true" | "false"): AdoptExample {
  const arnOf = (name: string): string => `arn:aws:sqs:eu-west-1:123456789012:${name}.fifo`;
  const usual = {
    VisibilityTimeout: "30",
    MessageRetentionPeriod: "345600",
    DelaySeconds: "0",
    ReceiveMessageWaitTimeSeconds: "0",
    SqsManagedSseEnabled: "true",
    FifoQueue: "true",
    ContentBasedDeduplication: "false",
    DeduplicationScope: "queue",
    FifoThroughputLimit: "perQueue",
  };
  const redrive = JSON.stringify({ deadLetterTargetArn: arnOf("orders-dlq"), maxReceiveCount: 5 });
  const own = { ...usual, ContentBasedDeduplication: deduplication, RedrivePolicy: redrive };
  const queues = [
    { Attributes: { QueueArn: arnOf("orders"), ...own } },
    { Attributes: { QueueArn: arnOf("orders-dlq"), ...usual } },
  ];
  return { kind: "adopt", target: "sqs@eu-west-1", also: ["RD207"], text: `${JSON.stringify(queues, null, 2)}\n` };
}

/** RD625: a FIFO queue that somebody wants to adopt. */
export const adoptExamples = {
  RD625: { fires: listed("true"), quiet: listed("false") },
} as const;
