import type { Draft } from "../../../contract/compile-consumer.ts";
import { type ConsumerPlan, isDirect, type Plan } from "../../../plan/plan.ts";
import { type ServicebusTarget, servicebusDefaults, skus } from "./capabilities.ts";
import type { ContractSource } from "./contract.ts";
import { filterOf } from "./filter.ts";
import {
  deadLetterQueue,
  defaultRuleName,
  parkedQueueName,
  ruleName,
  sharedDeadQueueName,
  subscriptionName,
  topicName,
  workQueueName,
} from "./names.ts";
import type { ConsumerPlaces, StrategyInput, StrategyOutput } from "./strategies/strategy.ts";
import {
  type DeadLetterAlert,
  type MessageEntity,
  type ServicebusQueue,
  type ServicebusTopology,
  type SubscriptionRule,
  subscriptionPath,
} from "./topology.ts";

export type TopologyDraft = Draft<ServicebusTopology, "queues" | "topics" | "subscriptions" | "alerts">;

export function placesOf(whole: Plan, plan: ConsumerPlan, target: ServicebusTarget): ConsumerPlaces {
  const sessions = plan.order === "per-key";
  const [source] = Object.keys(plan.from);
  const inSubscription = sessions && source !== undefined;
  const workQueue = inSubscription
    ? subscriptionPath({ topic: topicName(whole, source), name: subscriptionName(whole, source, plan) })
    : workQueueName(whole, plan);
  return {
    workQueue,
    deadQueue: target.deadQueue === "shared" ? sharedDeadQueueName(whole.system) : deadLetterQueue(workQueue),
    parkedQueue: parkedQueueName(whole, plan),
    sessions,
    inSubscription,
  };
}

/** Adds the shared entities: the dead queue that others forward to, and the topics. */
export function addShared(draft: TopologyDraft, plan: Plan, target: ServicebusTarget): void {
  if (target.deadQueue === "shared") {
    draft.queues.push(
      queueOf(target, { name: sharedDeadQueueName(plan.system), role: "dead", consumer: null, maxDeliveryCount: 10 }),
    );
  }
  if (!skus[target.sku].topics) return;
  for (const source of Object.keys(plan.sources)) {
    const foreign = plan.sources[source]?.owner === "other" ? ({ owner: "other" } as const) : {};
    const topic = { name: topicName(plan, source), source, timeToLiveMs: null, duplicateDetectionMs: null };
    draft.topics.push({ ...topic, ...foreign });
  }
}

/** Adds a consumer's queues, ends first, then the subscriptions that lead into the work queue. */
export function addConsumer(draft: TopologyDraft, whole: Plan, input: StrategyInput, output: StrategyOutput): void {
  const { plan, target, sessions, inSubscription, workQueue } = input;
  const { consumer } = plan;
  const forwardDeadLetteredTo = target.deadQueue === "shared" ? input.deadQueue : null;
  const work = { maxDeliveryCount: output.maxDeliveryCount, forwardDeadLetteredTo, requiresSession: sessions };
  if (!inSubscription) {
    const duplicateDetectionMs = target.duplicateDetectionMs;
    draft.queues.push(queueOf(target, { ...work, name: workQueue, role: "work", consumer, duplicateDetectionMs }));
  }
  if (input.retry.park !== undefined)
    draft.queues.push(queueOf(target, { name: input.parkedQueue, role: "dead", consumer }));
  for (const { name, delayMs } of output.tiers) {
    const timeToLiveMs = delayMs;
    // No client receives from a tier, so its delivery count never rises.
    const tier = { maxDeliveryCount: 10, forwardDeadLetteredTo: workQueue, timeToLiveMs };
    draft.queues.push(queueOf(target, { ...tier, name, role: "tier", consumer }));
  }
  if (skus[target.sku].topics) {
    for (const [source, keys] of Object.entries(plan.from)) {
      draft.subscriptions.push({
        kind: "subscription",
        topic: topicName(whole, source),
        name: subscriptionName(whole, source, plan),
        consumer,
        ...entityOf(target),
        // No client receives from a subscription that forwards. A message that it cannot forward is dead, and stays
        // there for people to see.
        ...(sessions ? work : { maxDeliveryCount: 10, forwardTo: workQueue, forwardDeadLetteredTo }),
        deadLetterOnFilterError: true,
        rules: rulesOf(keys, whole.sources[source]?.kind ?? "topic"),
      });
    }
  }
  if (input.retry.alarmAbove !== null) addAlerts(draft, input, input.retry.alarmAbove, whole);
}

