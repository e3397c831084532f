import type { SqsOptions } from "./options.ts";

/**
 * Limits of SQS and SNS, the same in every region. Unless said otherwise: SQS Developer Guide, "Amazon SQS message and
 * queue quotas".
 */
export const sqsLimits = Object.freeze({
  /**
   * Of a queue's name, with its `.fifo`: letters, digits, hyphens and underscores. API Reference, `CreateQueue`,
   * QueueName.
   */
  nameLength: 80,
  /** Of a topic's name, with its `.fifo`: the same characters. SNS API Reference, `CreateTopic`. */
  topicNameLength: 256,
  /** The end of the name of a FIFO queue or topic. */
  fifoSuffix: ".fifo",
  /** `VisibilityTimeout`: 12 h, including all extensions, counted from the receive. "Amazon SQS visibility timeout". */
  visibilityTimeoutSeconds: 43_200,
  /** `MessageRetentionPeriod`, at most: 14 days. API Reference, `SetQueueAttributes`. */
  retentionSeconds: 1_209_600,
  /** The same, at least. */
  leastRetentionSeconds: 60,
  /** `ReceiveMessageWaitTimeSeconds`, at most: long polling. */
  receiveWaitSeconds: 20,
  /** `maxReceiveCount` of a redrive policy, from 1. API Reference, `SetQueueAttributes`, RedrivePolicy. */
  maxReceiveCount: 1_000,
  /** The most source queues of a redrive-allow policy by queue. SQS accepts more, but then allows every queue. */
  redriveSources: 10,
  /**
   * Received messages that are neither deleted nor visible again, about. Messages that wait for their next attempt
   * count too.
   */
  inFlightMessages: 120_000,
  /**
   * Attributes of one message. "Amazon SQS message metadata". SNS takes more, and with raw delivery discards such a
   * message. SNS Developer Guide, "Amazon SNS message attributes".
   */
  messageAttributes: 10,
  /**
   * Body and attributes of a message to a topic: 256 KiB by default. A topic's `MaximumMessageSize` may raise it to the
   * 1 MiB of SQS, but @pulumi/aws 7.48 cannot set it. SNS refuses more. SNS API Reference, `Publish`;
   * terraform-provider-aws issue 50109.
   */
  publishedBytes: 262_144,
  /** Body and attributes of a message to a queue: 1 MiB. "Amazon SQS message quotas". */
  sentBytes: 1_048_576,
  /** Values of a filter policy, all combinations together. SNS Developer Guide, "Filter policy constraints". */
  filterValues: 150,
  /** Attributes of a filter policy. Same page. */
  filterAttributes: 5,
});

/** Redeliver's choices where SQS leaves a choice. */
export const sqsDefaults = Object.freeze({
  /** SQS's own default: the time that a receive hides a message of a consumer without handlerTimeout. */
  visibilityTimeoutSeconds: 30,
  /**
   * SQS's own default: the time that a queue keeps an unreceived message, unless the declaration needs another. 4 days.
   */
  retentionSeconds: 345_600,
  /**
   * The time that a consumer has beside its handler: to receive the message, to settle it, and for the answer to
   * arrive.
   */
  settleSeconds: 10,
  /** SQS publishes its metrics once a minute. CloudWatch metrics for Amazon SQS. */
  alarmPeriodSeconds: 60,
  /** Lambda's own default: messages of one invocation, at most. */
  lambdaBatchSize: 10,
});

/**
 * Limits of an event source mapping, which hands messages of a queue to a Lambda function. Unless said otherwise:
 * Lambda Developer Guide, "Creating and configuring an Amazon SQS event source mapping".
 */
export const lambdaLimits = Object.freeze({
  /** Of a function's own timeout: 15 minutes. "Lambda quotas". */
  timeoutSeconds: 900,
  /** `BatchSize` on a standard queue. A FIFO queue takes 10. API Reference, `CreateEventSourceMapping`. */
  batchSize: 10_000,
  /** A larger batch needs a window of at least 1 s. */
  batchSizeWithoutWindow: 10,
  /** `MaximumBatchingWindowInSeconds`. A FIFO queue takes none. */
  batchWindowSeconds: 300,
  /** `ScalingConfig.MaximumConcurrency`, at least. */
  leastConcurrency: 2,
  /** The same, at most. */
  mostConcurrency: 1_000,
  /**
   * A queue must hide messages for this many times the function's timeout, plus the window. This leaves room for
   * throttled invocations.
   */
  visibilityFactor: 6,
  /** The fewest receives that AWS advises, because a throttled invocation spends one without running the function. */
  advisedReceives: 5,
});

/** Limits of tags. SQS Developer Guide, "Cost allocation tags". Of the 50 tags, Redeliver needs at most four. */
export const tagLimits = Object.freeze({ count: 46, keyLength: 128, valueLength: 256 });

/** SQS in one region. */
export interface SqsTarget extends SqsOptions {
  readonly broker: "sqs";
  readonly region: string;
  readonly strategy: "auto" | StrategyName;
  readonly strategies?: Readonly<Record<string, "auto" | StrategyName>>;
  /** Left out if each consumer has a dead queue of its own. */
  readonly deadQueue?: "shared";
}

/** The strategies for SQS, in the order that `auto` tries them. */
export const strategyNames = ["redrive", "visibility"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** Writes a target as on the command line: `sqs@eu-west-1`. */
export function formatTarget(target: SqsTarget): string {
  return `sqs@${target.region}`;
}
