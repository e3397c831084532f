import { isArn, regionOf } from "../compile/arn.ts";
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

/**
 * Writes a topology as a template in JSON for `aws cloudformation deploy`, with every attribute that Redeliver relies
 * on.
 *
 * CloudFormation keeps the queues when the stack or the queue is deleted, because they may hold messages. A dead queue
 * names its source by the text of the ARN. A reference there and one in the source's redrive policy would be a circle,
 * which CloudFormation refuses. Source of the format: CloudFormation Template Reference, `AWS::SQS::Queue`,
 * `AWS::SQS::QueuePolicy`, `AWS::SNS::Topic`, `AWS::SNS::Subscription`, `AWS::Lambda::EventSourceMapping`,
 * `AWS::CloudWatch::Alarm`.
 */
export function exportCloudFormation(topology: SqsTopology) {
  const { queues, subscriptions, mappings, alarms } = topology;
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Description: `${topology.system} on ${topology.target}, compiled by Redeliver`,
    Resources: {
      ...numbered("Topic", ownTopics(topology), topicResource, topology),
      ...numbered("Queue", queues, queueResource, topology),
      ...numbered("QueuePolicy", queues, policyResource, topology),
      ...numbered("Subscription", subscriptions, subscriptionResource, topology),
      ...numbered("Mapping", mappings, mappingResource, topology),
      ...numbered("Alarm", alarms, alarmResource, topology),
    },
    Outputs: Object.fromEntries(
      queues
        .filter(({ role }) => role === "work")
        .map(({ name, consumer }) => [
          `Url${queueId(topology, name)}`,
          { Description: `the work queue of ${consumer}`, Value: { Ref: queueId(topology, name) } },
        ]),
    ),
  };
}

/** Ids have only letters and digits, so they cannot be the names of the resources. */
function numbered<Entity>(
  kind: string,
  entities: readonly Entity[],
  resourceOf: (topology: SqsTopology, entity: Entity) => object,
  topology: SqsTopology,
): Record<string, object> {
  return Object.fromEntries(entities.map((each, index) => [`${kind}${index + 1}`, resourceOf(topology, each)]));
}

const ownTopics = ({ topics }: SqsTopology): readonly SnsTopic[] => topics.filter(({ owner }) => owner !== "other");

function queueId({ queues }: SqsTopology, name: string): string {
  return `Queue${queues.findIndex((queue) => queue.name === name) + 1}`;
}

const arnOf = (id: string): object => ({ "Fn::GetAtt": [id, "Arn"] });

function writingIn(topology: SqsTopology): fields.Writing {
  return {
    queue: (name) => arnOf(queueId(topology, name)),
    topic: (name) =>
      isArn(name) ? name : { Ref: `Topic${ownTopics(topology).findIndex((topic) => topic.name === name) + 1}` },
    source: (name) => ({ "Fn::Sub": `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${name}` }),
    tags: (values) => Object.entries(tagsOf(topology, values)).map(([Key, Value]) => ({ Key, Value })),
    dimensions: (name) => [{ Name: "QueueName", Value: { "Fn::GetAtt": [queueId(topology, name), "QueueName"] } }],
  };
}

function queueResource(topology: SqsTopology, queue: SqsQueue): object {
  const { Tags, ...properties } = fields.propertiesOf(fields.queueFields, queue, writingIn(topology));
  const RedriveAllowPolicy = fields.policyFields.RedriveAllowPolicy.of(queue, writingIn(topology));
  return {
    Type: "AWS::SQS::Queue",
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    Properties: { QueueName: queue.name, ...properties, RedriveAllowPolicy, Tags },
  };
}

function policyResource(topology: SqsTopology, queue: SqsQueue): object {
  const PolicyDocument = fields.policyFields.Policy.of(queue, writingIn(topology));
  return {
    Type: "AWS::SQS::QueuePolicy",
    Properties: { Queues: [{ Ref: queueId(topology, queue.name) }], PolicyDocument },
  };
}

function topicResource(topology: SqsTopology, topic: SnsTopic): object {
  const properties = fields.propertiesOf(fields.topicFields, topic, writingIn(topology));
  return { Type: "AWS::SNS::Topic", Properties: { TopicName: topic.name, ...properties } };
}

/** The subscription comes last, after the policy that lets the topic send to the work queue. */
function subscriptionResource(topology: SqsTopology, subscription: SnsSubscription): object {
  const { topic, queue, deadQueue } = subscription;
  const Region = regionOf(topic);
  return {
    Type: "AWS::SNS::Subscription",
    DependsOn: [queue, deadQueue].map((name) => policyId(topology, name)),
    Properties: {
      ...fields.propertiesOf(fields.subscriptionFields, subscription, writingIn(topology)),
      ...(Region === null ? {} : { Region }),
    },
  };
}

/** The mapping waits for its queue, the dead queue behind it, and the policies of both. */
function mappingResource(topology: SqsTopology, mapping: LambdaMapping): object {
  const { consumer, maximumConcurrency: most } = mapping;
  const isBehind = (each: SqsQueue): boolean => each.consumer === consumer || each.consumer === null;
  const own = topology.queues.filter(isBehind).map(({ name }) => policyId(topology, name));
  const { Tags, ...properties } = fields.propertiesOf(fields.mappingFields, mapping, writingIn(topology));
  const scaling = most === null ? {} : { ScalingConfig: { MaximumConcurrency: most } };
  return { Type: "AWS::Lambda::EventSourceMapping", DependsOn: own, Properties: { ...properties, ...scaling, Tags } };
}

function policyId(topology: SqsTopology, queue: string): string {
  return queueId(topology, queue).replace(/^Queue/, "QueuePolicy");
}

function alarmResource(topology: SqsTopology, alarm: DepthAlarm): object {
  const properties = fields.propertiesOf(fields.alarmFields, alarm, writingIn(topology));
  return { Type: "AWS::CloudWatch::Alarm", Properties: { AlarmName: alarm.name, ...properties } };
}
