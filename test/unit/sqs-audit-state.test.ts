import { expect, describe, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { deploymentsInState } from "../../src/cli/audit-source.ts";
import type { Diagnostic } from "../../src/index.ts";
import { checked, shopWith } from "../support/examples.ts";
import { assignedByAws } from "../support/sqs/assigned-by-aws.ts";
import { compileSqs, registerSqs } from "../support/sqs/register.ts";
import { arnOf } from "../support/sqs-listing.ts";

const { auditor } = brokers.sqs;
const target = { broker: "sqs", region: "eu-west-1", strategy: "auto" } as const;

function stateOf(...resources: readonly object[]): string {
  return JSON.stringify({ version: 3, deployment: { resources } });
}

/** The findings about the AWS resources of a state. */
function reported(text: string): readonly Diagnostic[] {
  const found = deploymentsInState(text);
  if (!found.ok) return found.diagnostics;
  return found.value.flatMap(({ audited, deployment, warnings }) =>
    audited.name === "sqs" ? [...warnings, ...audited.auditor.audit(deployment, target, null)] : warnings,
  );
}

const codesOf = (text: string): string[] => [...new Set(reported(text).map(({ code }) => code))].toSorted();

const made = (type: string, name: string, outputs: object, rest: object = {}): object => ({
  type: `aws:${type}`,
  urn: `urn:pulumi:prod::shop::aws:${type}::${name}`,
  outputs,
  ...rest,
});
const url = (name: string): string => `https://sqs.eu-west-1.amazonaws.com/123456789012/${name}`;
const queue = (name: string, outputs: object = {}): object =>
  made("sqs/queue:Queue", name, { arn: arnOf(name), url: url(name), ...outputs });
const redrive = (name: string, maxReceiveCount = 5): string =>
  JSON.stringify({ deadLetterTargetArn: arnOf(name), maxReceiveCount });
const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:billing";

test("the resources of the component are the compiled topology, without any finding", async () => {
  const system = checked(
    shopWith({
      billing: {
        from: { orders: ["order.placed"] },
        retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } },
      },
      audit: {
        from: { orders: "all" },
        order: "per-key",
        handlerTimeout: "5s",
        retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } },
      },
    }),
  );
  const { resources } = await registerSqs(system, target);
  const state = stateOf(
    ...resources.map(({ type, name, urn, provider, inputs }) => ({
      type,
      urn,
      provider,
      outputs: { ...inputs, ...assignedByAws(type, inputs, name) },
    })),
  );
  expect(reported(state)).toEqual([]);
  const found = deploymentsInState(state);
  const { topology } = compileSqs(system, target);
  const queues = found.ok ? auditor.partsOf(found.value[0]?.deployment as never).map((part) => part.queues) : [];
  expect(queues).toEqual([topology.queues.length]);
});

describe("attributes that are separate resources", () => {
  test("count as attributes of the queue, and take precedence over the queue's own", () => {
    const denied = made("sqs/redriveAllowPolicy:RedriveAllowPolicy", "allow", {
      queueUrl: url("dead"),
      redriveAllowPolicy: JSON.stringify({ redrivePermission: "denyAll" }),
    });
    const policy = made("sqs/redrivePolicy:RedrivePolicy", "redrive", {
      queueUrl: url("orders"),
      redrivePolicy: redrive("dead"),
    });
    const open = made("sqs/queuePolicy:QueuePolicy", "open", {
      queueUrl: url("dead"),
      policy: JSON.stringify({
        Statement: [{ Effect: "Allow", Principal: "*", Action: "sqs:SendMessage", Resource: "*" }],
      }),
    });
    const queues = [queue("orders", { redrivePolicy: "" }), queue("dead", { policy: "" })];
    expect(codesOf(stateOf(...queues))).toEqual(["RD415"]);
    expect(codesOf(stateOf(...queues, policy))).toEqual([]);
    expect(codesOf(stateOf(...queues, policy, denied, open))).toEqual(["RD452", "RD455"]);
  });
});

