import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { SqsRetryTopology } from "../../src/brokers/sqs/make/index.ts";
import { plan, type System, type TargetInput } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { type ProgramRun, resourcesOf, runProgram } from "../support/pulumi.ts";
import { queueArn, queueUrl, topicArn } from "../support/sqs/assigned-by-aws.ts";
import { accountId } from "../support/sqs/clients.ts";
import { type Entry, templateOf } from "../support/sqs/cloudformation.ts";
import { compileSqs, registerSqs } from "../support/sqs/register.ts";

const region = "eu-west-1";
const target = { broker: "sqs", region } as const;
const portable = checked(parse(readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8")));
const timed = { handlerTimeout: "10s", retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } } };
const perKey = checked(oneConsumer({ ...timed, order: "per-key", deadLetter: { alarmAbove: 0 } }));
/** Every setting that a target can have. */
const full = {
  ...target,
  account: accountId,
  kmsKey: "alias/shop",
  tags: { team: "payments" },
  emptiedDeadQueues: ["billing"],
  lambda: {
    billing: { function: "billing:live", timeout: "30s", batchSize: 50, batchWindow: "5s", maximumConcurrency: 20 },
    shipping: { function: `arn:aws:lambda:${region}:${accountId}:function:shipping`, timeout: "30s" },
  },
} as const;
const visible = checked({
  ...portable,
  consumers: {
    ...portable.consumers,
    shipping: { ...portable.consumers["shipping"], retry: portable.consumers["billing"]?.retry },
  },
});
const systems: readonly (readonly [string, System, TargetInput<"sqs">])[] = [
  ["standard queues", portable, target],
  ["FIFO queues", perKey, target],
  ["functions of Lambda, a key and tags", visible, full],
];

const byText = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).toSorted();

/** Parses JSON texts and sorts keys and tags, so that only the content counts. */
function normal(value: unknown): unknown {
  if (typeof value === "string" && value.startsWith("{")) return normal(JSON.parse(value));
  if (Array.isArray(value)) {
    const isTags = value.some((each) => typeof each === "object" && each !== null && "Key" in each);
    return isTags ? byText(value) : value.map(normal);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, normal(each)]),
  );
}

/** CloudFormation's words for inputs. All others are the same word with a capital letter. */
const otherWords: Readonly<Record<string, string>> = {
  visibilityTimeoutSeconds: "VisibilityTimeout",
  messageRetentionSeconds: "MessageRetentionPeriod",
  receiveWaitTimeSeconds: "ReceiveMessageWaitTimeSeconds",
  topic: "TopicArn",
};
const nameWords: Readonly<Record<string, string>> = {
  Queue: "QueueName",
  Topic: "TopicName",
  MetricAlarm: "AlarmName",
};

/** A registered resource in the words of CloudFormation. There, two of the resources are attributes of the queue. */
function inCloudFormation(run: ProgramRun, kind: string): unknown[] {
  const allowed = new Map(
    resourcesOf(run, "RedriveAllowPolicy").map(({ inputs }) => [inputs["queueUrl"], inputs["redriveAllowPolicy"]]),
  );
  return resourcesOf(run, kind).map(({ inputs }) => {
    const { tags = {}, region: here, alarmActions: _actions, maxMessageSize: _size, scalingConfig, ...rest } = inputs;
    expect(here).toBe(region);
    const Tags = Object.entries(tags as object).map(([Key, Value]) => ({ Key, Value: Value as string }));
    const said = Object.entries(rest).map(([key, value]) => {
      const word = key === "name" ? nameWords[kind] : otherWords[key];
      const dimensions = Object.entries(value as object).map(([Name, Value]) => ({ Name, Value: Value as string }));
      return [word ?? key.replace(/^./, (first) => first.toUpperCase()), key === "dimensions" ? dimensions : value];
    });
    const allow = kind === "Queue" ? { RedriveAllowPolicy: allowed.get(queueUrl(region, String(inputs["name"]))) } : {};
    const scaling = scalingConfig as { readonly maximumConcurrency: number } | undefined;
    return normal({
      ...(Object.fromEntries(said) as Entry),
      ...allow,
      ...(scaling === undefined ? {} : { ScalingConfig: { MaximumConcurrency: scaling.maximumConcurrency } }),
      ...(Tags.length === 0 ? {} : { Tags }),
    });
  });
}

