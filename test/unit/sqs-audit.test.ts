import { describe, expect, test } from "vitest";

import { serviceMaySend } from "../../src/brokers/sqs/foreign/audit/policy-access.ts";
import { brokers } from "../../src/brokers/index.ts";
import { arnOf, codesIn, findingsIn, queue, redriveTo, topicArnOf } from "../support/sqs-listing.ts";

const { auditor } = brokers.sqs;
const dead = queue("dead", { MessageRetentionPeriod: 1_209_600 });
const usual = { VisibilityTimeout: 30, MessageRetentionPeriod: 345_600 };

describe("the form of a listing", () => {
  const codesOf = (data: unknown): readonly string[] => {
    const read = auditor.file.read(JSON.stringify(data));
    return read.ok ? ["read"] : read.diagnostics.map(({ code }) => code);
  };

  test.each([
    ["an empty list", []],
    ["a number", 1],
    ["a list of lists of queues", { QueueUrls: ["https://sqs.eu-west-1.amazonaws.com/123456789012/orders"] }],
    ["a definitions file", { rabbitmq_version: "4.3.6", queues: [] }],
  ])("%s holds no queue", (_, data) => {
    expect(codesOf(data)).toEqual(["RD401"]);
  });

  test("the refusal of a stack's state names its option", () => {
    const read = auditor.file.read('{"version":3,"deployment":{}}');
    expect(JSON.stringify(read)).toContain("--stack");
  });

  test.each([
    ["no ARN", { Attributes: { QueueArn: "orders" } }],
    ["an ARN of a topic", { Attributes: { QueueArn: topicArnOf("orders") } }],
    ["a number that is none", queue("orders", { VisibilityTimeout: "half a minute" })],
    ["a negative number", queue("orders", { MessageRetentionPeriod: -1 })],
    ["a redrive policy that is no JSON", queue("orders", { RedrivePolicy: "{" })],
    ["a redrive policy without a count", queue("orders", { RedrivePolicy: { deadLetterTargetArn: arnOf("dead") } })],
    ["a maxReceiveCount of 0", queue("orders", redriveTo("dead", 0))],
    ["an unknown permission", queue("orders", { RedriveAllowPolicy: { redrivePermission: "some" } })],
    ["a policy whose statements are texts", queue("orders", { Policy: { Statement: ["allow"] } })],
    ["an answer about something else", { Reservations: [] }],
    ["a subscription without a topic", { Subscriptions: [{ Protocol: "sqs", Endpoint: arnOf("orders") }] }],
    ["a mapping without a function", { EventSourceMappings: [{ EventSourceArn: arnOf("orders") }] }],
    ["a function with a timeout that is none", { FunctionArn: "arn:aws:lambda:a:1:function:f", Timeout: "long" }],
  ])("%s is one diagnostic, and nothing is audited", (_, answer) => {
    expect(codesOf([dead, answer, answer])).toEqual(["RD402"]);
  });

  test("a single queue is a listing, and numbers may be texts or numbers", () => {
    const answer = { Attributes: { QueueArn: arnOf("orders"), VisibilityTimeout: 30, MessageRetentionPeriod: "60" } };
    expect(codesOf(answer)).toEqual(["read"]);
    const redrive = { deadLetterTargetArn: arnOf("dead"), maxReceiveCount: "1" };
    expect(codesIn([queue("orders", { RedrivePolicy: redrive }), dead])).toEqual(["RD446"]);
  });

  test("a queue that occurs twice counts once", () => {
    expect(codesIn([queue("orders", redriveTo("dead")), queue("orders"), dead])).toEqual(["RD404"]);
  });

  test("subscriptions to other things than queues, and switched-off mappings, are skipped", () => {
    const answers = [
      { Subscriptions: [{ Protocol: "email", Endpoint: "on-call@example.com", TopicArn: topicArnOf("orders") }] },
      {
        EventSourceMappings: [
          { EventSourceArn: "arn:aws:kinesis:a:1:stream/s", FunctionArn: "f" },
          { EventSourceArn: arnOf("orders"), FunctionArn: "f", State: "Disabled", BatchSize: 10 },
        ],
      },
      { Topics: [{ TopicArn: topicArnOf("orders") }] },
    ];
    expect(codesIn([queue("orders", redriveTo("dead")), dead, ...answers])).toEqual([]);
  });
});

