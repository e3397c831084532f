// One file of @pulumi/aws for each kind of resource. The whole package takes 0.14 to 0.4 s to load, these a few
// milliseconds.
import { MetricAlarm } from "@pulumi/aws/cloudwatch/metricAlarm.js";
import { EventSourceMapping } from "@pulumi/aws/lambda/eventSourceMapping.js";
import { Topic } from "@pulumi/aws/sns/topic.js";
import { TopicSubscription } from "@pulumi/aws/sns/topicSubscription.js";
import { Queue } from "@pulumi/aws/sqs/queue.js";
import { QueuePolicy } from "@pulumi/aws/sqs/queuePolicy.js";
import { RedriveAllowPolicy } from "@pulumi/aws/sqs/redriveAllowPolicy.js";
import * as pulumi from "@pulumi/pulumi";

import { find, goesUnlessWith, kept } from "../../../deploy/resource-options.ts";
import { isArn, regionOf } from "../compile/arn.ts";
import { type Naming, logicalName } from "../compile/automatic-names.ts";
import * as fields from "../compile/fields.ts";
import { tagsOf } from "../compile/tags.ts";
import type {
  DepthAlarm,
  LambdaMapping,
  SnsSubscription,
  SnsTopic,
  SqsQueue,
  SqsTopology,
} from "../compile/topology.ts";

export { type Naming, diagnoseAutomaticNames } from "../compile/automatic-names.ts";

export interface SqsPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  readonly naming: Naming;
  readonly parent: pulumi.Resource;
  /** Set on every resource, so that a provider for another region changes nothing. */
  readonly region: string;
  /** The ARNs that every alarm notifies when it fires. */
  readonly alarmActions: readonly pulumi.Input<string>[];
}

/** A program reaches a queue by its URL; a policy names it by its ARN. */
export interface DeployedQueue {
  /** Its name at AWS. With automatic names it is known only once the queue exists. */
  readonly name: pulumi.Output<string>;
  /** For the clients of SQS. */
  readonly url: pulumi.Output<string>;
  /** For the policies of IAM. */
  readonly arn: pulumi.Output<string>;
}

/**
 * Creates the Pulumi resources of a topology, each exactly once and no others.
 *
 * The order has reasons. A consumer's dead queue comes first, since the redrive policy of its work queue names it. Then
 * come the work queue and the topics. The policies of the queues name the topics and, as the sources of a dead queue,
 * the work queues. Then come Lambda's mappings, and the subscriptions last. A subscription waits for every queue and
 * every policy of its consumer. So no message enters before the whole way out exists. In a deletion the subscriptions
 * are the first to go.
 *
 * **Deletion.** Queues and topics stay at AWS when they leave the program. Their policies stay too, because without
 * them clients could use a queue without TLS. They are protected: a user has to remove the protection before they can
 * leave the program. A subscription is deleted when its consumer no longer takes from the topic. It stays if the work
 * queue leaves the program in the same update. The same holds for the alarms of a queue, and for Lambda's mappings.
 *
 * **Replacement.** Pulumi creates the new resource before it deletes the old one. A logical name contains the name in
 * the topology, so that a renamed resource is a new one beside the old one.
 *
 * @throws Error if the topology refers to a resource that it does not have, which is a bug in Redeliver
 */
export function deploySqs(topology: SqsTopology, placement: SqsPlacement) {
  const made = startWith(topology, placement);
  for (const queue of topology.queues) addQueue(made, queue);
  for (const topic of topology.topics) if (topic.owner !== "other") addTopic(made, topic);
  for (const queue of topology.queues) addPolicies(made, queue);
  for (const alarm of topology.alarms) addAlarm(made, alarm);
  for (const mapping of topology.mappings) addMapping(made, topology, mapping);
  for (const subscription of topology.subscriptions) addSubscription(made, topology, subscription);
  const deployedOf = (name: string): DeployedQueue => {
    const { name: own, url, arn } = find(made.queues, name);
    return { name: own, url, arn };
  };
  const queuesOf = (nameOf: (queue: SqsQueue) => string | undefined): Record<string, DeployedQueue> =>
    Object.fromEntries(
      topology.queues.flatMap((queue) => {
        const name = queue.role === "work" ? nameOf(queue) : undefined;
        return name === undefined ? [] : [[queue.consumer, deployedOf(name)] as const];
      }),
    );
  return {
    workQueues: queuesOf(({ name }) => name),
    deadQueues: queuesOf(({ redrive }) => redrive?.deadQueue),
    topics: Object.fromEntries(topology.topics.map(({ source, name }) => [source, made.arnOfTopic(name)])),
  };
}

/**
 * AWS's own default, 1 MiB. It is set explicitly, because the provider's default is 256 KiB, and CloudFormation would
 * make a different topology. Source: API Reference, `SetQueueAttributes`, MaximumMessageSize. The provider takes more
 * than 256 KiB from @pulumi/aws 7.7.0 on, by its own pages (pulumi-aws issue 6321).
 */
const messageBytes = 1_048_576;

/** The resources made so far, by their names in the topology. */
type Made = ReturnType<typeof startWith>;

/** Pulumi names other resources by their outputs, so that they are made before. */
function startWith(topology: SqsTopology, placement: SqsPlacement) {
  const queues = new Map<string, Queue>();
  const topics = new Map<string, Topic>();
  /** By queue: the policies on its senders and on the queues that may name it as their dead queue. */
  const policies = new Map<string, readonly pulumi.Resource[]>();
  const queue = (name: string): pulumi.Output<string> => find(queues, name).arn;
  const arnOfTopic = (name: string): pulumi.Output<string> =>
    isArn(name) ? pulumi.output(name) : find(topics, name).arn;
  const writing: fields.Writing = {
    queue,
    source: queue,
    topic: arnOfTopic,
    tags: (values) => tagsOf(topology, values),
    dimensions: (name) => ({ QueueName: find(queues, name).name }),
  };
  return { ...placement, queues, topics, arnOfTopic, policies, writing };
}

