import type { Entry } from "../../../foreign/entries.ts";
import { type Arns, queuePolicy } from "./queue-policy.ts";
import type { TagValues } from "./tags.ts";
import type { DepthAlarm, LambdaMapping, SnsSubscription, SnsTopic, SqsQueue } from "./topology.ts";

/** How a deployment tool writes the names of other resources, and lists of names with values. */
export interface Writing extends Arns<unknown> {
  /** A queue whose dead letters come to this one. It refers to this one, so a reference back may be a circle. */
  readonly source: (name: string) => unknown;
  readonly tags: (values?: TagValues) => unknown;
  /** The dimensions of the metrics of a queue. */
  readonly dimensions: (queue: string) => unknown;
}

/** One property of a resource. Its key is its name in CloudFormation and in the API of AWS. */
export interface Field<Entity> {
  /** Its name in @pulumi/aws. Left out, it is AWS's name with a small first letter. */
  readonly pulumi?: string;
  /** Its value; undefined leaves it out. */
  readonly of: (entity: Entity, writing: Writing) => unknown;
  /** Pulumi and the API take it as JSON in a text. */
  readonly isDocument?: true;
  /** Findings depend on this number. A preview that does not know it leaves them open. */
  readonly isJudged?: true;
  /** A consumer compares it before it starts: in all its queues, or in its work queue. */
  readonly compared?: "all" | "work";
  /** The value of an attribute that is missing in SQS's answer. Without this, SQS always answers with it. */
  readonly unsaid?: string;
}
export type Fields<Entity> = Readonly<Record<string, Field<Entity>>>;

export const queueFields = {
  FifoQueue: { of: ({ fifo }) => fifo || undefined, compared: "all", unsaid: "false" },
  ContentBasedDeduplication: { of: ({ fifo }) => (fifo ? false : undefined) },
  DeduplicationScope: { of: ({ fifo }) => (fifo ? "messageGroup" : undefined) },
  FifoThroughputLimit: { of: ({ fifo }) => (fifo ? "perMessageGroupId" : undefined) },
  // A consumer receives only from its work queue. The owner of the other queues decides how long they hide and delay
  // messages.
  VisibilityTimeout: {
    pulumi: "visibilityTimeoutSeconds",
    of: (queue) => queue.visibilityTimeoutSeconds,
    isJudged: true,
    compared: "work",
  },
  MessageRetentionPeriod: {
    pulumi: "messageRetentionSeconds",
    of: (queue) => queue.retentionSeconds,
    isJudged: true,
    compared: "all",
  },
  DelaySeconds: { of: (queue) => queue.delaySeconds, isJudged: true, compared: "work" },
  ReceiveMessageWaitTimeSeconds: { pulumi: "receiveWaitTimeSeconds", of: (queue) => queue.receiveWaitSeconds },
  SqsManagedSseEnabled: { of: ({ encryption }) => encryption.kind === "sqs" || undefined },
  KmsMasterKeyId: {
    of: ({ encryption }) => (encryption.kind === "kms" ? encryption.keyId : undefined),
    unsaid: "none",
  },
  RedrivePolicy: {
    // The count is a number, as in AWS's answer. Pulumi's provider would wait for ever for a text that it had sent.
    of: ({ redrive }, { queue }) =>
      redrive === null
        ? undefined
        : { deadLetterTargetArn: queue(redrive.deadQueue), maxReceiveCount: redrive.maxReceiveCount },
    isDocument: true,
    compared: "all",
    unsaid: "none",
  },
  Tags: { of: ({ consumer, role }, { tags }) => tags({ consumer, role }) },
} as const satisfies Fields<SqsQueue>;

/** These attributes name resources that name the queue in turn, so in Pulumi each is a resource of its own. */
export const policyFields = {
  RedriveAllowPolicy: {
    of: ({ redriveAllow: { permission: redrivePermission, ...rest } }, { source }) => ({
      redrivePermission,
      ...("sourceQueues" in rest ? { sourceQueueArns: rest.sourceQueues.map(source) } : {}),
    }),
    isDocument: true,
    unsaid: "none",
  },
  Policy: { of: queuePolicy, isDocument: true, unsaid: "none" },
} as const satisfies Fields<SqsQueue>;

