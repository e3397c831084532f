import type { ExamplePair, ExportExample } from "../example.ts";

const place = "eu-west-1:123456789012";
const arnOf = (name: string): string => `arn:aws:sqs:${place}:${name}`;
const topic = `arn:aws:sns:${place}:orders`;

type Attributes = Readonly<Record<string, string>>;

/** A queue as `aws sqs get-queue-attributes` prints it, with only the attributes that matter. */
function queue(name: string, attributes: Attributes = {}): object {
  const usual = { VisibilityTimeout: "30", MessageRetentionPeriod: "345600", SqsManagedSseEnabled: "true" };
  return { Attributes: { QueueArn: arnOf(name), ...usual, ...attributes } };
}

function redrive(target: string, maxReceiveCount = 5): Attributes {
  const deadLetterTargetArn = target.startsWith("arn:") ? target : arnOf(target);
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }) };
}

function dead(name = "orders-dead", attributes: Attributes = {}): object {
  return queue(name, { MessageRetentionPeriod: "1209600", ...attributes });
}

function allow(permission: string, sources: readonly string[] = []): Attributes {
  const policy = {
    redrivePermission: permission,
    ...(sources.length === 0 ? {} : { sourceQueueArns: sources.map(arnOf) }),
  };
  return { RedriveAllowPolicy: JSON.stringify(policy) };
}

function policy(principal: unknown, condition?: object): Attributes {
  const statement = { Effect: "Allow", Principal: principal, Action: "sqs:SendMessage", Resource: "*" };
  const whole = { ...statement, ...(condition === undefined ? {} : { Condition: condition }) };
  return { Policy: JSON.stringify({ Version: "2012-10-17", Statement: [whole] }) };
}

const sns = { Service: "sns.amazonaws.com" };
const letsTopicIn = policy(sns, { ArnEquals: { "aws:SourceArn": topic } });

/** A subscription as `aws sns get-subscription-attributes` prints it. */
function subscription(attributes: Attributes = {}, from = topic, to = "orders"): object {
  const ends = { SubscriptionArn: `${from}:1`, TopicArn: from, Protocol: "sqs", Endpoint: arnOf(to) };
  const policies = { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf("orders-undelivered") }) };
  return { Attributes: { ...ends, ...policies, ...attributes } };
}

const functionArn = `arn:aws:lambda:${place}:function:billing`;

/** The outputs of `aws lambda list-event-source-mappings` and `get-function-configuration`. */
function lambda(timeout: number, mapping: object = {}): readonly object[] {
  const usual = { BatchSize: 10, FunctionResponseTypes: ["ReportBatchItemFailures"], State: "Enabled" };
  return [
    { EventSourceMappings: [{ EventSourceArn: arnOf("orders"), FunctionArn: functionArn, ...usual, ...mapping }] },
    { FunctionArn: functionArn, Timeout: timeout },
  ];
}

function listing(...answers: readonly object[]): ExportExample {
  return {
    kind: "export",
    option: "sqs",
    noun: "a listing of AWS",
    text: `[\n${answers.map((each) => `  ${JSON.stringify(each)}`).join(",\n")}\n]\n`,
  };
}

const orders = queue("orders", redrive("orders-dead"));
const sound = listing(orders, dead());

/** A queue behind a topic, with a dead-letter queue for the queue and one for the subscription. */
function subscribed(given: object, queueAttributes: Attributes = letsTopicIn): ExportExample {
  const undelivered = dead("orders-undelivered", letsTopicIn);
  return listing(queue("orders", { ...redrive("orders-dead"), ...queueAttributes }), dead(), undelivered, given);
}

/** The same, but all of it except the topic is FIFO. */
function subscribedInOrder(from: string): ExportExample {
  const letIn = policy(sns, { ArnEquals: { "aws:SourceArn": from } });
  const undelivered = { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf("orders-undelivered.fifo") }) };
  return listing(
    queue("orders.fifo", { ...redrive("orders-dead.fifo"), ...letIn }),
    dead("orders-dead.fifo"),
    dead("orders-undelivered.fifo", letIn),
    subscription(undelivered, from, "orders.fifo"),
  );
}

const eleven = Array.from({ length: 11 }, (_, index) => `orders-${index + 1}`);