type PulumiNames<Table> = {
  [Name in keyof Table & string]: Table[Name] extends { readonly pulumi: infer Own } ? Own : Uncapitalize<Name>;
}[keyof Table & string];

/**
 * The arguments of a resource from its table. No key has the value null or undefined, because the provider would then
 * wait for a state that AWS never reports.
 *
 * @param _type its arguments have to include every name in the table
 */
function argsOf<Args, Entity, Table extends fields.Fields<Entity>>(
  _type: new (name: string, args: Args, options: pulumi.CustomResourceOptions) => unknown,
  table: Table & (PulumiNames<Table> extends keyof NonNullable<Args> ? unknown : never),
  entity: Entity,
  { writing, region }: Made,
): Args {
  const names = fields.pulumiNamesOf(table);
  const properties = Object.entries(fields.propertiesOf<Entity>(table, entity, writing)).map(([name, value]) => [
    names.get(name),
    table[name]?.isDocument === true ? pulumi.jsonStringify(value) : value,
  ]);
  return { ...Object.fromEntries(properties), region } as Args;
}

function addQueue(made: Made, queue: SqsQueue): void {
  const own = argsOf(Queue, fields.queueFields, queue, made);
  const args = { ...own, ...nameIn(made, queue.name), maxMessageSize: messageBytes };
  made.queues.set(queue.name, new Queue(logicalNameIn(made, queue.name), args, kept(made.parent)));
}

function addTopic(made: Made, topic: SnsTopic): void {
  const args = { ...argsOf(Topic, fields.topicFields, topic, made), ...nameIn(made, topic.name) };
  made.topics.set(topic.name, new Topic(logicalNameIn(made, topic.name), args, kept(made.parent)));
}

/**
 * The redrive-allow policy is a resource of its own. As an attribute of the dead queue it would wait for the work
 * queue, and the work queue waits for the dead queue.
 */
function addPolicies(made: Made, queue: SqsQueue): void {
  const { parent } = made;
  const queueUrl = find(made.queues, queue.name).url;
  const options = { parent, retainOnDelete: true, deleteBeforeReplace: false };
  const own = logicalNameIn(made, queue.name);
  const { Policy, ...Allow } = fields.policyFields;
  made.policies.set(queue.name, [
    new QueuePolicy(own, { ...argsOf(QueuePolicy, { Policy }, queue, made), queueUrl }, options),
    new RedriveAllowPolicy(own, { ...argsOf(RedriveAllowPolicy, Allow, queue, made), queueUrl }, options),
  ]);
}

function addAlarm(made: Made, alarm: DepthAlarm): void {
  const { parent, alarmActions } = made;
  const args = {
    ...argsOf(MetricAlarm, fields.alarmFields, alarm, made),
    ...nameIn(made, alarm.name),
    ...(alarmActions.length === 0 ? {} : { alarmActions: [...alarmActions] }),
  };
  const options = goesUnlessWith(parent, find(made.queues, alarm.queue));
  void new MetricAlarm(logicalNameIn(made, alarm.name), args, options);
}

/**
 * Lambda refuses a queue that hides messages for less than the function's timeout. So the queue must already have its
 * final settings. The dead queue must be ready for messages that fail for the last time.
 */
function addMapping(made: Made, topology: SqsTopology, mapping: LambdaMapping): void {
  const { queue, consumer, maximumConcurrency } = mapping;
  const args = argsOf(EventSourceMapping, fields.mappingFields, mapping, made);
  const scaling = maximumConcurrency === null ? {} : { scalingConfig: { maximumConcurrency } };
  void new EventSourceMapping(
    logicalNameIn(made, queue),
    { ...args, ...scaling },
    { ...goesUnlessWith(made.parent, find(made.queues, queue)), dependsOn: policiesOf(made, topology, consumer) },
  );
}

/** The policies of the queues that messages of a consumer can reach. */
function policiesOf(made: Made, { queues }: SqsTopology, consumer: string): pulumi.Resource[] {
  const waysOut = queues.filter((each) => each.consumer === consumer || each.consumer === null);
  return waysOut.flatMap((each) => find(made.policies, each.name));
}

function addSubscription(made: Made, topology: SqsTopology, subscription: SnsSubscription): void {
  const { topic, queue, consumer } = subscription;
  // SNS takes a subscription only in the region of its topic. Source: SNS Developer Guide, "Cross-region delivery".
  void new TopicSubscription(
    // Neither name can contain a /, so no two subscriptions have the same logical name.
    `${made.name}-${topic}/${queue}`,
    argsOf(TopicSubscription, fields.subscriptionFields, subscription, {
      ...made,
      region: regionOf(topic) ?? made.region,
    }),
    {
      ...goesUnlessWith(made.parent, find(made.queues, queue)),
      ignoreChanges: unreadInputs,
      dependsOn: policiesOf(made, topology, consumer),
    },
  );
}

/**
 * Inputs that the provider gives each subscription by default, and reads from nowhere. They are for endpoints of HTTP.
 * Without this, an update follows an import. Source: terraform-provider-aws, issues 166 and 29804.
 */
const unreadInputs = ["confirmationTimeoutInMinutes", "endpointAutoConfirms"];

function logicalNameIn({ name, naming }: SqsPlacement, own: string): string {
  return logicalName(name, naming, own);
}

/** Without a name, Pulumi derives one from the logical name. */
function nameIn({ naming }: SqsPlacement, name: string): { readonly name?: string } {
  return naming === "automatic" ? {} : { name };
}
