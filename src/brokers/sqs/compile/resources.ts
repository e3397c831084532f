import type { Draft } from "../../../contract/compile-consumer.ts";
import type { HeadersMatch } from "../../../declare/system.ts";
import { type ConsumerPlan, isDirect, type Plan } from "../../../plan/plan.ts";
import { sqsDefaults, sqsLimits } from "./capabilities.ts";
import type { ContractSource, TopicSource } from "./contract.ts";
import { attributesOf, policyOf, routingKeyAttribute } from "./filter.ts";
import { alarmName, topicName } from "./names.ts";
import type { Retention } from "./retention.ts";
import { endsOf, type StrategyInput } from "./strategies/strategy.ts";
import type { DepthAlarm, LambdaMapping, SqsQueue, SqsTopology } from "./topology.ts";

export type TopologyDraft = Draft<SqsTopology, "queues" | "topics" | "subscriptions" | "mappings" | "alarms">;

/**
 * The sources with a FIFO topic: those that a consumer wants in order, and the FIFO topics of others. Only a FIFO topic
 * delivers to a FIFO queue; it also delivers to a standard one. Source: SNS Developer Guide, "Message delivery for FIFO topics".
 */
export function fifoSources({ consumers, sources }: Plan): ReadonlySet<string> {
  const inOrder = consumers.flatMap(({ from, order }) => (order === "per-key" ? Object.keys(from) : []));
  const isForeign = (source: string): boolean => sources[source]?.owner === "other";
  const ofOthers = Object.keys(sources).filter(
    (source) => isForeign(source) && sources[source]?.name?.endsWith(sqsLimits.fifoSuffix),
  );
  return new Set([...inOrder.filter((source) => !isForeign(source)), ...ofOthers]);
}

export function addTopics(draft: TopologyDraft, plan: Plan, fifoTopics: ReadonlySet<string>): void {
  for (const source of Object.keys(plan.sources)) {
    const fifo = fifoTopics.has(source);
    const foreign = plan.sources[source]?.owner === "other" ? ({ owner: "other" } as const) : {};
    draft.topics.push({ name: topicName(plan, source, fifo), source, fifo, ...foreign });
  }
}

interface ConsumerResources {
  readonly input: StrategyInput;
  readonly whole: Plan;
  readonly fifoTopics: ReadonlySet<string>;
  /** The ARNs of the services that send to the work queue. */
  readonly services: readonly string[];
  readonly retention: Retention;
  readonly visibilityTimeoutSeconds: number;
}

/** Adds a consumer's queues, ends first, then the subscriptions and mappings of the work queue. */
export function addConsumer(draft: TopologyDraft, resources: ConsumerResources): void {
  const { input, whole, fifoTopics, services, retention, visibilityTimeoutSeconds } = resources;
  const { names, plan, retry } = input;
  const topics = Object.keys(plan.from).map((source) => topicName(whole, source, fifoTopics.has(source)));
  const { deadSeconds: retentionSeconds } = retention;
  if (input.target.deadQueue !== "shared") {
    const redriveAllow = { permission: "byQueue", sourceQueues: [names.workQueue] } as const;
    draft.queues.push(queueOf(input, names.dead, "dead", { retentionSeconds, redriveAllow }));
  } else if (!draft.queues.some(({ name }) => name === names.dead)) {
    // A list would need an entry before the queue of a new consumer is there, and SQS takes ten entries at most.
    const redriveAllow = { permission: "allowAll" } as const;
    draft.queues.push(queueOf(input, names.dead, "dead", { consumer: null, retentionSeconds, redriveAllow }));
  }
  draft.queues.push(
    ...(retry.park === undefined ? [] : [queueOf(input, names.parked, "parked", { retentionSeconds })]),
    ...(isDirect(plan) ? [] : [queueOf(input, names.undelivered, "undelivered", { sendersTopics: topics })]),
    queueOf(input, names.workQueue, "work", {
      visibilityTimeoutSeconds,
      retentionSeconds: retention.workSeconds,
      redrive: { deadQueue: names.dead, maxReceiveCount: retry.attempts.length },
      sendersTopics: topics,
      ...(services.length === 0 ? {} : { sendersServices: services }),
    }),
  );
  for (const source of Object.keys(plan.from)) {
    const filter = policyOf(plan, source, whole.sources[source]?.kind ?? "topic");
    draft.subscriptions.push({
      topic: topicName(whole, source, fifoTopics.has(source)),
      queue: names.workQueue,
      consumer: plan.consumer,
      filterPolicy: "policy" in filter ? filter.policy : null,
      ...(plan.filters?.[source] === undefined ? {} : { stated: plan.filters[source] }),
      rawMessageDelivery: true,
      deadQueue: names.undelivered,
    });
  }
  draft.mappings.push(...mappingsOf(input));
  // Consumers with one threshold share the alarm of a shared dead queue.
  const isThere = ({ name, queue }: DepthAlarm): boolean =>
    input.target.deadQueue === "shared" && queue === names.dead && draft.alarms.some((each) => each.name === name);
  draft.alarms.push(...alarmsOf(input).filter((each) => !isThere(each)));
}

