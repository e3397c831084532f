import { queuePolicy } from "./policy.ts";
import { tagsOf } from "./tags.ts";
import type { DepthAlarm, LambdaMapping, SnsSubscription, SnsTopic, SqsQueue, SqsTopology } from "./topology.ts";

/** A template that `aws cloudformation deploy` takes. */
export interface CloudFormationTemplate {
  readonly AWSTemplateFormatVersion: "2010-09-09";
  readonly Description: string;
  readonly Resources: Readonly<Record<string, object>>;
  readonly Outputs: Readonly<Record<string, object>>;
}

/**
 * Writes a topology as a CloudFormation template in JSON, every attribute that is relied on spelled out.
 *
 * Queues are kept when the stack or the queue is taken away: they may hold messages. A dead queue names its source by the text of the ARN,
 * since a reference there and one in the source's redrive policy would be a circle, which CloudFormation refuses.
 * Source of the format: CloudFormation Template Reference, `AWS::SQS::Queue`, `AWS::SQS::QueuePolicy`, `AWS::SNS::Topic`,
 * `AWS::SNS::Subscription`, `AWS::Lambda::EventSourceMapping`, `AWS::CloudWatch::Alarm`.
 */
export function exportCloudFormation(topology: SqsTopology): CloudFormationTemplate {
  const { queues, topics, subscriptions, mappings, alarms } = topology;
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Description: `${topology.system} on ${topology.target}, compiled by Redeliver`,
    Resources: {
      ...numbered(
        "Topic",
        topics.map((each) => topicResource(topology, each)),
      ),
      ...Object.fromEntries(queues.map((queue) => [queueId(topology, queue.name), queueResource(topology, queue)])),
      ...numbered(
        "QueuePolicy",
        queues.map((queue) => policyResource(topology, queue)),
      ),
      ...numbered(
        "Subscription",
        subscriptions.map((each) => subscriptionResource(topology, each)),
      ),
      ...numbered(
        "Mapping",
        mappings.map((each) => mappingResource(topology, each)),
      ),
      ...numbered(
        "Alarm",
        alarms.map((each) => alarmResource(topology, each)),
      ),
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

/** Ids have letters and digits alone, so the names of the resources cannot be theirs. */
function numbered(kind: string, resources: readonly object[]): Record<string, object> {
  return Object.fromEntries(resources.map((each, index) => [`${kind}${index + 1}`, each]));
}

function queueId({ queues }: SqsTopology, name: string): string {
  return `Queue${queues.findIndex((queue) => queue.name === name) + 1}`;
}

function topicId({ topics }: SqsTopology, name: string): string {
  return `Topic${topics.findIndex((topic) => topic.name === name) + 1}`;
}

const arnOf = (id: string): object => ({ "Fn::GetAtt": [id, "Arn"] });

function queueResource(topology: SqsTopology, queue: SqsQueue): object {
  const { encryption, redrive, redriveAllow } = queue;
  return {
    Type: "AWS::SQS::Queue",
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    Properties: {
      QueueName: queue.name,
      ...(queue.fifo
        ? {
            FifoQueue: true,
            ContentBasedDeduplication: false,
            DeduplicationScope: "messageGroup",
            FifoThroughputLimit: "perMessageGroupId",
          }
        : {}),
      VisibilityTimeout: queue.visibilityTimeoutSeconds,
      MessageRetentionPeriod: queue.retentionSeconds,
      DelaySeconds: queue.delaySeconds,
      ReceiveMessageWaitTimeSeconds: queue.receiveWaitSeconds,
      ...(encryption.kind === "sqs" ? { SqsManagedSseEnabled: true } : { KmsMasterKeyId: encryption.keyId }),
      ...(redrive === null
        ? {}
        : {
            RedrivePolicy: {
              deadLetterTargetArn: arnOf(queueId(topology, redrive.deadQueue)),
              maxReceiveCount: redrive.maxReceiveCount,
            },
          }),
      RedriveAllowPolicy:
        redriveAllow.permission === "denyAll"
          ? { redrivePermission: "denyAll" }
          : {
              redrivePermission: "byQueue",
              sourceQueueArns: redriveAllow.sourceQueues.map((name) => ({
                "Fn::Sub": `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${name}`,
              })),
            },
      Tags: tagList(tagsOf(topology, { consumer: queue.consumer, role: queue.role })),
    },
  };
}

function policyResource(topology: SqsTopology, queue: SqsQueue): object {
  return {
    Type: "AWS::SQS::QueuePolicy",
    Properties: {
      Queues: [{ Ref: queueId(topology, queue.name) }],
      PolicyDocument: queuePolicy(queue, {
        queue: (name) => arnOf(queueId(topology, name)),
        topic: (name) => ({ Ref: topicId(topology, name) }),
      }),
    },
  };
}

function topicResource(topology: SqsTopology, { name, source, fifo }: SnsTopic): object {
  return {
    Type: "AWS::SNS::Topic",
    Properties: {
      TopicName: name,
      ...(fifo ? { FifoTopic: true, ContentBasedDeduplication: false, FifoThroughputScope: "MessageGroup" } : {}),
      Tags: tagList(tagsOf(topology, { source })),
    },
  };
}

/** The way into the work queue comes last: after the policy that lets the topic in. */
function subscriptionResource(topology: SqsTopology, subscription: SnsSubscription): object {
  const { topic, queue, deadQueue, filterPolicy, rawMessageDelivery } = subscription;
  const policies = [queue, deadQueue].map((name) => policyId(topology, name));
  return {
    Type: "AWS::SNS::Subscription",
    DependsOn: policies,
    Properties: {
      TopicArn: { Ref: topicId(topology, topic) },
      Protocol: "sqs",
      Endpoint: arnOf(queueId(topology, queue)),
      RawMessageDelivery: rawMessageDelivery,
      ...(filterPolicy === null ? {} : { FilterPolicyScope: "MessageAttributes", FilterPolicy: filterPolicy }),
      RedrivePolicy: { deadLetterTargetArn: arnOf(queueId(topology, deadQueue)) },
    },
  };
}

/** Its queue, and the dead queue behind it, with the policies that are theirs. */
function mappingResource(topology: SqsTopology, mapping: LambdaMapping): object {
  const { queue, consumer, functionName, batchSize, batchWindowSeconds, maximumConcurrency } = mapping;
  const own = topology.queues.filter((each) => each.consumer === consumer).map(({ name }) => policyId(topology, name));
  return {
    Type: "AWS::Lambda::EventSourceMapping",
    DependsOn: own,
    Properties: {
      EventSourceArn: arnOf(queueId(topology, queue)),
      FunctionName: functionName,
      Enabled: true,
      BatchSize: batchSize,
      MaximumBatchingWindowInSeconds: batchWindowSeconds,
      FunctionResponseTypes: mapping.functionResponseTypes,
      ...(maximumConcurrency === null ? {} : { ScalingConfig: { MaximumConcurrency: maximumConcurrency } }),
      Tags: tagList(tagsOf(topology, { consumer })),
    },
  };
}

function policyId(topology: SqsTopology, queue: string): string {
  return queueId(topology, queue).replace(/^Queue/, "QueuePolicy");
}

function tagList(tags: Readonly<Record<string, string>>): object[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

function alarmResource(topology: SqsTopology, { name, queue, metric, threshold, periodSeconds }: DepthAlarm): object {
  return {
    Type: "AWS::CloudWatch::Alarm",
    Properties: {
      AlarmName: name,
      Namespace: "AWS/SQS",
      MetricName: metric,
      Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": [queueId(topology, queue), "QueueName"] } }],
      Statistic: metric === "NumberOfMessagesReceived" ? "Sum" : "Maximum",
      Period: periodSeconds,
      EvaluationPeriods: 1,
      Threshold: threshold,
      ComparisonOperator: "GreaterThanThreshold",
      TreatMissingData: "notBreaching",
      Tags: tagList(tagsOf(topology)),
    },
  };
}