/** RD44x to RD46x: the findings of an audit of Amazon SQS. */
export const auditExamples = {
  RD442: {
    fires: listing(queue("orders", redrive("arn:aws:sqs:us-east-1:123456789012:orders-dead"))),
    quiet: sound,
  },
  RD443: {
    fires: listing(queue("orders.fifo", redrive("orders-dead")), dead()),
    quiet: listing(queue("orders.fifo", redrive("orders-dead.fifo")), dead("orders-dead.fifo")),
  },
  RD444: {
    fires: listing(queue("orders", redrive("orders-dead")), dead("orders-dead", redrive("orders"))),
    quiet: sound,
  },
  RD445: {
    fires: listing(orders, dead("orders-dead", redrive("orders-buried")), dead("orders-buried")),
    quiet: sound,
  },
  RD446: { fires: listing(queue("orders", redrive("orders-dead", 1)), dead()), quiet: sound },
  RD447: {
    fires: listing(queue("orders", redrive("orders-dead", 3)), dead(), ...lambda(5)),
    quiet: listing(orders, dead(), ...lambda(5)),
  },
  RD448: { fires: listing(orders, queue("orders-dead")), quiet: sound },
  RD449: {
    fires: listing(queue("orders", { ...redrive("orders-dead", 10), VisibilityTimeout: "43200" }), dead()),
    quiet: listing(queue("orders", { ...redrive("orders-dead", 5), VisibilityTimeout: "43200" }), dead()),
  },
  RD450: {
    fires: listing(orders, dead(), ...lambda(60)),
    quiet: listing(queue("orders", { ...redrive("orders-dead"), VisibilityTimeout: "360" }), dead(), ...lambda(60)),
  },
  RD451: {
    fires: listing(orders, dead(), ...lambda(10)),
    quiet: listing(orders, dead(), ...lambda(5)),
  },
  RD452: {
    fires: listing(orders, dead("orders-dead", allow("denyAll"))),
    quiet: listing(orders, dead("orders-dead", allow("byQueue", ["orders"]))),
  },
  RD453: {
    fires: listing(orders, dead("orders-dead", allow("byQueue", eleven))),
    quiet: listing(orders, dead("orders-dead", allow("byQueue", ["orders", ...eleven.slice(0, 9)]))),
  },
  RD454: {
    fires: listing(queue("orders", { ...redrive("orders-dead"), SqsManagedSseEnabled: "false" }), dead()),
    quiet: sound,
  },
  RD455: {
    fires: listing(queue("orders", { ...redrive("orders-dead"), ...policy("*") }), dead()),
    quiet: listing(
      queue("orders", {
        ...redrive("orders-dead"),
        ...policy("*", { StringEquals: { "aws:PrincipalOrgID": "o-a1b2c3d4e5" } }),
      }),
      dead(),
    ),
  },
  RD456: {
    fires: listing(
      queue("orders", { ...redrive("orders-dead"), ...letsTopicIn }),
      dead(),
      subscription({ RedrivePolicy: "" }),
    ),
    quiet: subscribed(subscription()),
  },
  RD457: { fires: subscribed(subscription(), {}), quiet: subscribed(subscription()) },
  RD458: {
    fires: subscribed(subscription({ FilterPolicy: '{"routing-key":[]}' })),
    quiet: subscribed(subscription({ FilterPolicy: '{"routing-key":["order.placed"]}' })),
  },
  RD459: { fires: subscribedInOrder(topic), quiet: subscribedInOrder(`${topic}.fifo`) },
  RD460: {
    fires: listing(queue("orders", { ...redrive("orders-dead"), VisibilityTimeout: "0" }), dead()),
    quiet: sound,
  },
  RD461: {
    fires: listing(orders, dead(), dead("orders-undelivered", letsTopicIn), subscription({}, topic, "deliveries")),
    quiet: subscribed(subscription()),
  },
  RD462: {
    fires: listing(orders, dead(), ...lambda(5, { FunctionResponseTypes: [] })),
    quiet: listing(orders, dead(), ...lambda(5)),
  },
  RD463: {
    fires: listing(
      orders,
      dead(),
      ...lambda(5, { FilterCriteria: { Filters: [{ Pattern: '{"body":{"kind":["a"]}}' }] } }),
    ),
    quiet: listing(orders, dead(), ...lambda(5)),
  },
  RD464: {
    fires: subscribed(subscription(), { ...letsTopicIn, KmsMasterKeyId: "alias/aws/sqs" }),
    quiet: subscribed(subscription(), { ...letsTopicIn, KmsMasterKeyId: "alias/orders" }),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
