import type { ConsumerPlan, Plan } from "../../plan/plan.ts";
import { sqsDefaults, sqsLimits } from "./capabilities.ts";
import type { ContractSource } from "./contract.ts";
import { filterOf, routingKeyAttribute } from "./filter.ts";
import { alarmName, topicName } from "./names.ts";
import type { Retention } from "./retention.ts";
import type { StrategyInput } from "./strategies/strategy.ts";
import type { DepthAlarm, SnsSubscription, SnsTopic, SqsQueue } from "./topology.ts";

/** Collects the resources of a topology while the consumers are compiled one after the other. */
export interface TopologyDraft {
  readonly queues: SqsQueue[];
  readonly topics: SnsTopic[];
  readonly subscriptions: SnsSubscription[];
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
  if (retry.alarmAbove !== null) {
    for (const queue of [names.dead, names.undelivered]) {
      draft.alarms.push({
        name: alarmName(queue),
        queue,
        metric: "ApproximateNumberOfMessagesVisible",
        threshold: retry.alarmAbove,
        periodSeconds: sqsDefaults.alarmPeriodSeconds,
      });
    }
  }
}

/** A queue with every attribute, of which most are the same for all. */
function queueOf(
  { plan, fifo }: StrategyInput,
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
    encryption: { kind: "sqs" },
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