/** The mapping that hands a consumer's messages to its function; none for a consumer that receives by itself. */
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
 * The depth of a dead queue shows dead letters as long as no program removes them. If one does, the number of receives
 * shows them. The number of sends does not, since a redrive is no send. Source: "Available CloudWatch metrics for
 * Amazon SQS".
 */
function alarmsOf({ target, plan, retry, names }: StrategyInput): DepthAlarm[] {
  const threshold = retry.alarmAbove;
  if (threshold === null) return [];
  const periodSeconds = sqsDefaults.alarmPeriodSeconds;
  const nameOf = (queue: string, watched: "depth" | "received"): string =>
    `${alarmName(queue, watched)}${target.deadQueue === "shared" && queue === names.dead ? `-above-${threshold}` : ""}`;
  const depth = endsOf({ plan, names }).map((queue): DepthAlarm => {
    const name = nameOf(queue, "depth");
    return { name, queue, metric: "ApproximateNumberOfMessagesVisible", threshold, periodSeconds };
  });
  if (target.emptiedDeadQueues?.includes(plan.consumer) !== true) return depth;
  const name = nameOf(names.dead, "received");
  return [...depth, { name, queue: names.dead, metric: "NumberOfMessagesReceived", threshold, periodSeconds }];
}

/** A queue with every attribute. Most have the same value in all queues. */
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
    // The time for a person to look at dead letters. SQS's own default: a dead letter is visible again after this time.
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

/** The topics that a consumer's messages come from, with their routing keys; or its work queue itself. */
export function sourcesOf(
  whole: Plan,
  { from, matches, filters, order }: ConsumerPlan,
  fifoTopics: ReadonlySet<string>,
  workQueue: string,
): readonly ContractSource[] {
  if (isDirect({ from })) {
    const most = { messageAttributes: sqsLimits.messageAttributes, messageBytes: sqsLimits.sentBytes };
    return [{ queue: workQueue, fifo: order === "per-key", most }];
  }
  return Object.entries(from).map(([source, routingKeys]) => ({
    topic: topicName(whole, source, fifoTopics.has(source)),
    routingKeyAttribute,
    routingKeys,
    ...attributesIn(matches?.[source]),
    ...filters?.[source],
    fifo: fifoTopics.has(source),
    most: { messageAttributes: sqsLimits.messageAttributes, messageBytes: sqsLimits.publishedBytes },
  }));
}

function attributesIn(matches: readonly HeadersMatch[] | undefined): Pick<TopicSource, "attributes"> {
  const attributes = matches === undefined ? undefined : attributesOf(matches);
  return attributes !== undefined && "values" in attributes ? { attributes: attributes.values } : {};
}
