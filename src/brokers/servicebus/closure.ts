import type { Contract } from "./contract.ts";
import type { ServicebusQueue, ServicebusSubscription, ServicebusTopic, ServicebusTopology } from "./topology.ts";
import { subscriptionPath } from "./topology.ts";

/** A topology, looked up once for the closures of all its consumers. */
export interface TopologyIndex {
  readonly queues: ReadonlyMap<string, ServicebusQueue>;
  readonly topics: ReadonlyMap<string, ServicebusTopic>;
  readonly byConsumer: ReadonlyMap<string, readonly ServicebusSubscription[]>;
}

/** The part of a topology that messages of one consumer can get to, in the order in which it was found. */
export interface Closure {
  readonly queues: readonly ServicebusQueue[];
  readonly topics: readonly ServicebusTopic[];
  /** Those that were made for the consumer, wherever they lead. Other consumers have their own copies of what a topic gets. */
  readonly subscriptions: readonly ServicebusSubscription[];
}

export function indexTopology({ queues, topics, subscriptions }: ServicebusTopology): TopologyIndex {
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    topics: new Map(topics.map((topic) => [topic.name, topic])),
    byConsumer: Map.groupBy(subscriptions, ({ consumer }) => consumer),
  };
}

/** Whatever a subscription or a queue forwards to, or the consumer itself sends to, and what those lead to. */
export function closureOf(index: TopologyIndex, contract: Contract): Closure {
  const subscriptions = index.byConsumer.get(contract.consumer) ?? [];
  const names = new Set([
    contract.workQueue,
    contract.deadQueue,
    ...sendTargets(contract),
    ...contract.sources.map(({ entity }) => entity.name),
    ...subscriptions.flatMap(({ topic }) => topic),
    ...subscriptions.flatMap(leadsTo),
  ]);
  // What is added to a set while it is walked is walked as well.
  for (const name of names) {
    const queue = index.queues.get(name);
    if (queue !== undefined) for (const next of leadsTo(queue)) names.add(next);
  }
  return {
    queues: [...names].flatMap((name) => index.queues.get(name) ?? []),
    topics: [...names].flatMap((name) => index.topics.get(name) ?? []),
    subscriptions,
  };
}

function leadsTo({ forwardTo, forwardDeadLetteredTo }: ServicebusQueue | ServicebusSubscription): string[] {
  return [forwardTo, forwardDeadLetteredTo].flatMap((name) => name ?? []);
}

function sendTargets({ outcomes, retryAfter = [] }: Contract): string[] {
  return [...Object.values(outcomes), ...retryAfter]
    .flatMap((outcome) => ("byAttempt" in outcome ? outcome.byAttempt.flat() : outcome))
    .flatMap((operation) => ("queue" in operation ? [operation.queue] : []));
}

/** The queue or subscription that the consumer receives from; undefined where it is not there. */
export function workEntity(
  { queues, subscriptions }: Closure,
  { workQueue }: Contract,
): ServicebusQueue | ServicebusSubscription | undefined {
  return (
    queues.find(({ name }) => name === workQueue) ??
    subscriptions.find((subscription) => subscriptionPath(subscription) === workQueue)
  );
}