describe.each(systems)("%s", (_, system, asked) => {
  test.each([true, false])("the component registers exactly the compiled topology (preview: %s)", async (preview) => {
    const run = await registerSqs(system, asked, preview);
    const template = templateOf(compileSqs(system, asked));
    const wanted = (type: string): string[] =>
      byText(template.filter(([each]) => each === type).map(([, properties]) => normal(properties)));
    expect(byText(inCloudFormation(run, "Queue"))).toEqual(wanted("AWS::SQS::Queue"));
    expect(byText(inCloudFormation(run, "Topic"))).toEqual(wanted("AWS::SNS::Topic"));
    expect(byText(inCloudFormation(run, "TopicSubscription"))).toEqual(wanted("AWS::SNS::Subscription"));
    expect(byText(inCloudFormation(run, "MetricAlarm"))).toEqual(wanted("AWS::CloudWatch::Alarm"));
    expect(byText(inCloudFormation(run, "EventSourceMapping"))).toEqual(wanted("AWS::Lambda::EventSourceMapping"));
    const policies = resourcesOf(run, "QueuePolicy").map(({ inputs }) =>
      normal({ PolicyDocument: inputs["policy"], Queues: [inputs["queueUrl"]] }),
    );
    expect(byText(policies)).toEqual(wanted("AWS::SQS::QueuePolicy"));
    // In Pulumi each allow policy is a resource. The run also holds the stack and the component.
    expect(run.resources).toHaveLength(2 + template.length + wanted("AWS::SQS::Queue").length);
  });

  test("no input is null or missing, and counts are numbers", async () => {
    const run = await registerSqs(system, asked);
    for (const { name, inputs } of run.resources.filter(({ custom }) => custom)) {
      expect(JSON.stringify(normal(inputs)), name).not.toMatch(/null|undefined|"maxReceiveCount":"/);
    }
  });
});

test("a registered queue, property by property, with its policies and its subscription", async () => {
  const run = await registerSqs(perKey, target);
  const inputsOf = (kind: string, name: string): unknown =>
    resourcesOf(run, kind).find((each) => each.name === `shop-${name}`)?.inputs;
  const [work, dead] = ["shop-billing.fifo", "shop-billing-dead.fifo"];
  expect(inputsOf("Queue", work)).toEqual({
    name: work,
    region,
    fifoQueue: true,
    contentBasedDeduplication: false,
    deduplicationScope: "messageGroup",
    fifoThroughputLimit: "perMessageGroupId",
    visibilityTimeoutSeconds: 15,
    messageRetentionSeconds: 1_209_600,
    delaySeconds: 0,
    receiveWaitTimeSeconds: 20,
    maxMessageSize: 1_048_576,
    sqsManagedSseEnabled: true,
    redrivePolicy: `{"deadLetterTargetArn":"${queueArn(region, dead)}","maxReceiveCount":3}`,
    tags: { "redeliver:system": "shop", "redeliver:consumer": "billing", "redeliver:role": "work" },
  });
  expect(inputsOf("RedriveAllowPolicy", dead)).toEqual({
    queueUrl: queueUrl(region, dead),
    region,
    redriveAllowPolicy: `{"redrivePermission":"byQueue","sourceQueueArns":["${queueArn(region, work)}"]}`,
  });
  expect(inputsOf("RedriveAllowPolicy", work)).toMatchObject({ redriveAllowPolicy: '{"redrivePermission":"denyAll"}' });
  const policy = String((inputsOf("QueuePolicy", work) as Entry)["policy"]);
  expect(policy.startsWith('{"Version":"2012-10-17",')).toBe(true);
  expect(JSON.parse(policy)).toMatchObject({
    Statement: [
      { Effect: "Deny", Principal: "*", Condition: { Bool: { "aws:SecureTransport": "false" } } },
      { Effect: "Allow", Condition: { ArnEquals: { "aws:SourceArn": [topicArn(region, "shop-orders.fifo")] } } },
    ],
  });
  expect(inputsOf("TopicSubscription", `shop-orders.fifo/${work}`)).toEqual({
    topic: topicArn(region, "shop-orders.fifo"),
    region,
    protocol: "sqs",
    endpoint: queueArn(region, work),
    rawMessageDelivery: true,
    filterPolicyScope: "MessageAttributes",
    filterPolicy: '{"routing-key":["order.placed"]}',
    redrivePolicy: `{"deadLetterTargetArn":"${queueArn(region, "shop-billing-undelivered.fifo")}"}`,
  });
  expect(inputsOf("MetricAlarm", "shop-billing-dead.fifo-depth")).toMatchObject({
    statistic: "Maximum",
    treatMissingData: "notBreaching",
    alarmActions: ["arn:aws:sns:eu-west-1:000000000000:on-call"],
  });
});

test("the registered resources have the target's key, tags, functions and alarms on emptied dead queues", async () => {
  const run = await registerSqs(visible, full);
  const queues = resourcesOf(run, "Queue");
  expect(queues).toHaveLength(6);
  for (const { inputs } of queues) {
    expect(inputs).toMatchObject({
      kmsMasterKeyId: "alias/shop",
      tags: { team: "payments", "redeliver:system": "shop" },
    });
    expect(inputs).not.toHaveProperty("sqsManagedSseEnabled");
  }
  // Six times 30 s, and the window of 5 s.
  expect(queues.find(({ name }) => name === "shop-shop-billing")?.inputs).toMatchObject({
    visibilityTimeoutSeconds: 185,
  });
  const mapping = resourcesOf(run, "EventSourceMapping").find(({ name }) => name === "shop-shop-billing");
  expect(mapping?.inputs).toEqual({
    region,
    eventSourceArn: queueArn(region, "shop-billing"),
    functionName: "billing:live",
    enabled: true,
    batchSize: 50,
    maximumBatchingWindowInSeconds: 5,
    functionResponseTypes: ["ReportBatchItemFailures"],
    scalingConfig: { maximumConcurrency: 20 },
    tags: { team: "payments", "redeliver:system": "shop", "redeliver:consumer": "billing" },
  });
  const received = resourcesOf(run, "MetricAlarm").filter(({ inputs }) => inputs["statistic"] === "Sum");
  expect(received.map(({ name, inputs }) => [name, inputs["metricName"]])).toEqual([
    ["shop-shop-billing-dead-received", "NumberOfMessagesReceived"],
  ]);
});

test("the component's inputs have the declaration, and its outputs summarise the result", async () => {
  const run = await registerSqs(portable, target);
  const component = run.resources.find(({ type }) => type === "redeliver:sqs:RetryTopology");
  expect(component?.inputs).toEqual(
    JSON.parse(JSON.stringify({ declaration: portable, target: { broker: "sqs", region, strategy: "auto" } })),
  );
  // Five times the 40 s for which a receive hides a message, and 15 s of delays.
  expect(plan(portable).consumers[0]?.retry?.worstCaseToDeadLetterMs).not.toBe(215_000);
  expect(run.registeredOutputs.get(component?.urn ?? "")).toMatchObject({
    target: "sqs@eu-west-1",
    consumers: {
      billing: {
        strategy: "visibility",
        workQueue: "shop-billing",
        deadQueue: "shop-billing-dead",
        attempts: 5,
        worstCaseToDeadLetterMs: 215_000,
      },
    },
  });
  const place = (name: string): object => ({ name, url: queueUrl(region, name), arn: queueArn(region, name) });
  expect(run.outputs).toMatchObject({
    workQueues: { billing: place("shop-billing"), shipping: place("shop-shipping") },
    deadQueues: { billing: place("shop-billing-dead"), shipping: place("shop-shipping-dead") },
    topics: { orders: topicArn(region, "shop-orders"), payments: topicArn(region, "shop-payments") },
  });
  expect(run.outputs?.["contracts"]).toHaveLength(2);
  expect(run.log.join("\n")).toMatch(/^warning:.*\n+warning\[RD207\]/m);
});

describe("a refused declaration ends the program before any resource is registered", () => {
  const refusals: readonly (readonly [string, unknown, object, string])[] = [
    ["an unknown region", portable, { broker: "sqs", region: "eu-west-9" }, "error[RD201]"],
    ["a declaration that SQS cannot keep", oneConsumer({ crash: { deliveries: 2 } }), target, "error[RD203]"],
    ["another broker", portable, { broker: "rabbitmq", version: "4.3" }, "for RabbitMQ there is RetryTopology"],
  ];
  test.each(refusals)("%s", async (_, system, asked, words) => {
    const args = { system: system as System, target: asked as TargetInput<"sqs"> };
    const run = await runProgram(() => void new SqsRetryTopology("shop", args));
    expect(pulumi.RunError.isInstance(run.error)).toBe(true);
    expect(run.error?.message).toContain('RetryTopology "shop" is refused');
    expect(run.error?.message).toContain(words);
    expect(run.resources.map(({ type }) => type)).toEqual(["pulumi:pulumi:Stack"]);
  });
});

describe("a deployment to one broker needs only that broker's provider", () => {
  const cases = [
    ["rabbitmq", "@pulumi/aws"],
    ["sqs", "@pulumi/rabbitmq"],
  ] as const;
  test.each(cases)("deploying to %s needs no %s", (entry, missing) => {
    const script = `
      import { registerHooks } from "node:module";
      registerHooks({ resolve: (name, context, next) => {
        if (name.startsWith(${JSON.stringify(missing)})) throw new Error(name + " is not installed");
        return next(name, context);
      } });
      const names = Object.keys(await import(${JSON.stringify(new URL(`../../src/brokers/${entry}/make/index.ts`, import.meta.url).href)}));
      console.log(names.join(" "));
    `;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    expect(output).toMatch(/RetryTopology/);
  });
});