export const topicFields = {
  FifoTopic: { of: ({ fifo }) => fifo || undefined },
  ContentBasedDeduplication: { of: ({ fifo }) => (fifo ? false : undefined) },
  FifoThroughputScope: { of: ({ fifo }) => (fifo ? "MessageGroup" : undefined) },
  Tags: { of: ({ source }, { tags }) => tags({ source }) },
} as const satisfies Fields<SnsTopic>;

export const subscriptionFields = {
  TopicArn: { pulumi: "topic", of: (subscription, { topic }) => topic(subscription.topic) },
  Protocol: { of: () => "sqs" },
  Endpoint: { of: (subscription, { queue }) => queue(subscription.queue) },
  RawMessageDelivery: { of: ({ rawMessageDelivery }) => rawMessageDelivery, unsaid: "false" },
  FilterPolicyScope: {
    of: ({ filterPolicy, stated }) =>
      stated === undefined && filterPolicy === null ? undefined : (stated?.filterPolicyScope ?? "MessageAttributes"),
    unsaid: "MessageAttributes",
  },
  FilterPolicy: {
    of: ({ filterPolicy, stated }) => stated?.filterPolicy ?? filterPolicy ?? undefined,
    isDocument: true,
    unsaid: "none",
  },
  // SNS knows no count here: how often it tries is the same for all queues.
  RedrivePolicy: {
    of: ({ deadQueue }, { queue }) => ({ deadLetterTargetArn: queue(deadQueue) }),
    isDocument: true,
    unsaid: "none",
  },
} as const satisfies Fields<SnsSubscription>;

/** The highest concurrency is not here: it lies a level deeper. */
export const mappingFields = {
  EventSourceArn: { of: (mapping, { queue }) => queue(mapping.queue) },
  FunctionName: { of: ({ functionName }) => functionName },
  Enabled: { of: () => true },
  BatchSize: { of: ({ batchSize }) => batchSize },
  MaximumBatchingWindowInSeconds: { of: ({ batchWindowSeconds }) => batchWindowSeconds },
  FunctionResponseTypes: { of: ({ functionResponseTypes }) => functionResponseTypes },
  Tags: { of: ({ consumer }, { tags }) => tags({ consumer }) },
} as const satisfies Fields<LambdaMapping>;

export const alarmFields = {
  Namespace: { of: () => "AWS/SQS" },
  MetricName: { of: ({ metric }) => metric },
  Dimensions: { of: ({ queue }, { dimensions }) => dimensions(queue) },
  Statistic: { of: ({ metric }) => (metric === "NumberOfMessagesReceived" ? "Sum" : "Maximum") },
  Period: { of: ({ periodSeconds }) => periodSeconds },
  EvaluationPeriods: { of: () => 1 },
  Threshold: { of: ({ threshold }) => threshold },
  ComparisonOperator: { of: () => "GreaterThanThreshold" },
  TreatMissingData: { of: () => "notBreaching" },
  Tags: { of: (_, { tags }) => tags() },
} as const satisfies Fields<DepthAlarm>;

/** The properties of a resource, by AWS's names. */
export function propertiesOf<Entity>(table: Fields<Entity>, entity: Entity, writing: Writing): Entry {
  const properties = Object.entries(table).map(([name, { of }]) => [name, of(entity, writing)] as const);
  return Object.fromEntries(properties.filter(([, value]) => value !== undefined));
}

/** The names that @pulumi/aws has for properties, by AWS's names. */
export function pulumiNamesOf(table: Fields<never>): ReadonlyMap<string, string> {
  const small = (name: string): string => `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return new Map(Object.entries(table).map(([name, { pulumi }]) => [name, pulumi ?? small(name)]));
}
