import { queue, arnOf, topicArnOf } from "../sqs-listing.ts";

/** Resources of AWS that Redeliver did not make, and the declaration that they amount to. */
export interface AdoptedShape {
  /** The attributes by the name of the queue. A redrive policy names its queue as `dead`, with a count. */
  readonly queues: Readonly<Record<string, Readonly<Record<string, string>> & { readonly dead?: string }>>;
  readonly subscriptions?: readonly {
    readonly topic: string;
    readonly queue: string;
    readonly attributes: Readonly<Record<string, string>>;
  }[];
  readonly lambda?: { readonly queue: string; readonly timeout: number; readonly batchSize: number };
  /** By work queue: attempts, delay, handlerTimeout, and the dead queue. */
  readonly consumers: Readonly<Record<string, readonly [number, string | null, string | null, string]>>;
  /** The facts that the declaration cannot say. */
  readonly unsaid: readonly RegExp[];
  /** Settings of the target that its deployment needs. */
  readonly options?: { readonly deadQueue: "shared" };
}

const raw = { RawMessageDelivery: "true" };
const filtered = (...values: readonly unknown[]) => ({
  ...raw,
  FilterPolicy: JSON.stringify({ "routing-key": values }),
});
const days14 = { MessageRetentionPeriod: "1209600" };

const lettingIn = (bucket: string): string =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: "s3.amazonaws.com" },
        Action: "sqs:SendMessage",
        Resource: "*",
        Condition: { ArnLike: { "aws:SourceArn": bucket } },
      },
    ],
  });

/** A work queue with a visibility timeout, which sends a message to another queue after so many receives. */
const work = (visibility: number, dead: string, receives: number, more: Readonly<Record<string, string>> = {}) => {
  const base = { VisibilityTimeout: String(visibility), MessageRetentionPeriod: "345600", ...more };
  return { ...base, dead: `${receives} ${dead}` };
};