describe("a dead-letter queue is recognised", () => {
  const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:billing";

  test.each([
    ["a queue names it", queue("orders", redriveTo("other"))],
    [
      "a subscription names it",
      {
        Attributes: {
          SubscriptionArn: "s",
          TopicArn: topicArnOf("orders"),
          Protocol: "sqs",
          Endpoint: arnOf("elsewhere").replace("eu-west-1", "eu-west-2"),
          RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf("other") }),
        },
      },
    ],
    ["a function names it", { FunctionArn: functionArn, Timeout: 3, DeadLetterConfig: { TargetArn: arnOf("other") } }],
  ])("%s: it needs none itself", (_, answer) => {
    expect(codesIn([queue("other", usual), answer])).not.toContain("RD415");
    expect(codesIn([queue("other", usual)])).toEqual(["RD415"]);
  });

  test("by a list of its sources, or as a queue for topics if no subscriptions are listed", () => {
    const lists = { RedriveAllowPolicy: { redrivePermission: "byQueue", sourceQueueArns: [arnOf("orders")] } };
    expect(codesIn([queue("other", lists)])).toEqual([]);
    const allow = { Effect: "Allow", Principal: { Service: "sns.amazonaws.com" }, Action: "sqs:SendMessage" };
    const takesTopics = queue("other", { Policy: { Statement: allow } });
    expect(codesIn([takesTopics])).toEqual([]);
    expect(codesIn([takesTopics, { Subscriptions: [] }])).toEqual(["RD415"]);
  });
});

describe("a finding has the shortest way to it", () => {
  const notesOf = (code: string, answers: readonly unknown[]): readonly string[] =>
    findingsIn(answers).find((each) => each.code === code)?.notes ?? [];

  test("without a dead-letter queue a message is received until it is too old", () => {
    expect(notesOf("RD415", [queue("orders", usual)])).toEqual([
      "1. sent: visible in the queue",
      "2. received: hidden in the queue for 30 s from its receive",
      "3. its visibility timeout passes: visible in the queue",
      "4. received: hidden in the queue for 30 s from its receive",
      "and so on from step 3",
      "until it is 4 days old: then it is deleted",
    ]);
  });

  test("queues with the same finding share one diagnostic", () => {
    const findings = findingsIn([
      queue("a", usual),
      queue("b", usual),
      queue("c", { ...usual, VisibilityTimeout: 60 }),
    ]);
    expect(findings.map(({ message, value, path }) => [message, value ?? path])).toEqual([
      ["each of 2 queues has no dead-letter queue", ["a", "b"]],
      ["c has no dead-letter queue", "regions.eu-west-1.queues.c"],
    ]);
  });

  test("a message that must move to a missing queue", () => {
    expect(notesOf("RD411", [queue("orders", { ...usual, ...redriveTo("nowhere", 7) })])).toEqual([
      "1. sent: visible in orders",
      "2. received: hidden in orders for 30 s from its receive",
      "3. its visibility timeout passes: visible in orders",
      "4. receive 8 has to move it: lost at orders: the dead-letter queue does not exist",
      "AWS does not document the rest: SQS may deliver it for ever instead",
    ]);
  });

  test("retries that take longer than the dead-letter queue's retention end in an immediate deletion there", () => {
    const slow = queue("orders", {
      VisibilityTimeout: 3_600,
      MessageRetentionPeriod: 1_209_600,
      ...redriveTo("short"),
    });
    const [finding] = findingsIn([slow, queue("short", { MessageRetentionPeriod: 14_400 })]);
    expect(finding).toMatchObject({
      code: "RD449",
      message: "orders has retries that can take 5 hours, and its dead-letter queue short keeps one for 4 hours",
      path: "regions.eu-west-1.queues.orders",
    });
    expect(finding?.notes).toContain(
      "4. receive 6 has to move it: lost at short: SQS deletes it at the end of its retention",
    );
  });
});

