// One file of @pulumi/aws for each kind of resource: the whole package takes 0.14 to 0.4 s to load, these a few milliseconds.
import { MetricAlarm } from "@pulumi/aws/cloudwatch/metricAlarm.js";
import { EventSourceMapping } from "@pulumi/aws/lambda/eventSourceMapping.js";
import { Topic } from "@pulumi/aws/sns/topic.js";
import { TopicSubscription } from "@pulumi/aws/sns/topicSubscription.js";
import { Queue } from "@pulumi/aws/sqs/queue.js";
import { QueuePolicy } from "@pulumi/aws/sqs/queuePolicy.js";
import { RedriveAllowPolicy } from "@pulumi/aws/sqs/redriveAllowPolicy.js";
import * as pulumi from "@pulumi/pulumi";

import type { Naming } from "./automatic-names.ts";
import { logicalName } from "./automatic-names.ts";
import { queuePolicy } from "./policy.ts";
import { tagsOf } from "./tags.ts";
import type { DepthAlarm, LambdaMapping, SnsSubscription, SnsTopic, SqsQueue, SqsTopology } from "./topology.ts";

export type { Naming } from "./automatic-names.ts";
export { diagnoseAutomaticNames } from "./automatic-names.ts";

/** Where the resources of a topology go. */
export interface SqsPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  /** Who names queues, topics and alarms at AWS. */
  readonly naming: Naming;
  /** The component that the resources are children of. */
  readonly parent: pulumi.Resource;
  /** Written on every resource, so that a provider for another region changes nothing. */
  readonly region: string;
  /** The ARNs of what every alarm tells when it goes off. */
  readonly alarmActions: readonly pulumi.Input<string>[];
}

/** How a program reaches a queue: by its URL; how a policy names it: by its ARN. */
export interface DeployedQueue {
  /** Its name at AWS, which with automatic names is known only once it is there. */
  readonly name: pulumi.Output<string>;
  readonly url: pulumi.Output<string>;
  readonly arn: pulumi.Output<string>;
}

