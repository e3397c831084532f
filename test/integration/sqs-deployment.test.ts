import { readFileSync } from "node:fs";

import { GetSubscriptionAttributesCommand, ListSubscriptionsByTopicCommand } from "@aws-sdk/client-sns";
import { GetQueueAttributesCommand, ListQueuesCommand } from "@aws-sdk/client-sqs";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import { inTurn } from "../support/in-turn.ts";
import { type RegisteredResource, runProgram, stackProgram } from "../support/pulumi.ts";
import { checked } from "../support/examples.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { queueArn } from "../support/sqs/assigned-by-aws.ts";
import { region } from "../support/sqs/clients.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { createLab, type Lab } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { compileSqs } from "../support/sqs/register.ts";
import { startStrictly } from "../support/sqs/strict-emulator.ts";

const portable = checked(parse(readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8")));
const { topology } = compileSqs(portable, { broker: "sqs", region });

async function registered(): Promise<readonly RegisteredResource[]> {
  const run = await inTurn(async () =>
    runProgram(stackProgram, { config: { "redeliver:target": { broker: "sqs", region } } }),
  );
  expect(run.error).toBeUndefined();
  return run.resources;
}

describe.each(sqsEmulators())("the stack program on $name $version", (emulator) => {
  test("creates exactly the queues of the compiled topology, with every attribute; a second run changes nothing", async () => {
    const lab = createLab(emulator);
    onTestFinished(async () => lab.dispose());
    const resources = await registered();
    const strict = await startStrictly(emulator);
    onTestFinished(async () => strict.stop());
    const applied = await applyToEmulator(strict, resources);
    onTestFinished(async () => applied.dispose());
    expect([...applied.queues.keys()].toSorted()).toEqual(topology.queues.map(({ name }) => name).toSorted());
    const { QueueUrls = [] } = await lab.sqs.send(new ListQueuesCommand({ QueueNamePrefix: "shop-" }));
    expect(QueueUrls).toHaveLength(topology.queues.length);
    const before = await attributesOf(lab, applied.queues);
    for (const { name, redrive, ...queue } of topology.queues) {
      const attributes = before.get(name) ?? {};
      expect(attributes, name).toMatchObject({
        QueueArn: queueArn(region, name),
        VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
        DelaySeconds: String(queue.delaySeconds),
        ReceiveMessageWaitTimeSeconds: String(queue.receiveWaitSeconds),
        ...(gapOf("retention-deletes", emulator.name) === undefined
          ? { MessageRetentionPeriod: String(queue.retentionSeconds) }
          : {}),
      });
      const policy = attributes["RedrivePolicy"];
      expect(policy === undefined ? null : JSON.parse(policy), name).toEqual(
        redrive === null
          ? null
          : { deadLetterTargetArn: queueArn(region, redrive.deadQueue), maxReceiveCount: redrive.maxReceiveCount },
      );
    }
    await applyToEmulator(emulator, resources);
    expect(await attributesOf(lab, applied.queues)).toEqual(before);
    await expectSubscriptions(emulator, lab, applied.topics);
  });

  test("the test's provider refuses an unknown input, another region and another order", async () => {
    const resources = await registered();
    const queue = resources.findIndex(({ type }) => type === "aws:sqs/queue:Queue");
    const withInput = (input: object): RegisteredResource[] =>
      resources.map((each, index) => (index === queue ? { ...each, inputs: { ...each.inputs, ...input } } : each));
    const strange = withInput({ fairness: true });
    await expect(applyToEmulator(emulator, strange)).rejects.toThrow("unknown properties: fairness");
    await expect(applyToEmulator(emulator, withInput({ region: "eu-west-1" }))).rejects.toThrow("eu-west-1");
    await expect(applyToEmulator(emulator, resources.toReversed())).rejects.toThrow("which it depends on");
    const leftOver = await applyToEmulator(emulator, resources);
    await leftOver.dispose();
  });
});

async function attributesOf(
  { sqs }: Lab,
  queues: ReadonlyMap<string, { readonly url: string }>,
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const read = [...queues].map(async ([name, { url }]) => {
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }),
    );
    const { LastModifiedTimestamp: _when, ...attributes } = Attributes;
    return [name, attributes as Record<string, string>] as const;
  });
  return new Map(await Promise.all(read));
}

async function expectSubscriptions(emulator: SqsEmulator, { sns }: Lab, topics: ReadonlyMap<string, string>) {
  if (gapOf("topic-reaches-all", emulator.name) !== undefined) return;
  expect([...topics.keys()].toSorted()).toEqual(topology.topics.map(({ name }) => name).toSorted());
  const found: object[] = [];
  for (const [topic, arn] of topics) {
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: arn }));
    for (const { SubscriptionArn, Endpoint } of Subscriptions) {
      const { Attributes = {} } = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }));
      const filter = Attributes["FilterPolicy"];
      found.push({
        topic,
        endpoint: Endpoint,
        raw: Attributes["RawMessageDelivery"],
        filter: filter === undefined ? null : (JSON.parse(filter) as unknown),
        redrive: JSON.parse(Attributes["RedrivePolicy"] ?? "null") as unknown,
      });
    }
  }
  const wanted = topology.subscriptions.map(({ topic, queue, filterPolicy, deadQueue }) => ({
    topic,
    endpoint: queueArn(region, queue),
    raw: "true",
    filter: filterPolicy,
    redrive: { deadLetterTargetArn: queueArn(region, deadQueue) },
  }));
  expect(found).toHaveLength(wanted.length);
  expect(found).toEqual(expect.arrayContaining(wanted));
}
