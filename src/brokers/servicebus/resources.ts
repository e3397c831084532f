import type { ConsumerPlan, Plan } from "../../plan/plan.ts";
import type { ServicebusTarget } from "./capabilities.ts";
import { servicebusDefaults, skus } from "./capabilities.ts";
import type { ContractSource } from "./contract.ts";
import { filterOf } from "./filter.ts";
import { deadLetterQueue, defaultRuleName, ruleName, sharedDeadQueueName, topicName, workQueueName } from "./names.ts";
import type { StrategyInput, StrategyOutput } from "./strategies/strategy.ts";
import type {
  DeadLetterAlert,
  MessageEntity,
  ServicebusQueue,
  ServicebusSubscription,
  ServicebusTopic,
  SubscriptionRule,
} from "./topology.ts";
import { subscriptionPath } from "./topology.ts";

/** Collects the resources of a topology while the consumers are compiled one after the other. */
export interface TopologyDraft {
  readonly queues: ServicebusQueue[];
  readonly topics: ServicebusTopic[];
  readonly subscriptions: ServicebusSubscription[];
  readonly alerts: DeadLetterAlert[];
}

/** Where a consumer's messages are while they are its own, and where they end. */
export interface ConsumerPlaces {
  readonly workQueue: string;
  readonly deadQueue: string;
  /** It takes its messages out of the subscription itself: those in sessions are not forwarded. */
  readonly sessions: boolean;
}

export function placesOf({ system }: Plan, plan: ConsumerPlan, target: ServicebusTarget): ConsumerPlaces {
  const sessions = plan.order === "per-key";
  const [source = ""] = Object.keys(plan.from);
  const workQueue = sessions
    ? subscriptionPath({ topic: topicName(system, source), name: plan.consumer })
    : workQueueName(system, plan.consumer);
  return {
    workQueue,
    deadQueue: target.deadQueue === "shared" ? sharedDeadQueueName(system) : deadLetterQueue(workQueue),
    sessions,
  };
}

/** What everything shares: the dead queue that others forward to, and the topics. */
export function addShared(draft: TopologyDraft, { system, sources }: Plan, target: ServicebusTarget): void {
  if (target.deadQueue === "shared") {
    draft.queues.push(
      queueOf(target, { name: sharedDeadQueueName(system), role: "dead", consumer: null, maxDeliveryCount: 10 }),
    );
  }
  if (!skus[target.sku].topics) return;
  for (const source of Object.keys(sources)) {
    draft.topics.push({ name: topicName(system, source), source, timeToLiveMs: null, duplicateDetectionMs: null });
  }
}

interface ConsumerResources {
  readonly input: StrategyInput;
  readonly system: string;
  readonly sources: Plan["sources"];
  readonly output: StrategyOutput;
}

/** A consumer's queues, ends first, then the subscriptions that lead into the work queue. */
export function addConsumer(draft: TopologyDraft, { input, system, sources, output }: ConsumerResources): void {
  const { plan, target, sessions, workQueue } = input;
  const { consumer } = plan;
  const forwardDeadLetteredTo = target.deadQueue === "shared" ? input.deadQueue : null;
  const work = { maxDeliveryCount: output.maxDeliveryCount, forwardDeadLetteredTo };
  if (!sessions) {
    const duplicateDetectionMs = target.duplicateDetectionMs;
    draft.queues.push(queueOf(target, { ...work, name: workQueue, role: "work", consumer, duplicateDetectionMs }));
  }
  for (const { name, delayMs } of output.tiers) {
    const timeToLiveMs = delayMs;
    // Nobody receives from a tier, so nothing is ever counted there.
    const tier = { maxDeliveryCount: 10, forwardDeadLetteredTo: workQueue, timeToLiveMs };
    draft.queues.push(queueOf(target, { ...tier, name, role: "tier", consumer }));
  }
  if (skus[target.sku].topics) {
    for (const [source, keys] of Object.entries(plan.from)) {
      draft.subscriptions.push({
        kind: "subscription",
        topic: topicName(system, source),
        name: consumer,
        consumer,
        ...entityOf(target),
        // Where it forwards nobody receives from it: what cannot be forwarded is dead, and stays to be seen there.
        ...(sessions
          ? { ...work, requiresSession: true }
          : { maxDeliveryCount: 10, forwardTo: workQueue, forwardDeadLetteredTo }),
        deadLetterOnFilterError: true,
        rules: rulesOf(keys, sources[source]?.kind ?? "topic"),
      });
    }
  }
  if (input.retry.alarmAbove !== null) addAlerts(draft, input, input.retry.alarmAbove, system);
}

/** Dead letters are counted with the entity that they belong to, and those of a subscription with its topic. */
function addAlerts(
  draft: TopologyDraft,
  { plan, target, sessions, workQueue, deadQueue }: StrategyInput,
  threshold: number,
  system: string,
): void {
  const windowMinutes = servicebusDefaults.alertMinutes;
  const watch = (entity: string, metric: DeadLetterAlert["metric"]): void => {
    const alert: DeadLetterAlert = {
      name: `${entity}.${metric}.above.${threshold}`,
      entity,
      metric,
      threshold,
      windowMinutes,
    };
    if (!draft.alerts.some(({ name }) => name === alert.name)) draft.alerts.push(alert);
  };
  if (target.deadQueue === "shared") watch(deadQueue, "ActiveMessages");
  if (!sessions) watch(workQueue, "DeadletteredMessages");
  if (!skus[target.sku].topics) return;
  for (const source of Object.keys(plan.from)) watch(topicName(system, source), "DeadletteredMessages");
}

/** Service Bus makes `$Default`, which lets in everything; it stays, and lets in everything or nothing. */
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

/** Every property, of which most are the same for all. */
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

/** Which entities a consumer's messages are sent to, and by which routing keys. */
export function sourcesOf(
  { system }: Plan,
  { from, consumer, order }: ConsumerPlan,
  target: ServicebusTarget,
): readonly ContractSource[] {
  return Object.entries(from).map(([source, routingKeys]) => ({
    source,
    entity: skus[target.sku].topics
      ? { kind: "topic", name: topicName(system, source) }
      : { kind: "queue", name: workQueueName(system, consumer) },
    routingKeys,
    sessions: order === "per-key",
  }));
}
