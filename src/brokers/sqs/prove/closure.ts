import type * as closure from "../../../contract/closure.ts";
import { queuesFrom } from "../../../contract/closure.ts";
import { operationsIn } from "../../../contract/interpret.ts";
import { type Contract, type Operation, topicSources } from "../compile/contract.ts";
import type { SnsSubscription, SnsTopic, SqsQueue } from "../compile/topology.ts";

export type TopologyIndex = closure.TopologyIndex<SqsQueue, SnsTopic, SnsSubscription>;
export type Closure = closure.AskedClosure<SqsQueue, SnsTopic, SnsSubscription>;

/**
 * Finds everything that messages of one consumer can reach. It follows subscriptions, redrive policies and the sends of
 * the consumer and of an instance by the other contract.
 */
export function closureOf(index: TopologyIndex, contract: Contract, beside: Contract): Closure {
  const subscriptions = index.byConsumer.get(contract.consumer) ?? [];
  const operations = [contract, beside].flatMap((each) => operationsIn<Operation>(each));
  const sent = operations.flatMap((each) => ("queue" in each ? [each.queue] : []));
  const delivered = subscriptions.flatMap(({ queue, deadQueue }) => [queue, deadQueue]);
  const topics = new Set([...topicSources(contract), ...subscriptions].map(({ topic }) => topic));
  const { queues, asked } = queuesFrom(
    [contract.workQueue, contract.deadQueue, ...sent, ...delivered],
    index.queues,
    ({ redrive }) => (redrive === null ? [] : [redrive.deadQueue]),
  );
  return {
    queues,
    topics: [...topics].flatMap((name) => index.topics.get(name) ?? []),
    subscriptions,
    asked: new Set([...asked, ...topics]),
  };
}
