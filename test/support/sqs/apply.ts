import {
  CreateTopicCommand,
  DeleteTopicCommand,
  ListSubscriptionsByTopicCommand,
  SetSubscriptionAttributesCommand,
  type SNSClient,
  SubscribeCommand,
} from "@aws-sdk/client-sns";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueAttributeName,
  SetQueueAttributesCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import { applyInOrder, type Make, type Properties } from "../apply-resources.ts";
import type { RegisteredResource } from "../pulumi.ts";
import { queueArn, queueUrl, topicArn } from "./assigned-by-aws.ts";
import { createSnsClient, createSqsClient, type Credentials, region } from "./clients.ts";
import type { SqsEmulator } from "./emulators.ts";
import type { Queue } from "./lab.ts";

/** Resources that are not created, by their type. Every other resource must be created, or the test fails. */
const leftOutBecause = (emulator: SqsEmulator): Readonly<Record<string, string>> => ({
  "aws:cloudwatch/metricAlarm:MetricAlarm": "no emulator lets an alarm go off",
  ...(emulator.name === "elasticmq"
    ? {
        "aws:sns/topic:Topic": "ElasticMQ has no SNS",
        "aws:sns/topicSubscription:TopicSubscription": "ElasticMQ has no SNS",
        "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy": "ElasticMQ takes it only while a queue is created",
      }
    : {}),
});

const onlyAtCreation = [
  "SqsManagedSseEnabled",
  "ContentBasedDeduplication",
  "DeduplicationScope",
  "FifoThroughputLimit",
];

/** The resources on an emulator now. */
export interface AppliedSystem {
  /** By name. */
  readonly queues: ReadonlyMap<string, Queue>;
  /** ARNs by name. */
  readonly topics: ReadonlyMap<string, string>;
  /** The resources that were not created, with the reason: `<type> <logical name>: <reason>`. */
  readonly leftOut: readonly string[];
  /** Deletes everything again. */
  readonly dispose: () => Promise<void>;
}

interface Making {
  readonly sqs: SQSClient;
  readonly sns: SNSClient;
  readonly queues: Map<string, Queue>;
  readonly topics: Map<string, string>;
  /** The types and logical names of an import. */
  readonly imported: ReadonlySet<string>;
  /** The attributes that no queue changes. ElasticMQ takes some only while a queue is created. */
  readonly fixed: readonly string[];
}

/**
 * Creates registered resources on an emulator as Pulumi's AWS provider would.
 *
 * @param imported the resources that are there, as `<type> <logical name>`. They are changed in place
 * @throws Error if a resource names a queue or topic that the emulator does not have, and as `applyInOrder`
 */
export async function applyToEmulator(
  emulator: SqsEmulator,
  resources: readonly RegisteredResource[],
  credentials?: Credentials,
  imported: ReadonlySet<string> = new Set(),
): Promise<AppliedSystem> {
  const making: Making = {
    imported,
    fixed: ["FifoQueue", ...(emulator.name === "elasticmq" ? onlyAtCreation : [])],
    sqs: createSqsClient(emulator.endpoint, credentials),
    sns: createSnsClient(emulator.endpoint, credentials),
    queues: new Map(),
    topics: new Map(),
  };
  const makes: Readonly<Record<string, Make>> = {
    "pulumi:providers:aws": takeProvider,
    "aws:sqs/queue:Queue": (properties) => applyQueue(making, properties),
    "aws:sqs/queuePolicy:QueuePolicy": (properties) => setAttribute(making, properties, "Policy", "policy"),
    "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy": (properties) =>
      setAttribute(making, properties, "RedriveAllowPolicy", "redriveAllowPolicy"),
    "aws:sns/topic:Topic": (properties) => applyTopic(making, properties),
    "aws:sns/topicSubscription:TopicSubscription": (properties) => applySubscription(making, properties),
  };
  const inRegion = Object.entries(makes).map(([type, make]) => [
    type,
    async (properties: Properties) => {
      const own = properties.text("region");
      if (own !== region) throw new Error(`a ${type} is for the region ${own}, and the emulators are in ${region}`);
      await make(properties);
    },
  ]);
  const leftOut = await applyInOrder(resources, Object.fromEntries(inRegion) as typeof makes, leftOutBecause(emulator));
  const { sqs, sns, queues, topics } = making;
  return {
    queues,
    topics,
    leftOut,
    dispose: async () => {
      const removing = [
        ...[...topics.values()].map(async (arn) => sns.send(new DeleteTopicCommand({ TopicArn: arn }))),
        ...[...queues.values()].map(async ({ url }) => sqs.send(new DeleteQueueCommand({ QueueUrl: url }))),
      ];
      await Promise.allSettled(removing);
      sqs.destroy();
      sns.destroy();
    },
  };
}

/** Pulumi's own, as every program has them. */
function takeProvider(properties: Properties): void {
  properties.take("skipCredentialsValidation", "string");
  properties.take("skipRegionValidation", "string");
}