test("a finding about retries names only the queue that causes them", () => {
  const slow = { VisibilityTimeout: 43_200, MessageRetentionPeriod: 345_600 };
  const chain = [
    queue("orders", { ...usual, ...redriveTo("middle") }),
    queue("middle", { ...slow, ...redriveTo("end", 100) }),
  ];
  const late = findingsIn([...chain, queue("end", { MessageRetentionPeriod: 1_209_600 })]).filter(
    ({ code }) => code === "RD449",
  );
  expect(late.map(({ message }) => message)).toEqual([
    "middle has retries that can take 50 days, and keeps a message for 4 days",
  ]);
});

describe("unknown facts give no finding", () => {
  test("for a queue that is known only by its ARN", () => {
    expect(codesIn([queue("orders", redriveTo("dead")), queue("dead")])).toEqual([]);
  });

  test("for a function with an unlisted timeout", () => {
    const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:billing:live";
    const mapping = { EventSourceMappings: [{ EventSourceArn: arnOf("orders"), FunctionArn: functionArn }] };
    const orders = queue("orders", { ...usual, ...redriveTo("dead") });
    expect(codesIn([orders, dead, mapping])).toEqual([]);
    // An alias has its function's timeout, unless the listing gives it another.
    const own = { FunctionArn: functionArn.replace(/:live$/, ""), Timeout: 60 };
    expect(codesIn([orders, dead, mapping, own])).toEqual(["RD450"]);
    expect(codesIn([orders, dead, mapping, own, { FunctionArn: functionArn, Timeout: 5 }])).toEqual([]);
  });

  test("for a dead-letter queue in a region that was not read", () => {
    const redrive = { deadLetterTargetArn: arnOf("dead").replace("eu-west-1", "us-east-1"), maxReceiveCount: 5 };
    expect(codesIn([queue("orders", { ...usual, RedrivePolicy: redrive })])).toEqual(["RD442"]);
  });
});

test("and queues of several accounts and regions are judged separately, and named with their account", () => {
  const elsewhere = (name: string, account: string): object => ({
    Attributes: { QueueArn: `arn:aws:sqs:us-east-1:${account}:${name}`, VisibilityTimeout: "0" },
  });
  const read = auditor.file.read(JSON.stringify([queue("orders"), elsewhere("orders", "1"), elsewhere("dead", "2")]));
  if (!read.ok) throw new Error("it is read");
  const parts = auditor.partsOf(read.value);
  expect(parts.map(({ name, queues }) => [name, queues])).toEqual([
    ["eu-west-1 of 123456789012", 1],
    ["us-east-1 of 1", 1],
    ["us-east-1 of 2", 1],
  ]);
});