describe("a stack is a part of an account", () => {
  test("a dead-letter queue outside the stack may be in another stack", () => {
    expect(codesOf(stateOf(queue("orders", { redrivePolicy: redrive("shared-dead") })))).toEqual([]);
  });

  test("a topic or a function alone gives nothing to audit", () => {
    expect(codesOf(stateOf(made("lambda/function:Function", "f", { arn: functionArn, timeout: 3 })))).toEqual([
      "RD401",
    ]);
  });

  test("queues of RabbitMQ in the same stack are audited separately", () => {
    const rabbitmq = {
      type: "rabbitmq:index/queue:Queue",
      urn: "urn:pulumi:prod::shop::rabbitmq:index/queue:Queue::orders",
      outputs: { name: "orders", settings: { durable: true } },
    };
    const found = deploymentsInState(stateOf(rabbitmq, queue("orders")));
    expect(found.ok && found.value.map(({ audited }) => audited.name)).toEqual(["rabbitmq", "sqs"]);
  });
});

describe("functions and subscriptions", () => {
  const queues = [
    queue("orders", { redrivePolicy: redrive("dead"), visibilityTimeoutSeconds: 30, policy: "" }),
    queue("dead"),
  ];
  const mapping = (outputs: object = {}): object =>
    made("lambda/eventSourceMapping:EventSourceMapping", "mapping", {
      eventSourceArn: arnOf("orders"),
      functionName: "billing",
      functionResponseTypes: ["ReportBatchItemFailures"],
      ...outputs,
    });
  const lambda = (timeout?: number): object =>
    made("lambda/function:Function", "billing", { arn: functionArn, timeout });

  test("a function is found by its name or its ARN, and its default timeout is 3 s", () => {
    expect(codesOf(stateOf(...queues, mapping(), lambda(60)))).toEqual(["RD450"]);
    expect(codesOf(stateOf(...queues, mapping({ functionName: functionArn, functionArn }), lambda(10)))).toEqual([
      "RD451",
    ]);
    expect(codesOf(stateOf(...queues, mapping(), lambda()))).toEqual([]);
    expect(codesOf(stateOf(...queues, mapping({ enabled: false }), lambda(60)))).toEqual([]);
  });

  test("the settings of the mapping are read", () => {
    const more = { batchSize: 100, functionResponseTypes: [], filterCriteria: { filters: [{ pattern: "{}" }] } };
    expect(codesOf(stateOf(...queues, mapping(more), lambda(3)))).toEqual(["RD462", "RD463"]);
  });

  test("a subscription without a dead-letter queue, refused by the queue's policy", () => {
    const subscription = made("sns/topicSubscription:TopicSubscription", "subscription", {
      protocol: "sqs",
      endpoint: arnOf("orders"),
      topic: "arn:aws:sns:eu-west-1:123456789012:orders",
      filterPolicy: "",
    });
    expect(codesOf(stateOf(...queues, subscription))).toEqual(["RD456", "RD457"]);
  });
});

describe("secret and unknown values", () => {
  const sealed = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"hunter2"' };
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

  test.each([sealed, unknown])("a queue without its ARN is left out and named: %j", (arn) => {
    const text = stateOf(
      made("sqs/queue:Queue", "name-in-program", { arn }),
      queue("dead", { redriveAllowPolicy: "" }),
    );
    expect(codesOf(text)).toEqual(["RD409", "RD415"]);
    expect(JSON.stringify(reported(text))).toContain("name-in-program");
    expect(JSON.stringify(reported(text))).not.toContain("hunter2");
  });

  test.each([sealed, unknown])("another unknown value gives no finding: %j", (value) => {
    const names = [
      "redrivePolicy",
      "policy",
      "visibilityTimeoutSeconds",
      "messageRetentionSeconds",
      "kmsMasterKeyId",
      "sqsManagedSseEnabled",
    ];
    const outputs = Object.fromEntries(names.map((name) => [name, value]));
    expect(codesOf(stateOf(queue("orders", outputs)))).toEqual([]);
    expect(codesOf(stateOf(queue("orders", { redriveAllowPolicy: value })))).toEqual([]);
  });
});