/** @param seconds the visibility timeout, which the tests on emulators wait for */
export const adoptedShapes = (seconds = 30): Readonly<Record<string, AdoptedShape>> => {
  const [delay, handler] = seconds === 30 ? ["10s", "20s"] : ["1s", "1s"];
  return {
    "a queue with a redrive policy, written by hand": {
      queues: { orders: work(seconds, "orders-dlq", 3, days14), "orders-dlq": days14 },
      consumers: { orders: [3, delay, handler, "orders-dlq"] },
      unsaid: [/MessageRetentionPeriod is 14d.* 13d/, /ChangeMessageVisibility/],
    },
    "a topic with filters for each queue": {
      queues: {
        billing: work(seconds, "billing-dlq", 2),
        shipping: work(seconds, "shipping-dlq", 4),
        "billing-dlq": {},
        "shipping-dlq": {},
      },
      subscriptions: [
        { topic: "events", queue: "billing", attributes: filtered("order.placed", { prefix: "refund." }, "refund") },
        { topic: "events", queue: "shipping", attributes: raw },
      ],
      consumers: { billing: [2, delay, handler, "billing-dlq"], shipping: [4, delay, handler, "shipping-dlq"] },
      unsaid: [/events: nothing shows who makes it/],
    },
    "a topic that wraps messages and filters by another attribute": {
      queues: { mail: work(seconds, "mail-failed", 2), "mail-failed": {} },
      subscriptions: [
        {
          topic: "users",
          queue: "mail",
          attributes: { FilterPolicy: JSON.stringify({ type: [{ prefix: "signed-" }] }) },
        },
      ],
      consumers: { mail: [2, delay, handler, "mail-failed"] },
      unsaid: [/RawMessageDelivery .* is off/],
    },
    "a FIFO queue with content-based deduplication": {
      queues: {
        "payments.fifo": work(seconds, "payments-dlq.fifo", 2, {
          FifoQueue: "true",
          ContentBasedDeduplication: "true",
        }),
        "payments-dlq.fifo": { FifoQueue: "true" },
      },
      consumers: { "payments.fifo": [2, delay, handler, "payments-dlq.fifo"] },
      unsaid: [/send a MessageDeduplicationId/],
    },
    // Source: getlift/lift, src/constructs/aws/Queue.ts.
    "the queue construct of serverless-lift": {
      queues: { "app-dev-jobs": work(6 * seconds, "app-dev-jobs-dlq", 3), "app-dev-jobs-dlq": days14 },
      lambda: { queue: "app-dev-jobs", timeout: seconds, batchSize: 1 },
      consumers: { "app-dev-jobs": [3, null, null, "app-dev-jobs-dlq"] },
      unsaid: [/the target: .*"lambda":.*"app-dev-jobs-worker"/],
    },
    // Source: kombu, `transport/SQS.py`: the queue of a task has no redrive policy, and a visibility timeout of 1800 s.
    "a queue of Celery": {
      queues: { celery: { VisibilityTimeout: seconds === 30 ? "1800" : String(seconds) } },
      consumers: { celery: [5, seconds === 30 ? "10s" : delay, seconds === 30 ? "1790s" : handler, "celery-dead"] },
      unsaid: [/Celery uses it: .*max_retries=3/, /no redrive policy ends its attempts today/],
    },
    "a queue for the events of a bucket": {
      queues: {
        scans: work(seconds, "scans-dlq", 2, { Policy: lettingIn("arn:aws:s3:::shop-scans") }),
        "scans-dlq": {},
      },
      consumers: { scans: [2, delay, handler, "scans-dlq"] },
      unsaid: [],
    },
    "dead-letter queues without a scheme": {
      queues: { eu: work(seconds, "eu-dlq", 2), us: work(seconds, "failures", 2), "eu-dlq": days14, failures: days14 },
      consumers: { eu: [2, delay, handler, "eu-dlq"], us: [2, delay, handler, "failures"] },
      unsaid: [],
    },
    "two queues with one dead-letter queue": {
      queues: { eu: work(seconds, "dlq", 2), us: work(seconds, "dlq", 2), dlq: days14 },
      consumers: { eu: [2, delay, handler, "dlq"], us: [2, delay, handler, "dlq"] },
      unsaid: [/the target: .*"deadQueue":"shared"/],
      options: { deadQueue: "shared" },
    },
    "three queues, and a dead-letter queue for two of them": {
      queues: {
        eu: work(seconds, "dlq", 2),
        us: work(seconds, "dlq", 2),
        mail: work(seconds, "mail-dead", 2),
        dlq: days14,
        "mail-dead": days14,
      },
      consumers: {
        eu: [2, delay, handler, "dlq"],
        us: [2, delay, handler, "dlq"],
        mail: [2, delay, handler, "mail-dead"],
      },
      unsaid: [/the target: .*"deadQueue":"shared"/],
      options: { deadQueue: "shared" },
    },
  };
};

/** The answers of AWS about a shape. */
export function listingOfShape({ queues, subscriptions = [], lambda }: AdoptedShape): readonly object[] {
  return [
    ...Object.entries(queues).map(([name, { dead, ...attributes }]) => {
      const [receives, target = ""] = dead?.split(" ") ?? [];
      const policy = { deadLetterTargetArn: arnOf(target), maxReceiveCount: Number(receives) };
      return queue(name, {
        VisibilityTimeout: 30,
        MessageRetentionPeriod: 345_600,
        SqsManagedSseEnabled: true,
        ...attributes,
        ...(dead === undefined ? {} : { RedrivePolicy: policy }),
      });
    }),
    { Subscriptions: [] },
    ...subscriptions.map(({ topic, queue: name, attributes }) => ({
      Attributes: {
        SubscriptionArn: `${topicArnOf(topic)}:${name}`,
        TopicArn: topicArnOf(topic),
        Protocol: "sqs",
        Endpoint: arnOf(name),
        RawMessageDelivery: "false",
        ...attributes,
      },
    })),
    { EventSourceMappings: lambda === undefined ? [] : [mappingOf(lambda)] },
    ...(lambda === undefined ? [] : [{ FunctionArn: mappingOf(lambda).FunctionArn, Timeout: lambda.timeout }]),
  ];
}

function mappingOf({ queue: name, batchSize }: NonNullable<AdoptedShape["lambda"]>) {
  return {
    UUID: "6f1c",
    EventSourceArn: arnOf(name),
    FunctionArn: `arn:aws:lambda:eu-west-1:123456789012:function:${name}-worker`,
    BatchSize: batchSize,
    MaximumBatchingWindowInSeconds: 0,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    State: "Enabled",
  };
}