/** The attributes of a queue, by the inputs of the provider. Source: `queueSchema` in terraform-provider-aws. */
const queueAttributes = {
  number: {
    visibilityTimeoutSeconds: QueueAttributeName.VisibilityTimeout,
    messageRetentionSeconds: QueueAttributeName.MessageRetentionPeriod,
    delaySeconds: QueueAttributeName.DelaySeconds,
    receiveWaitTimeSeconds: QueueAttributeName.ReceiveMessageWaitTimeSeconds,
    maxMessageSize: QueueAttributeName.MaximumMessageSize,
  },
  boolean: {
    fifoQueue: QueueAttributeName.FifoQueue,
    contentBasedDeduplication: QueueAttributeName.ContentBasedDeduplication,
    sqsManagedSseEnabled: QueueAttributeName.SqsManagedSseEnabled,
  },
  string: {
    deduplicationScope: QueueAttributeName.DeduplicationScope,
    fifoThroughputLimit: QueueAttributeName.FifoThroughputLimit,
    kmsMasterKeyId: QueueAttributeName.KmsMasterKeyId,
    redrivePolicy: QueueAttributeName.RedrivePolicy,
  },
} as const;

async function applyQueue(making: Making, properties: Properties): Promise<void> {
  const { sqs, queues, imported } = making;
  const name = properties.text("name");
  const Attributes = Object.fromEntries(
    Object.entries(queueAttributes).flatMap(([kind, words]) =>
      Object.entries(words).flatMap(([input, attribute]) =>
        properties.has(input)
          ? [[attribute, String(properties.take(input, kind as keyof typeof queueAttributes))] as const]
          : [],
      ),
    ),
  );
  const tags = properties.texts("tags") ?? {};
  const url = imported.has(`aws:sqs/queue:Queue shop-${name}`)
    ? await changeQueue(making, name, Attributes)
    : ((await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes, tags }))).QueueUrl ?? "");
  const answer = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] }));
  const arn = answer.Attributes?.["QueueArn"] ?? "";
  // The policies name it by this text, which came from the mocks.
  if (arn !== queueArn(region, name)) throw new Error(`the emulator calls ${name} ${arn}`);
  queues.set(name, { name, url, arn });
}

async function changeQueue({ sqs, fixed }: Making, name: string, attributes: Record<string, string>): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }));
  const Attributes = Object.fromEntries(Object.entries(attributes).filter(([key]) => !fixed.includes(key)));
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
  return QueueUrl;
}

async function setAttribute(
  { sqs, queues }: Making,
  properties: Properties,
  attribute: QueueAttributeName,
  input: string,
): Promise<void> {
  const wanted = properties.text("queueUrl");
  const queue = [...queues.values()].find(({ name }) => queueUrl(region, name) === wanted);
  if (queue === undefined) throw new Error(`there is no queue ${wanted}`);
  const text = properties.text(input);
  JSON.parse(text);
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queue.url, Attributes: { [attribute]: text } }));
}

async function applyTopic({ sns, topics }: Making, properties: Properties): Promise<void> {
  const name = properties.text("name");
  const Attributes = {
    ...given(properties, "fifoTopic", "boolean", "FifoTopic"),
    ...given(properties, "contentBasedDeduplication", "boolean", "ContentBasedDeduplication"),
    ...given(properties, "fifoThroughputScope", "string", "FifoThroughputScope"),
  };
  const Tags = Object.entries(properties.texts("tags") ?? {}).map(([Key, Value]) => ({ Key, Value }));
  const { TopicArn: arn = "" } = await sns.send(new CreateTopicCommand({ Name: name, Attributes, Tags }));
  if (arn !== topicArn(region, name)) throw new Error(`the emulator calls ${name} ${arn}`);
  topics.set(name, arn);
}

/** SNS itself refuses a topic that is not there. */
async function applySubscription({ sns, queues, imported }: Making, properties: Properties): Promise<void> {
  const [topic, endpoint] = [properties.text("topic"), properties.text("endpoint")];
  if (![...queues.values()].some(({ arn }) => arn === endpoint)) throw new Error(`there is no queue ${endpoint}`);
  const Attributes = {
    ...given(properties, "rawMessageDelivery", "boolean", "RawMessageDelivery"),
    ...given(properties, "filterPolicyScope", "string", "FilterPolicyScope"),
    ...given(properties, "filterPolicy", "string", "FilterPolicy"),
    ...given(properties, "redrivePolicy", "string", "RedrivePolicy"),
  };
  const Protocol = properties.text("protocol");
  if (imported.has(`aws:sns/topicSubscription:TopicSubscription shop-${topic}/${endpoint.split(":").at(-1)}`)) {
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: topic }));
    const { SubscriptionArn } = Subscriptions.find(({ Endpoint }) => Endpoint === endpoint) ?? {};
    // The provider removes a filter that a program does not have. Source: `putSubscriptionAttribute` in
    // its topic_subscription.go.
    for (const [AttributeName, AttributeValue] of Object.entries({ FilterPolicy: "{}", ...Attributes }))
      await sns.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }));
    return;
  }
  await sns.send(new SubscribeCommand({ TopicArn: topic, Protocol, Endpoint: endpoint, Attributes }));
}

/** The attribute if the program sets it, and none otherwise. */
function given(properties: Properties, input: string, kind: "string" | "boolean", attribute: string) {
  return properties.has(input) ? { [attribute]: String(properties.take(input, kind)) } : {};
}
