import type { SqsOptions } from "./options.ts";

/**
 * The regions of AWS that have SQS and SNS, in the order of their names. A name that is not among them is refused: a mistyped one
 * would be found out only by a deployment that times out. Source: AWS General Reference, "Amazon SQS endpoints and quotas".
 */
export const regions = [
  "af-south-1",
  "ap-east-1",
  "ap-east-2",
  "ap-northeast-1",
  "ap-northeast-2",
  "ap-northeast-3",
  "ap-south-1",
  "ap-south-2",
  "ap-southeast-1",
  "ap-southeast-2",
  "ap-southeast-3",
  "ap-southeast-4",
  "ap-southeast-5",
  "ap-southeast-6",
  "ap-southeast-7",
  "ca-central-1",
  "ca-west-1",
  "cn-north-1",
  "cn-northwest-1",
  "eu-central-1",
  "eu-central-2",
  "eu-north-1",
  "eu-south-1",
  "eu-south-2",
  "eu-west-1",
  "eu-west-2",
  "eu-west-3",
  "il-central-1",
  "me-central-1",
  "me-south-1",
  "mx-central-1",
  "sa-east-1",
  "us-east-1",
  "us-east-2",
  "us-gov-east-1",
  "us-gov-west-1",
  "us-west-1",
  "us-west-2",
] as const;
export type Region = (typeof regions)[number];

/** Limits of SQS and SNS, the same in every region. Unless said otherwise: SQS Developer Guide, "Amazon SQS message and queue quotas". */
export const sqsLimits = Object.freeze({
  /** Of a queue's name, with its `.fifo`: letters, digits, hyphens and underscores. API Reference, `CreateQueue`, QueueName. */
  nameLength: 80,
  /** Of a topic's name, with its `.fifo`: the same characters. SNS API Reference, `CreateTopic`. */
  topicNameLength: 256,
  /** What the name of a FIFO queue or topic ends in. */
  fifoSuffix: ".fifo",
  /** `VisibilityTimeout`: 12 h, all extensions together, counted from the receive. "Amazon SQS visibility timeout". */
  visibilityTimeoutSeconds: 43_200,
  /** `MessageRetentionPeriod`, at most: 14 days. API Reference, `SetQueueAttributes`. */
  retentionSeconds: 1_209_600,
  /** The same, at least. */
  leastRetentionSeconds: 60,
  /** `ReceiveMessageWaitTimeSeconds`, at most: long polling. */
  receiveWaitSeconds: 20,
  /** `maxReceiveCount` of a redrive policy, from 1. API Reference, `SetQueueAttributes`, RedrivePolicy. */
  maxReceiveCount: 1_000,
  /** Source queues of a redrive-allow policy by queue. More are no error to SQS, but are taken for everybody. */
  redriveSources: 10,
  /** Messages that are received and neither deleted nor visible again, about. Those that wait for their next attempt are among them. */
  inFlightMessages: 120_000,
  /** Attributes of one message. "Amazon SQS message metadata". */
  messageAttributes: 10,
  /** Values of a filter policy, all combinations together. SNS Developer Guide, "Filter policy constraints". */
  filterValues: 150,
});

/** What Redeliver chooses where SQS leaves the choice. */
export const sqsDefaults = Object.freeze({
  /** SQS's own: how long a receive hides a message whose consumer declares no handlerTimeout. */
  visibilityTimeoutSeconds: 30,
  /** SQS's own: how long a message that nobody receives is kept, where nothing declared asks for another number. 4 days. */
  retentionSeconds: 345_600,
  /** How long a consumer has, after the handler's own time, to say what came of it: to be received, to settle, to be heard. */
  settleSeconds: 10,
  /** Metrics of SQS come once a minute. CloudWatch metrics for Amazon SQS. */
  alarmPeriodSeconds: 60,
  /** Lambda's own: messages of one invocation, at most. */
  lambdaBatchSize: 10,
});

/**
 * Limits of what Lambda hands messages of a queue to a function with. Unless said otherwise: Lambda Developer Guide, "Creating and
 * configuring an Amazon SQS event source mapping".
 */
export const lambdaLimits = Object.freeze({
  /** Of a function's own timeout: 15 minutes. "Lambda quotas". */
  timeoutSeconds: 900,
  /** `BatchSize` on a standard queue. A FIFO queue takes 10. API Reference, `CreateEventSourceMapping`. */
  batchSize: 10_000,
  /** A batch beyond this needs a window of 1 s at least. */
  batchSizeWithoutWindow: 10,
  /** `MaximumBatchingWindowInSeconds`. A FIFO queue takes none. */
  batchWindowSeconds: 300,
  /** `ScalingConfig.MaximumConcurrency`, at least. */
  leastConcurrency: 2,
  /** The same, at most. */
  mostConcurrency: 1_000,
  /** How many times the function's timeout a queue has to hide a message, beside the window: room for throttled invocations. */
  visibilityFactor: 6,
  /** Receives that AWS advises at least, since a throttled invocation spends one without a run of the function. */
  advisedReceives: 5,
});

/** Limits of tags. SQS Developer Guide, "Cost allocation tags"; of 50 tags four are Redeliver's own at most. */
export const tagLimits = Object.freeze({ count: 46, keyLength: 128, valueLength: 256 });

/** SQS in one region. */
export interface SqsTarget extends SqsOptions {
  readonly broker: "sqs";
  readonly region: Region;
  readonly strategy: "auto" | StrategyName;
}

/** The ways of using SQS, in the order in which `auto` tries them. */
export const strategyNames = ["redrive", "visibility"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** Writes a target as it is written on the command line: `sqs@eu-west-1`. */
export function formatTarget(target: SqsTarget): string {
  return `sqs@${target.region}`;
}