/** Azure counts dead letters with their entity, and those of a subscription with its topic. */
function addAlerts(
  draft: TopologyDraft,
  { plan, target, inSubscription, workQueue, deadQueue }: StrategyInput,
  threshold: number,
  whole: Plan,
): void {
  const windowMinutes = servicebusDefaults.alertMinutes;
  const watch = (entity: string, metric: DeadLetterAlert["metric"], prefix = ""): void => {
    const alert: DeadLetterAlert = {
      name: `${prefix}${entity}.${metric}.above.${threshold}`,
      entity,
      metric,
      threshold,
      windowMinutes,
    };
    if (!draft.alerts.some(({ name }) => name === alert.name)) draft.alerts.push(alert);
  };
  if (target.deadQueue === "shared") watch(deadQueue, "ActiveMessages");
  if (!inSubscription) watch(workQueue, "DeadletteredMessages");
  if (!skus[target.sku].topics) return;
  for (const source of Object.keys(plan.from)) {
    // Each system has an alert of its own on the topic of another owner.
    const prefix = whole.sources[source]?.owner === "other" ? `${whole.system}.` : "";
    watch(topicName(whole, source), "DeadletteredMessages", prefix);
  }
}

/** Service Bus creates `$Default`, which lets in everything. The rule stays, and lets in everything or nothing. */
function rulesOf(keys: readonly string[] | "all", kind: Parameters<typeof filterOf>[1]): readonly SubscriptionRule[] {
  if (keys === "all" || kind === "fanout") return [{ name: defaultRuleName, filter: { kind: "true" } }];
  return [
    { name: defaultRuleName, filter: { kind: "false" } },
    ...keys.flatMap((key) => {
      const filter = filterOf(key, kind);
      return "filter" in filter ? [{ name: ruleName(key), filter: filter.filter }] : [];
    }),
  ];
}

/** Sets every property. Most have the same value in all entities. */
function entityOf({ lockMs, sku }: ServicebusTarget): MessageEntity {
  return {
    lockDurationMs: lockMs,
    maxDeliveryCount: 10,
    timeToLiveMs: skus[sku].longestTimeToLiveMs,
    deadLetterOnExpiration: true,
    requiresSession: false,
    forwardTo: null,
    forwardDeadLetteredTo: null,
  };
}

function queueOf(
  target: ServicebusTarget,
  given: Pick<ServicebusQueue, "name" | "role" | "consumer"> & Partial<ServicebusQueue>,
): ServicebusQueue {
  const { name, role, consumer } = given;
  const named = { kind: "queue", name, role, consumer } as const;
  return { ...named, ...entityOf(target), duplicateDetectionMs: null, ...given };
}

/** The entities that receive a consumer's messages, with their routing keys; or its work queue itself. */
export function sourcesOf(whole: Plan, consumer: ConsumerPlan, target: ServicebusTarget): readonly ContractSource[] {
  const { from, order } = consumer;
  const queue = { kind: "queue", name: workQueueName(whole, consumer) } as const;
  if (isDirect({ from })) return [{ source: null, entity: queue, routingKeys: "all", sessions: order === "per-key" }];
  return Object.entries(from).map(([source, routingKeys]) => ({
    source,
    entity: skus[target.sku].topics ? { kind: "topic", name: topicName(whole, source) } : queue,
    routingKeys,
    sessions: order === "per-key",
  }));
}
