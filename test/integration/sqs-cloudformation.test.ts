import { randomUUID } from "node:crypto";

import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
} from "@aws-sdk/client-cloudformation";
import { LambdaClient, ListEventSourceMappingsCommand } from "@aws-sdk/client-lambda";
import { GetTopicAttributesCommand } from "@aws-sdk/client-sns";
import { DeleteQueueCommand, GetQueueAttributesCommand, ListQueueTagsCommand } from "@aws-sdk/client-sqs";
import { describe, expect, onTestFinished, test } from "vitest";

import { brokers, type SqsQueue, type SqsTopology } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { queueArn, topicArn } from "../support/sqs/assigned-by-aws.ts";
import { accountId, clientSettings, region } from "../support/sqs/clients.ts";
import { createLab, type Lab } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { compileSqs } from "../support/sqs/register.ts";
import { startStrictly } from "../support/sqs/strict-emulator.ts";

// Deploys the output of `compile --format aws-json`. Of the emulators only moto has CloudFormation, and only parts of
// it. It makes no queue policies and no subscriptions from a template, and leaves out the tags of topics. Only
// test/component compares these: there the template must equal the resources that Pulumi registers.

const exponential = { kind: "exponential", first: "1s", factor: 2, max: "10s" };
const common = { from: { orders: ["order.placed", "order.#"] }, handlerTimeout: "10s" };
const consumers = {
  billing: { ...common, retry: { attempts: 5, backoff: exponential }, deadLetter: { retain: "7d", alarmAbove: 0 } },
  shipping: {
    from: { orders: ["order.placed"], payments: "all" },
    handlerTimeout: "10s",
    retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } },
  },
  ledger: {
    from: { entries: "all" },
    handlerTimeout: "10s",
    order: "per-key",
    retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } },
  },
};

/** A system under a unique name, with every setting that a target can have. */
function system(): { readonly topology: SqsTopology; readonly template: object; readonly functionName: string } {
  const name = `t${randomUUID().slice(0, 8)}`;
  const sources = { orders: { kind: "topic" }, payments: { kind: "topic" }, entries: { kind: "topic" } };
  const compiled = compileSqs(checked({ name, sources, consumers }), {
    broker: "sqs",
    region,
    account: accountId,
    kmsKey: "alias/shop",
    tags: { team: "payments" },
    emptiedDeadQueues: ["billing"],
    lambda: { billing: { function: name, timeout: "30s", batchSize: 50, batchWindow: "5s", maximumConcurrency: 20 } },
  });
  const template = brokers.sqs.exportFormats["aws-json"]?.(compiled, null);
  return { topology: compiled.topology, template: template as object, functionName: name };
}

/** The Lambda function, which the declaration only names. */
function functionTemplate(name: string): object {
  const assume = { Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" };
  return {
    Resources: {
      Role: {
        Type: "AWS::IAM::Role",
        Properties: { AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [assume] } },
      },
      Function: {
        Type: "AWS::Lambda::Function",
        Properties: {
          FunctionName: name,
          Runtime: "nodejs22.x",
          Handler: "index.handler",
          Timeout: 30,
          Role: { "Fn::GetAtt": ["Role", "Arn"] },
          Code: { ZipFile: "exports.handler = async () => ({ batchItemFailures: [] })" },
        },
      },
    },
  };
}

async function createStack(client: CloudFormationClient, name: string, template: object): Promise<void> {
  const TemplateBody = JSON.stringify(template);
  await client.send(
    new CreateStackCommand({
      StackName: name,
      TemplateBody,
      Capabilities: ["CAPABILITY_IAM"],
      OnFailure: "DO_NOTHING",
    }),
  );
  await expect
    .poll(async () => (await client.send(new DescribeStacksCommand({ StackName: name }))).Stacks?.[0]?.StackStatus, {
      timeout: 60_000,
    })
    .toBe("CREATE_COMPLETE");
}

