import type { ConsumerPlan, Plan } from "../../plan/plan.ts";
import { sqsDefaults, sqsLimits } from "./capabilities.ts";
import type { ContractSource } from "./contract.ts";
import { filterOf, routingKeyAttribute } from "./filter.ts";
import { alarmName, topicName } from "./names.ts";
import type { Retention } from "./retention.ts";
import type { StrategyInput } from "./strategies/strategy.ts";
import type { DepthAlarm, LambdaMapping, SnsSubscription, SnsTopic, SqsQueue } from "./topology.ts";

/** Collects the resources of a topology while the consumers are compiled one after the other. */
export interface TopologyDraft {
  readonly queues: SqsQueue[];
  readonly topics: SnsTopic[];
  readonly subscriptions: SnsSubscription[];
  readonly mappings: LambdaMapping[];
  readonly alarms: DepthAlarm[];
}

/**
 * The sources that a consumer wants in order. Only a FIFO topic hands over to a FIFO queue; it also hands over to a standard one.
 * Source: SNS Developer Guide, "Message delivery for FIFO topics".
 */
export function fifoSources({ consumers }: Plan): ReadonlySet<string> {
  return new Set(consumers.flatMap(({ from, order }) => (order === "per-key" ? Object.keys(from) : [])));
}

export function addTopics(draft: TopologyDraft, { system, sources }: Plan, fifoTopics: ReadonlySet<string>): void {
  for (const source of Object.keys(sources)) {
    const fifo = fifoTopics.has(source);
    draft.topics.push({ name: topicName(system, source, fifo), source, fifo });
  }
}

interface ConsumerResources {
  readonly input: StrategyInput;
  readonly system: string;
  readonly sources: Plan["sources"];
  readonly fifoTopics: ReadonlySet<string>;
  readonly retention: Retention;
  readonly visibilityTimeoutSeconds: number;
}

/** A consumer's queues, ends first, then what leads into the work queue. */
export function addConsumer(draft: TopologyDraft, resources: ConsumerResources): void {
  const { input, system, sources, fifoTopics, retention, visibilityTimeoutSeconds } = resources;
  const { names, plan, retry } = input;
  const topics = Object.keys(plan.from).map((source) => topicName(system, source, fifoTopics.has(source)));
  draft.queues.push(
    queueOf(input, names.dead, "dead", {
      retentionSeconds: retention.deadSeconds,
      redriveAllow: { permission: "byQueue", sourceQueues: [names.workQueue] },
    }),
    queueOf(input, names.undelivered, "undelivered", { sendersTopics: topics }),
    queueOf(input, names.workQueue, "work", {
      visibilityTimeoutSeconds,
      retentionSeconds: retention.workSeconds,
      redrive: { deadQueue: names.dead, maxReceiveCount: retry.attempts.length },
      sendersTopics: topics,
    }),
  );
  for (const [source, keys] of Object.entries(plan.from)) {
    const filter = filterOf(keys, sources[source]?.kind ?? "topic");
    const values = "values" in filter ? filter.values : null;
    draft.subscriptions.push({
      topic: topicName(system, source, fifoTopics.has(source)),
      queue: names.workQueue,
      consumer: plan.consumer,
      filterPolicy: values === null ? null : { [routingKeyAttribute]: values },
      rawMessageDelivery: true,
      deadQueue: names.undelivered,
    });
  }
  draft.mappings.push(...mappingsOf(input));
  draft.alarms.push(...alarmsOf(input));
}

/** What hands a consumer's messages to its function; none for a consumer that receives by itself. */
function mappingsOf({ lambda, names, plan }: StrategyInput): LambdaMapping[] {
  if (lambda === null) return [];
  const { functionName, batchSize, batchWindowSeconds, maximumConcurrency } = lambda;
  const { consumer } = plan;
  const functionResponseTypes = ["ReportBatchItemFailures"] as const;
  return [
    {
      queue: names.workQueue,
      consumer,
      functionName,
      batchSize,
      batchWindowSeconds,
      maximumConcurrency,
      functionResponseTypes,
    },
  ];
}

/**
 * The depth of a dead queue tells of dead letters as long as nobody takes them out. Where somebody does, what is received tells of them;
 * what is sent does not, since a redrive is no send. Source: "Available CloudWatch metrics for Amazon SQS".
 */
function alarmsOf({ target, plan, retry, names }: StrategyInput): DepthAlarm[] {
  const threshold = retry.alarmAbove;
  if (threshold === null) return [];
  const periodSeconds = sqsDefaults.alarmPeriodSeconds;
  const depth = [names.dead, names.undelivered].map((queue): DepthAlarm => {
    const name = alarmName(queue, "depth");
    return { name, queue, metric: "ApproximateNumberOfMessagesVisible", threshold, periodSeconds };
  });
  if (target.emptiedDeadQueues?.includes(plan.consumer) !== true) return depth;
  const name = alarmName(names.dead, "received");
  return [...depth, { name, queue: names.dead, metric: "NumberOfMessagesReceived", threshold, periodSeconds }];
}

/** A queue with every attribute, of which most are the same for all. */
function queueOf(
  { target, plan, fifo }: StrategyInput,
  name: string,
  role: SqsQueue["role"],
  attributes: Partial<SqsQueue>,
): SqsQueue {
  return {
    name,
    role,
    consumer: plan.consumer,
    fifo,
    // Where a person looks at dead letters: SQS's own default, after which one that was only looked at is there again.
    visibilityTimeoutSeconds: sqsDefaults.visibilityTimeoutSeconds,
    retentionSeconds: sqsLimits.retentionSeconds,
    delaySeconds: 0,
    receiveWaitSeconds: sqsLimits.receiveWaitSeconds,
    encryption: target.kmsKey === undefined ? { kind: "sqs" } : { kind: "kms", keyId: target.kmsKey },
    redrive: null,
    redriveAllow: { permission: "denyAll" },
    sendersTopics: [],
    ...attributes,
  };
}

/** Which topics a consumer's messages come from, and by which routing keys. */
export function sourcesOf(
  system: string,
  { from }: ConsumerPlan,
  fifoTopics: ReadonlySet<string>,
): readonly ContractSource[] {
  return Object.entries(from).map(([source, routingKeys]) => ({
    topic: topicName(system, source, fifoTopics.has(source)),
    routingKeyAttribute,
    routingKeys,
    fifo: fifoTopics.has(source),
  }));
}
