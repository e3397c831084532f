import { describe, expect, test } from "vitest";

import { deploymentsInState } from "../../src/cli/audit-source.ts";
import { brokers, parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";
import { adopting, adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { arnOf, queue, redriveTo, topicArnOf } from "../support/sqs-listing.ts";

// No queue takes a dead-letter queue from another one, and none puts its letters among those of others.

const adopt = (listing: readonly object[], queues: readonly string[] = []): Adopted => {
  const adopted = adopting(
    { kind: "adopt", text: JSON.stringify(listing), queues: [...queues] },
    "sqs@eu-west-1",
    "shop",
    "sqs",
  );
  return adopted.ok ? adopted.value : expect.unreachable(adopted.diagnostics[0]?.message);
};
const deadQueuesOf = ({ proved }: Adopted) =>
  Object.fromEntries(proved.compiled.contracts.map(({ workQueue, deadQueue }) => [workQueue, deadQueue]));

describe("a dead-letter queue of others", () => {
  test("that are not adopted stays theirs", () => {
    const listing = [
      ...["billing", "refunds"].map((name) => queue(name, redriveTo("finance-dlq"))),
      ...["a.fifo", "b.fifo"].map((name) => queue(name, redriveTo("all-dlq.fifo"))),
      ...["finance-dlq", "all-dlq.fifo", "mail-dlq"].map((name) => queue(name)),
      queue("mail", redriveTo("mail-dlq")),
    ];
    const some = adopt(listing, ["billing", "mail"]);
    expect(some.draft.options).toEqual({ deadQueue: "shared" });
    const fifo = adopt(listing, ["a.fifo"]);
    expect(deadQueuesOf(fifo)).toEqual({ "a.fifo": "a-dead.fifo" });
    expect(factsOf(fifo)).toContainEqual(expect.stringMatching(/^all-dlq: other queues have their letters there, too/));
  });
  test("is not taken for the name that it begins with", () => {
    const adopted = adopt([
      queue("orders"),
      queue("orders-eu", redriveTo("orders-eu-failed")),
      queue("orders-eu-failed"),
    ]);
    expect(deadQueuesOf(adopted)["orders-eu"]).toBe("orders-eu-failed");
    expect(adopted.draft.warnings).toEqual([]);
  });
  test("is not taken by a template of names", () => {
    const adopted = adopt([
      ...["mail", "sms"].flatMap((name) => [queue(name, redriveTo(`${name}-dlq`)), queue(`${name}-dlq`)]),
      queue("orders", redriveTo("orders-retry")),
      queue("orders-retry", redriveTo("orders-dlq")),
      queue("orders-dlq"),
      // Senders make it a work queue, although another one dead-letters to it.
      { Attributes: { TopicArn: topicArnOf("late"), Protocol: "sqs", Endpoint: arnOf("orders-retry") } },
    ]);
    expect(deadQueuesOf(adopted)).toMatchObject({ mail: "mail-dlq", "orders-retry": "orders-dlq" });
    expect(deadQueuesOf(adopted)["orders"]).not.toBe("orders-dlq");
  });
});

test("two groups with a dead-letter queue each do not share one", () => {
  const groups = { "finance-dlq": ["billing", "refunds"], "mail-dlq": ["mail", "sms", "push"] };
  const adopted = adopt(
    Object.entries(groups).flatMap(([dead, names]) => [
      queue(dead),
      ...names.map((name) => queue(name, redriveTo(dead))),
    ]),
  );
  expect(deadQueuesOf(adopted)).toEqual({
    billing: "billing-dead",
    refunds: "refunds-dead",
    mail: "mail-dlq",
    sms: "mail-dlq",
    push: "mail-dlq",
  });
  expect(factsOf(adopted).filter((each) => each.startsWith("finance-dlq: "))).toHaveLength(2);
});

test("the end of a grant for a topic of another account changes the behaviour, also if others have subscribed it", () => {
  const partner = topicArnOf("partner").replace("123456789012", "999999999999");
  const letIn = (name: string) => ({
    Policy: {
      Statement: [
        {
          Effect: "Allow",
          Action: "sqs:SendMessage",
          Resource: arnOf(name),
          Principal: { Service: "sns.amazonaws.com" },
          Condition: { ArnEquals: { "aws:SourceArn": partner } },
        },
      ],
    },
  });
  const adopted = adoptText(
    JSON.stringify([
      ...["a", "b"].flatMap((name) => [
        queue(name, { ...redriveTo(`${name}-dlq`), ...letIn(name) }),
        queue(`${name}-dlq`),
      ]),
      { Attributes: { SubscriptionArn: `${partner}:1`, TopicArn: partner, Protocol: "sqs", Endpoint: arnOf("a") } },
    ]),
    "sqs@eu-west-1",
    "shop",
    "sqs",
  );
  expect(adopted.judged?.find(({ name }) => name === "b")).toMatchObject({
    effect: "otherwise",
    reason: expect.stringContaining("lets in") as unknown,
  });
});

test("the most batches of a function at a time are read from a state, and compared", () => {
  const functionArn = arnOf("f").replace(":sqs:", ":lambda:").replace(/f$/, "function:f");
  const made = (type: string, outputs: object): object => {
    return {
      type: `aws:${type}`,
      urn: `urn:pulumi:prod::shop::aws:${type}::${JSON.stringify(outputs).length}`,
      outputs,
    };
  };
  const stateWith = (scaling: object): Adopted => {
    const state = {
      version: 3,
      deployment: {
        resources: [
          made("sqs/queue:Queue", { name: "f-dlq", arn: arnOf("f-dlq") }),
          made("sqs/queue:Queue", {
            name: "f",
            arn: arnOf("f"),
            redrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf("f-dlq"), maxReceiveCount: 5 }),
            visibilityTimeoutSeconds: 180,
          }),
          made("lambda/function:Function", { arn: functionArn, timeout: 30 }),
          made("lambda/eventSourceMapping:EventSourceMapping", {
            eventSourceArn: arnOf("f"),
            functionName: "f",
            functionArn,
            functionResponseTypes: ["ReportBatchItemFailures"],
            batchSize: 10,
            ...scaling,
          }),
        ],
      },
    };
    const found = deploymentsInState(JSON.stringify(state));
    const target = parseTarget("sqs@eu-west-1");
    if (!found.ok || !target.ok) expect.unreachable();
    const [{ deployment } = { deployment: null }] = found.value;
    const adopted = adoptDeployment(deployment, target.value, { name: "shop", queues: [] });
    return adopted.ok ? adopted.value : expect.unreachable();
  };
  const limited = stateWith({ scalingConfig: { maximumConcurrency: 20 } });
  expect(limited.draft.options).toMatchObject({ lambda: { f: { maximumConcurrency: 20 } } });
  expect(limited.judged?.filter(({ kind }) => kind === "mapping")).toEqual([]);
  const open = stateWith({});
  const drift = brokers.sqs.differ.compare(
    brokers.sqs.differ.deploymentOf(open.proved.compiled as never),
    limited.proved.compiled as never,
    limited.proved.target as never,
  );
  expect(drift.ok && drift.value.differences.map(({ kind, settings }) => [kind, settings])).toEqual([
    ["mapping", [{ key: "ScalingConfig", declared: 20, deployed: "none" }]],
  ]);
});