describe.each(sqsEmulators())("the template on $name $version", (emulator) => {
  test.runIf(emulator.name === "moto")(
    "makes the queues with every attribute and tag, the topics and the mappings, and keeps the queues when the stack is deleted",
    async () => {
      const lab = createLab(emulator);
      // Moto accepts templates that AWS refuses, so a proxy in front of it refuses them.
      const strict = await startStrictly(emulator);
      onTestFinished(async () => strict.stop());
      const cloudFormation = new CloudFormationClient(clientSettings(strict.endpoint));
      const lambda = new LambdaClient(clientSettings(emulator.endpoint));
      const { topology, template, functionName } = system();
      onTestFinished(async () => {
        const gone = topology.queues.map(async ({ name }) =>
          lab.sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf(emulator.endpoint, name) })),
        );
        await Promise.allSettled(gone);
        await lab.dispose();
        cloudFormation.destroy();
        lambda.destroy();
      });
      await createStack(cloudFormation, `function-${functionName}`, functionTemplate(functionName));
      await createStack(cloudFormation, functionName, template);

      for (const queue of topology.queues) await expectQueue(lab, emulator.endpoint, topology, queue);
      await expectTopics(lab, topology);
      await expectMappings(lambda, topology);
      await cloudFormation.send(new DeleteStackCommand({ StackName: functionName }));
      await cloudFormation.send(new DeleteStackCommand({ StackName: `function-${functionName}` }));
      for (const queue of topology.queues) await expectQueue(lab, emulator.endpoint, topology, queue);
    },
  );
});

function urlOf(endpoint: string, queue: string): string {
  return `${endpoint}/${accountId}/${queue}`;
}

async function expectQueue({ sqs }: Lab, endpoint: string, topology: SqsTopology, queue: SqsQueue): Promise<void> {
  const { name, consumer, role, redrive } = queue;
  const QueueUrl = urlOf(endpoint, name);
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  expect(Attributes, name).toMatchObject({
    QueueArn: queueArn(region, name),
    VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
    MessageRetentionPeriod: String(queue.retentionSeconds),
    DelaySeconds: String(queue.delaySeconds),
    ReceiveMessageWaitTimeSeconds: String(queue.receiveWaitSeconds),
    KmsMasterKeyId: "alias/shop",
    ...(queue.fifo
      ? {
          FifoQueue: "true",
          ContentBasedDeduplication: "false",
          DeduplicationScope: "messageGroup",
          FifoThroughputLimit: "perMessageGroupId",
        }
      : {}),
  });
  expect(JSON.parse(Attributes.RedrivePolicy ?? "null"), name).toEqual(
    redrive === null
      ? null
      : { deadLetterTargetArn: queueArn(region, redrive.deadQueue), maxReceiveCount: redrive.maxReceiveCount },
  );
  const { Tags } = await sqs.send(new ListQueueTagsCommand({ QueueUrl }));
  expect(Tags, name).toEqual({
    team: "payments",
    "redeliver:system": topology.system,
    "redeliver:consumer": consumer,
    "redeliver:role": role,
  });
}

async function expectTopics({ sns }: Lab, { topics }: SqsTopology): Promise<void> {
  for (const { name, fifo } of topics) {
    const TopicArn = topicArn(region, name);
    const { Attributes = {} } = await sns.send(new GetTopicAttributesCommand({ TopicArn }));
    expect(Attributes["FifoTopic"] ?? "false", name).toBe(String(fifo));
  }
}

async function expectMappings(client: LambdaClient, { mappings }: SqsTopology): Promise<void> {
  expect(mappings).toHaveLength(1);
  for (const { queue, functionName, batchSize, batchWindowSeconds, maximumConcurrency } of mappings) {
    const { EventSourceMappings } = await client.send(
      new ListEventSourceMappingsCommand({ EventSourceArn: queueArn(region, queue) }),
    );
    expect(EventSourceMappings).toHaveLength(1);
    expect(EventSourceMappings?.[0]).toMatchObject({
      FunctionArn: `arn:aws:lambda:${region}:${accountId}:function:${functionName}`,
      BatchSize: batchSize,
      MaximumBatchingWindowInSeconds: batchWindowSeconds,
      ScalingConfig: { MaximumConcurrency: maximumConcurrency },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      State: "Enabled",
    });
  }
}
