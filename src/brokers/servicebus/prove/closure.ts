import type * as closure from "../../../contract/closure.ts";
import { queuesFrom } from "../../../contract/closure.ts";
import { operationsIn } from "../../../contract/interpret.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import type { ServicebusQueue, ServicebusSubscription, ServicebusTopic } from "../compile/topology.ts";
import { subscriptionPath } from "../compile/topology.ts";

export type TopologyIndex = closure.TopologyIndex<ServicebusQueue, ServicebusTopic, ServicebusSubscription>;
export type Closure = closure.AskedClosure<ServicebusQueue, ServicebusTopic, ServicebusSubscription>;

/**
 * Finds everything that messages of one consumer can reach. It follows the forwarding of subscriptions and queues and
 * the sends of the consumer and of an instance by the
 * other contract.
 */
export function closureOf(index: TopologyIndex, contract: Contract, beside: Contract): Closure {
  const subscriptions = index.byConsumer.get(contract.consumer) ?? [];
  const operations = [contract, beside].flatMap((each) => operationsIn<Operation>(each));
  const sent = operations.flatMap((each) => ("queue" in each ? [each.queue] : []));
  const forwarded = subscriptions.flatMap(leadsTo);
  const topics = new Set([
    ...contract.sources.map(({ entity }) => entity.name),
    ...subscriptions.map(({ topic }) => topic),
  ]);
  const { queues, asked } = queuesFrom(
    [contract.workQueue, contract.deadQueue, beside.deadQueue, ...sent, ...forwarded],
    index.queues,
    leadsTo,
  );
  return {
    queues,
    topics: [...topics].flatMap((name) => index.topics.get(name) ?? []),
    subscriptions,
    asked: new Set([...asked, ...topics]),
  };
}

function leadsTo({ forwardTo, forwardDeadLetteredTo }: ServicebusQueue | ServicebusSubscription): string[] {
  return [forwardTo, forwardDeadLetteredTo].flatMap((name) => name ?? []);
}

/** The queue or subscription that the consumer receives from; undefined if it does not exist. */
export function workEntity(
  { queues, subscriptions }: Closure,
  { workQueue }: Contract,
): ServicebusQueue | ServicebusSubscription | undefined {
  return (
    queues.find(({ name }) => name === workQueue) ??
    subscriptions.find((subscription) => subscriptionPath(subscription) === workQueue)
  );
}
