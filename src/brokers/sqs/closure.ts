import type { Contract } from "./contract.ts";
import type { SnsSubscription, SnsTopic, SqsQueue, SqsTopology } from "./topology.ts";

/** A topology, looked up once for the closures of all its consumers. */
export interface TopologyIndex {
  readonly queues: ReadonlyMap<string, SqsQueue>;
  readonly topics: ReadonlyMap<string, SnsTopic>;
  readonly byConsumer: ReadonlyMap<string, readonly SnsSubscription[]>;
}

/** The part of a topology that messages of one consumer can get to, in the order in which it was found. */
export interface Closure {
  readonly queues: readonly SqsQueue[];
  readonly topics: readonly SnsTopic[];
  /** Those that were made for the consumer, wherever they lead. Other consumers have their own copies of what a topic gets. */
  readonly subscriptions: readonly SnsSubscription[];
}

export function indexTopology({ queues, topics, subscriptions }: SqsTopology): TopologyIndex {
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    topics: new Map(topics.map((topic) => [topic.name, topic])),
    byConsumer: Map.groupBy(subscriptions, ({ consumer }) => consumer),
  };
}

/** Whatever a subscription, a redrive policy or the consumer itself sends its messages to, and what those lead to. */
export function closureOf(index: TopologyIndex, contract: Contract): Closure {
  const subscriptions = index.byConsumer.get(contract.consumer) ?? [];
  const names = new Set([
    contract.workQueue,
    contract.deadQueue,
    ...sendTargets(contract),
    ...subscriptions.flatMap(({ queue, deadQueue }) => [queue, deadQueue]),
  ]);
  // What is added to a set while it is walked is walked as well.
  for (const name of names) {
    const redrive = index.queues.get(name)?.redrive;
    if (redrive) names.add(redrive.deadQueue);
  }
  const topics = new Set([...contract.sources, ...subscriptions].map(({ topic }) => topic));
  return {
    queues: [...names].flatMap((name) => index.queues.get(name) ?? []),
    topics: [...topics].flatMap((name) => index.topics.get(name) ?? []),
    subscriptions,
  };
}

function sendTargets({ outcomes, retryAfter = [] }: Contract): string[] {
  return [...Object.values(outcomes), ...retryAfter]
    .flatMap((outcome) => ("byAttempt" in outcome ? outcome.byAttempt.flat() : outcome))
    .flatMap((operation) => (operation.operation === "SendMessage" ? [operation.queue] : []));
}
