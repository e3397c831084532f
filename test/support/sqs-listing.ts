import { queuePolicy } from "../../src/brokers/sqs/compile/queue-policy.ts";
import { brokers, type CompiledSystem, type Diagnostic, renderDiagnostics } from "../../src/index.ts";

type Topology = CompiledSystem<"sqs">["topology"];
type Queue = Topology["queues"][number];

const { auditor } = brokers.sqs;
const target = { broker: "sqs", region: "eu-west-1", strategy: "auto" } as const;

/** The findings of an audit on AWS's answers in a file. */
export function findingsIn(answers: readonly unknown[]): readonly Diagnostic[] {
  const read = auditor.file.read(JSON.stringify(answers));
  if (!read.ok) throw new Error(renderDiagnostics(read.diagnostics));
  return [...read.warnings, ...auditor.audit(read.value, target, null)];
}

export function codesIn(answers: readonly unknown[]): string[] {
  return [...new Set(findingsIn(answers).map(({ code }) => code))].toSorted();
}

const place = "eu-west-1:123456789012";
export const arnOf = (name: string): string => `arn:aws:sqs:${place}:${name}`;
export const topicArnOf = (name: string): string => `arn:aws:sns:${place}:${name}`;

/** AWS's answer about a queue, each value a text. */
export function queue(name: string, attributes: Readonly<Record<string, unknown>> = {}): object {
  const text = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const given = Object.entries(attributes).map(([key, value]) => [key, text(value)]);
  return { Attributes: { QueueArn: arnOf(name), ...Object.fromEntries(given) } };
}

export function redriveTo(name: string, maxReceiveCount = 5): Readonly<Record<string, unknown>> {
  return { RedrivePolicy: { deadLetterTargetArn: arnOf(name), maxReceiveCount } };
}

/**
 * AWS's answers about a whole topology after its deployment.
 *
 * @param timeouts of the functions, in seconds, by their consumers, because the topology has none
 */
export function listingOf(
  { queues, subscriptions, mappings }: Topology,
  timeouts: Readonly<Record<string, number>> = {},
): readonly object[] {
  const functionArnOf = (name: string): string => `arn:aws:lambda:${place}:function:${name}`;
  return [
    ...queues.map(answerOf),
    { Subscriptions: [] },
    ...subscriptions.map((subscription) => ({
      Attributes: {
        SubscriptionArn: `${topicArnOf(subscription.topic)}:1`,
        TopicArn: topicArnOf(subscription.topic),
        Protocol: "sqs",
        Endpoint: arnOf(subscription.queue),
        RawMessageDelivery: "true",
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf(subscription.deadQueue) }),
        ...(subscription.filterPolicy === null ? {} : { FilterPolicy: JSON.stringify(subscription.filterPolicy) }),
      },
    })),
    {
      EventSourceMappings: mappings.map((mapping) => ({
        EventSourceArn: arnOf(mapping.queue),
        FunctionArn: functionArnOf(mapping.functionName),
        BatchSize: mapping.batchSize,
        MaximumBatchingWindowInSeconds: mapping.batchWindowSeconds,
        FunctionResponseTypes: mapping.functionResponseTypes,
        ...(mapping.maximumConcurrency === null
          ? {}
          : { ScalingConfig: { MaximumConcurrency: mapping.maximumConcurrency } }),
        State: "Enabled",
      })),
    },
    ...mappings.map(({ functionName, consumer }) => ({
      FunctionArn: functionArnOf(functionName),
      Timeout: timeouts[consumer],
    })),
  ];
}

function answerOf(given: Queue): object {
  const { redrive, redriveAllow, encryption } = given;
  return queue(given.name, {
    VisibilityTimeout: given.visibilityTimeoutSeconds,
    MessageRetentionPeriod: given.retentionSeconds,
    DelaySeconds: given.delaySeconds,
    Policy: queuePolicy(given, { queue: arnOf, topic: topicArnOf }),
    ...(encryption.kind === "sqs" ? { SqsManagedSseEnabled: true } : { KmsMasterKeyId: encryption.keyId }),
    ...(redrive === null ? {} : redriveTo(redrive.deadQueue, redrive.maxReceiveCount)),
    RedriveAllowPolicy:
      redriveAllow.permission === "byQueue"
        ? { redrivePermission: "byQueue", sourceQueueArns: redriveAllow.sourceQueues.map(arnOf) }
        : { redrivePermission: redriveAllow.permission },
  });
}