test.each([
  "ShopStack-BillingDeadLetterQueue9F8E7D6C-QwErTyUiOpAs",
  "ShopStack-ImportsDLQ07B1E2F3-AbCdEf123456",
  "shop-prod-OrdersDLQ-9Z8Y7X6W5V4U",
])("%s has a random end, and is a dead-letter queue although a function takes its letters", (name) => {
  const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:alert";
  const adopted = adopt([
    queue("orders", redriveTo(name)),
    queue(name),
    {
      EventSourceMappings: [{ EventSourceArn: arnOf(name), FunctionArn: functionArn, BatchSize: 10, State: "Enabled" }],
    },
    { FunctionArn: functionArn, Timeout: 10 },
  ]);
  expect(deadQueuesOf(adopted)).toEqual({ orders: name });
});

/** A function takes the messages of a queue in order. */
const calledInOrder = (mapping: object) => {
  const FunctionArn = "arn:aws:lambda:eu-west-1:123456789012:function:f";
  const called = { EventSourceArn: arnOf("pay.fifo"), FunctionArn, State: "Enabled", ...mapping };
  return [{ EventSourceMappings: [called] }, { FunctionArn, Timeout: 3 }];
};
const inOrder = (name: string, dead: string) => queue(`${name}.fifo`, { FifoQueue: true, ...redriveTo(dead) });
const ofWindow = { BatchSize: 1, MaximumBatchingWindowInSeconds: 5 };

test("a queue in order is judged alone without the dead-letter queue that others share", () => {
  const adopted = adopt([
    ...["mail", "sms"].map((name) => queue(name, redriveTo("all-dlq"))),
    queue("all-dlq"),
    ...["pay", "ship"].flatMap((name) => [
      inOrder(name, `${name}-dlq.fifo`),
      queue(`${name}-dlq.fifo`, { FifoQueue: true }),
    ]),
    ...calledInOrder(ofWindow),
  ]);
  expect(deadQueuesOf(adopted)).toEqual({ mail: "all-dlq", sms: "all-dlq", "ship.fifo": "ship-dlq.fifo" });
  expect(adopted.refused).toEqual([
    { place: "pay", fact: expect.stringMatching(/^it is left out: a FIFO queue has no batch window/) },
  ]);
});

test("a queue that is left out keeps its dead-letter queue", () => {
  const both = [inOrder("pay", "all.fifo"), inOrder("ship", "all.fifo"), queue("all.fifo", { FifoQueue: true })];
  const adopted = adopt([...both, ...calledInOrder(ofWindow)]);
  expect(deadQueuesOf(adopted)).toEqual({ "ship.fifo": "ship-dead.fifo" });
  expect(adopted.unsaid).toContainEqual({ place: "all", fact: expect.stringMatching(/so ship gets another/) });
  expect(adopted.unsaid.map(({ place }) => place)).toContain("pay");
});

test("a function that gets ten messages of a queue in order gets one", () => {
  const queues = [inOrder("pay", "pay-dlq.fifo"), queue("pay-dlq.fifo", { FifoQueue: true })];
  const adopted = adopt([...queues, ...calledInOrder({ BatchSize: 10 })]);
  expect(deadQueuesOf(adopted)).toEqual({ "pay.fifo": "pay-dlq.fifo" });
  expect(adopted.draft.options).toMatchObject({ lambda: { pay: expect.not.objectContaining({ batchSize: 10 }) } });
  expect(factsOf(adopted).join()).toMatch(/its function gets 10 messages at once, and in order it gets one/);
});