/** What other resources may refer to. */
export interface SqsDeployed {
  readonly workQueues: Readonly<Record<string, DeployedQueue>>;
  readonly deadQueues: Readonly<Record<string, DeployedQueue>>;
  /** The ARN of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;
}

/** The resources made so far, by their names in the topology. */
interface Made {
  readonly queues: Map<string, Queue>;
  readonly topics: Map<string, Topic>;
  /** By queue: who may send to it, and who may name it as its dead queue. */
  readonly policies: Map<string, readonly pulumi.Resource[]>;
}

/**
 * Creates the Pulumi resources of a topology, each exactly once and nothing else.
 *
 * In this order: a consumer's dead queue, since the redrive policy of its work queue names it, and the work queue; the topics; the
 * policies of the queues, which name the topics and, as the sources of a dead queue, the work queues; what Lambda reads; the
 * subscriptions, last. A subscription waits for every queue and every policy of its consumer. So no message comes in before the whole way
 * out is there, and on the way down the subscriptions are the first to be taken away.
 *
 * **Deletion.** Queues and topics stay at AWS when they leave the program, with their policies: without them anybody could use a queue
 * without TLS. None can leave it until somebody takes the protection off. A subscription goes when its consumer no longer takes from
 * the topic, but it stays where the work queue leaves the program with it. So do the alarms of a queue, and what Lambda reads.
 *
 * **Replacement.** A new one is made before the old one is deleted. A logical name contains the name in the topology, so that a renamed
 * resource is a new one beside the old one.
 *
 * @throws Error where the topology refers to something that it does not have, which is a bug in Redeliver
 */
export function deploySqs(topology: SqsTopology, placement: SqsPlacement): SqsDeployed {
  const made: Made = { queues: new Map(), topics: new Map(), policies: new Map() };
  for (const queue of topology.queues) addQueue(made, placement, topology, queue);
  for (const topic of topology.topics) addTopic(made, placement, topology, topic);
  for (const queue of topology.queues) addPolicies(made, placement, queue);
  for (const alarm of topology.alarms) addAlarm(made, placement, topology, alarm);
  for (const mapping of topology.mappings) addMapping(made, placement, topology, mapping);
  for (const subscription of topology.subscriptions) addSubscription(made, placement, topology, subscription);
  const queuesOf = (wanted: SqsQueue["role"]): Record<string, DeployedQueue> =>
    Object.fromEntries(
      topology.queues.flatMap(({ role, consumer, name }) => {
        const { name: own, url, arn } = find(made.queues, name);
        return role === wanted && consumer !== null ? [[consumer, { name: own, url, arn }] as const] : [];
      }),
    );
  return {
    workQueues: queuesOf("work"),
    deadQueues: queuesOf("dead"),
    topics: Object.fromEntries(topology.topics.map(({ source, name }) => [source, find(made.topics, name).arn])),
  };
}

/**
 * What AWS chooses where nothing is said: 1 MiB. It is said, because the provider would choose 256 KiB, and the same topology would
 * be another one than by CloudFormation. Source: API Reference, `SetQueueAttributes`, MaximumMessageSize.
 */
const messageBytes = 1_048_576;

/** No key has the value null or undefined: with either the provider waits for a state that AWS never reports. */
function addQueue(made: Made, placement: SqsPlacement, topology: SqsTopology, queue: SqsQueue): void {
  const { parent, region } = placement;
  const { encryption, redrive } = queue;
  const resource = new Queue(
    logicalNameIn(placement, queue.name),
    {
      ...nameIn(placement, queue.name),
      region,
      ...(queue.fifo
        ? {
            fifoQueue: true,
            contentBasedDeduplication: false,
            deduplicationScope: "messageGroup",
            fifoThroughputLimit: "perMessageGroupId",
          }
        : {}),
      visibilityTimeoutSeconds: queue.visibilityTimeoutSeconds,
      messageRetentionSeconds: queue.retentionSeconds,
      delaySeconds: queue.delaySeconds,
      receiveWaitTimeSeconds: queue.receiveWaitSeconds,
      maxMessageSize: messageBytes,
      ...(encryption.kind === "sqs" ? { sqsManagedSseEnabled: true } : { kmsMasterKeyId: encryption.keyId }),
      ...(redrive === null
        ? {}
        : {
            // The count as a number: AWS answers with one, and the provider would wait for the text that it had sent.
            redrivePolicy: pulumi.jsonStringify({
              deadLetterTargetArn: find(made.queues, redrive.deadQueue).arn,
              maxReceiveCount: redrive.maxReceiveCount,
            }),
          }),
      tags: tagsOf(topology, { consumer: queue.consumer, role: queue.role }),
    },
    kept(parent),
  );
  made.queues.set(queue.name, resource);
}

function addTopic(made: Made, placement: SqsPlacement, topology: SqsTopology, topic: SnsTopic): void {
  const { parent, region } = placement;
  const resource = new Topic(
    logicalNameIn(placement, topic.name),
    {
      ...nameIn(placement, topic.name),
      region,
      ...(topic.fifo ? { fifoTopic: true, contentBasedDeduplication: false, fifoThroughputScope: "MessageGroup" } : {}),
      tags: tagsOf(topology, { source: topic.source }),
    },
    kept(parent),
  );
  made.topics.set(topic.name, resource);
}

/**
 * The redrive-allow policy is a resource of its own: as an attribute of the dead queue it would wait for the work queue, which waits
 * for the dead queue.
 */
function addPolicies(made: Made, placement: SqsPlacement, queue: SqsQueue): void {
  const { parent, region } = placement;
  const { redriveAllow } = queue;
  const queueUrl = find(made.queues, queue.name).url;
  const arnOf = (each: string): pulumi.Output<string> => find(made.queues, each).arn;
  const topicArnOf = (each: string): pulumi.Output<string> => find(made.topics, each).arn;
  const policy = pulumi.jsonStringify(queuePolicy(queue, { queue: arnOf, topic: topicArnOf }));
  const redriveAllowPolicy = pulumi.jsonStringify(
    redriveAllow.permission === "denyAll"
      ? { redrivePermission: redriveAllow.permission }
      : { redrivePermission: redriveAllow.permission, sourceQueueArns: redriveAllow.sourceQueues.map(arnOf) },
  );
  const options = { parent, retainOnDelete: true, deleteBeforeReplace: false };
  const own = logicalNameIn(placement, queue.name);
  made.policies.set(queue.name, [
    new QueuePolicy(own, { queueUrl, region, policy }, options),
    new RedriveAllowPolicy(own, { queueUrl, region, redriveAllowPolicy }, options),
  ]);
}

function addAlarm(made: Made, placement: SqsPlacement, topology: SqsTopology, alarm: DepthAlarm): void {
  const { parent, region, alarmActions } = placement;
  const { metric, queue, threshold, periodSeconds } = alarm;
  const resource = find(made.queues, queue);
  void new MetricAlarm(
    logicalNameIn(placement, alarm.name),
    {
      ...nameIn(placement, alarm.name),
      region,
      namespace: "AWS/SQS",
      metricName: metric,
      dimensions: { QueueName: resource.name },
      statistic: metric === "NumberOfMessagesReceived" ? "Sum" : "Maximum",
      period: periodSeconds,
      evaluationPeriods: 1,
      threshold,
      comparisonOperator: "GreaterThanThreshold",
      treatMissingData: "notBreaching",
      ...(alarmActions.length === 0 ? {} : { alarmActions: [...alarmActions] }),
      tags: tagsOf(topology),
    },
    goesUnlessWith(parent, resource),
  );
}

/**
 * Lambda refuses a queue that hides messages for less than the function's timeout, so the queue has to be there as it stays; and a dead
 * queue has to take what the function gives back for the last time.
 */
function addMapping(made: Made, placement: SqsPlacement, topology: SqsTopology, mapping: LambdaMapping): void {
  const { parent, region } = placement;
  const { queue, consumer, functionName, batchSize, batchWindowSeconds, maximumConcurrency } = mapping;
  void new EventSourceMapping(
    logicalNameIn(placement, queue),
    {
      region,
      eventSourceArn: find(made.queues, queue).arn,
      functionName,
      enabled: true,
      batchSize,
      maximumBatchingWindowInSeconds: batchWindowSeconds,
      functionResponseTypes: [...mapping.functionResponseTypes],
      ...(maximumConcurrency === null ? {} : { scalingConfig: { maximumConcurrency } }),
      tags: tagsOf(topology, { consumer }),
    },
    { ...goesUnlessWith(parent, find(made.queues, queue)), dependsOn: policiesOf(made, topology, consumer) },
  );
}

/** Who may use the queues that messages of a consumer can get to. */
function policiesOf(made: Made, { queues }: SqsTopology, consumer: string): pulumi.Resource[] {
  const waysOut = queues.filter((each) => each.consumer === consumer || each.consumer === null);
  return waysOut.flatMap((each) => find(made.policies, each.name));
}

function addSubscription(
  made: Made,
  { name, parent, region }: SqsPlacement,
  topology: SqsTopology,
  subscription: SnsSubscription,
): void {
  const { topic, queue, consumer, filterPolicy, rawMessageDelivery, deadQueue } = subscription;
  void new TopicSubscription(
    // Neither name can have a / in it, so no two subscriptions have the same logical name.
    `${name}-${topic}/${queue}`,
    {
      topic: find(made.topics, topic).arn,
      region,
      protocol: "sqs",
      endpoint: find(made.queues, queue).arn,
      rawMessageDelivery,
      ...(filterPolicy === null
        ? {}
        : { filterPolicyScope: "MessageAttributes", filterPolicy: JSON.stringify(filterPolicy) }),
      // SNS knows no count here: how often it tries is the same for all queues.
      redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: find(made.queues, deadQueue).arn }),
    },
    { ...goesUnlessWith(parent, find(made.queues, queue)), dependsOn: policiesOf(made, topology, consumer) },
  );
}

/** The options of what others know and use: it is protected, and it stays at AWS when it leaves the program. */
function kept(parent: pulumi.Resource): pulumi.CustomResourceOptions {
  return { parent, protect: true, retainOnDelete: true, deleteBeforeReplace: false };
}

/** The options of what goes when it leaves the program, unless the queue leaves it in the same update: the queue stays at AWS. */
function goesUnlessWith(parent: pulumi.Resource, queue: Queue): pulumi.CustomResourceOptions {
  return { parent, deleteBeforeReplace: false, deletedWith: queue };
}

function logicalNameIn({ name, naming }: SqsPlacement, own: string): string {
  return logicalName(name, naming, own);
}

/** Without a name Pulumi makes one of the logical name. */
function nameIn({ naming }: SqsPlacement, name: string): { readonly name?: string } {
  return naming === "automatic" ? {} : { name };
}

function find<Resource>(resources: ReadonlyMap<string, Resource>, name: string): Resource {
  const resource = resources.get(name);
  if (resource === undefined) throw new Error(`the topology refers to ${JSON.stringify(name)} before it is made`);
  return resource;
}