describe("the policy of a queue towards a topic", () => {
  const [arn, topic] = [arnOf("orders"), topicArnOf("orders")];
  const sns = {
    Effect: "Allow",
    Principal: { Service: "sns.amazonaws.com" },
    Action: "sqs:SendMessage",
    Resource: arn,
  };
  const on = (operator: string, value: unknown, key = "aws:SourceArn"): object => ({
    ...sns,
    Condition: { [operator]: { [key]: value } },
  });
  const tlsOnly = { Effect: "Deny", Principal: "*", Action: "sqs:*", Resource: "*" };

  test.each<[string, readonly object[], "yes" | "no" | "unknown"]>([
    ["no policy", [], "no"],
    ["the service, without a condition", [sns], "yes"],
    ["everybody", [{ ...sns, Principal: "*" }], "yes"],
    ["another service", [{ ...sns, Principal: { Service: "s3.amazonaws.com" } }], "no"],
    ["another action", [{ ...sns, Action: "sqs:ReceiveMessage" }], "no"],
    ["all actions, in any case", [{ ...sns, Action: ["SQS:Send*"] }], "yes"],
    ["another queue", [{ ...sns, Resource: arnOf("other") }], "no"],
    ["the topic", [on("ArnEquals", topic)], "yes"],
    ["one of two topics", [on("StringEquals", [topicArnOf("other"), topic])], "yes"],
    ["another topic", [on("ArnEquals", topicArnOf("other"))], "no"],
    ["topics of a pattern", [on("ArnLike", "arn:aws:sns:*:*:ord?rs")], "yes"],
    ["a pattern where texts are compared whole", [on("StringEquals", "arn:aws:sns:*")], "no"],
    ["the account", [on("StringEquals", "123456789012", "AWS:SourceAccount")], "yes"],
    ["another account", [on("StringEquals", "210987654321", "aws:SourceAccount")], "no"],
    ["a condition that is not evaluated", [on("IpAddress", "10.0.0.0/8", "aws:SourceIp")], "unknown"],
    ["TLS alone", [sns, { ...tlsOnly, Condition: { Bool: { "aws:SecureTransport": "false" } } }], "yes"],
    ["a denial of everything", [sns, tlsOnly], "no"],
    ["a denial with a condition", [sns, { ...tlsOnly, Condition: { Null: { "aws:SourceVpce": "true" } } }], "unknown"],
    [
      "a denial of everything but one action",
      [sns, { Effect: "Deny", Principal: "*", NotAction: "sqs:SendMessage" }],
      "unknown",
    ],
  ])("%s", (_, statements, access) => {
    expect(serviceMaySend(statements as never, arn, topic)).toBe(access);
  });

  test("a stranger's slow pattern is compared quickly", () => {
    const evil = on("ArnLike", `${"*a".repeat(5_000)}b`);
    expect(serviceMaySend([evil] as never, arn, `${topic}${"a".repeat(2_000)}`)).toBe("no");
  });
});

describe("a policy that lets anyone send", () => {
  const allow = { Effect: "Allow", Principal: { AWS: "*" }, Action: "sqs:*", Resource: "*" };
  test.each<[string, readonly object[], boolean]>([
    ["an open statement", [allow], true],
    ["with an empty condition", [{ ...allow, Condition: {} }], true],
    ["within the account", [{ ...allow, Condition: { StringEquals: { "aws:SourceAccount": "1" } } }], false],
    ["an account", [{ ...allow, Principal: { AWS: "arn:aws:iam::1:root" } }], false],
    [
      "taken back by a denial",
      [allow, { ...allow, Effect: "Deny", Condition: { StringNotEquals: { "aws:PrincipalOrgID": "o-1" } } }],
      false,
    ],
  ])("%s", (_, statements, isOpen) => {
    const codes = codesIn([queue("orders", { ...redriveTo("dead"), Policy: { Statement: statements } }), dead]);
    expect(codes).toEqual(isOpen ? ["RD455"] : []);
  });
});

describe("a filter that no message matches", () => {
  test.each([
    [{ key: [] }, true],
    [{ key: ["a"], other: [] }, true],
    [{ key: [{ numeric: [">", 5, "<", 5] }] }, true],
    [{ key: [{ numeric: [">=", 5, "<=", 5] }] }, false],
    [{ key: [{ numeric: [">", 10, "<", 5] }, "a"] }, false],
    [{ body: { inner: [] } }, true],
    [{ $or: [{ key: [] }] }, false],
    [{ key: [{ exists: false }] }, false],
    [{}, false],
  ])("%j", (filter, isImpossible) => {
    const subscription = {
      SubscriptionArn: "s",
      TopicArn: topicArnOf("orders"),
      Protocol: "sqs",
      Endpoint: arnOf("orders"),
      FilterPolicy: JSON.stringify(filter),
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf("dead") }),
    };
    const open = {
      Policy: { Statement: [{ Effect: "Allow", Principal: { Service: "sns.amazonaws.com" }, Action: "*" }] },
    };
    const letsIn = queue("dead", { MessageRetentionPeriod: 1_209_600, ...open });
    const codes = codesIn([queue("orders", { ...redriveTo("dead"), ...open }), letsIn, { Attributes: subscription }]);
    expect(codes).toEqual(isImpossible ? ["RD458"] : []);
  });
});
