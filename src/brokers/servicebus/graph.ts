import { deepFreeze } from "../../declare/freeze.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import { type Graph, type GraphEdge, type GraphNode, joinEvents, producersBy } from "../graph.ts";
import type { ServicebusCompiled } from "./compile/compile.ts";
import type { Contract, Operation } from "./compile/contract.ts";
import { operationsAfter } from "../../contract/interpret.ts";
import type { ServicebusQueue, ServicebusSubscription, ServicebusTopology } from "./compile/topology.ts";
import { subscriptionPath } from "./compile/topology.ts";

/**
 * Draws a topology as the places where messages are. Every arrow comes from a subscription, a forwarding or the
 * contract.
 */
export function graphOf({ topology, contracts }: ServicebusCompiled): Graph {
  return deepFreeze<Graph>({
    title: `${topology.system} on ${topology.target}`,
    nodes: [
      ...topology.topics.map(({ name }): GraphNode => {
        return { id: `topic:${name}`, kind: "source", label: name, detail: "topic", consumer: null };
      }),
      ...(contracts.some(isDirect) ? [producers] : []),
      ...topology.queues.map(queueNode),
      ...contracts.flatMap((contract) => consumerNodes(topology, contract)),
    ],
    edges: contracts.flatMap((contract) => [
      ...publishEdges(topology, contract),
      ...retryEdges(topology, contract),
      ...deadEdges(topology, contract),
    ]),
  });
}

const producers = producersBy("send to the queue");

function isDirect({ sources }: Contract): boolean {
  return sources.some(({ source }) => source === null);
}

function queueNode({ name, role, consumer, maxDeliveryCount, timeToLiveMs }: ServicebusQueue): GraphNode {
  const node = { id: name, label: name, consumer };
  switch (role) {
    case "work":
      return { ...node, kind: "work", detail: `${maxDeliveryCount} deliveries at most` };
    case "tier":
      return { ...node, kind: "tier", detail: `expires after ${formatDurationMs(timeToLiveMs ?? 0)}` };
    case "dead":
      return { ...node, kind: "dead" };
    default:
      return role satisfies never;
  }
}

/** Places without a queue of their own: a subscription with sessions, and the dead-letter queue of an entity. */
function consumerNodes(
  { queues, subscriptions }: ServicebusTopology,
  { workQueue, deadQueue, consumer }: Contract,
): GraphNode[] {
  const isQueue = (name: string): boolean => queues.some((queue) => queue.name === name);
  const work = subscriptions.find((each) => subscriptionPath(each) === workQueue);
  return [
    ...(work === undefined
      ? []
      : [
          {
            id: workQueue,
            kind: "work" as const,
            label: workQueue,
            detail: `sessions, ${work.maxDeliveryCount} deliveries at most`,
            consumer,
          },
        ]),
    ...(isQueue(deadQueue) ? [] : [{ id: deadQueue, kind: "dead" as const, label: deadQueue, consumer }]),
  ];
}

function publishEdges({ subscriptions }: ServicebusTopology, contract: Contract): GraphEdge[] {
  const { workQueue, consumer } = contract;
  if (isDirect(contract)) return [{ from: producers.id, to: workQueue, label: "all", kind: "publish", consumer }];
  const leadsHere = (each: ServicebusSubscription): boolean =>
    each.forwardTo === workQueue || subscriptionPath(each) === workQueue;
  return subscriptions.filter(leadsHere).map(({ topic }) => {
    const keys = contract.sources.find(({ entity }) => entity.name === topic)?.routingKeys ?? "all";
    const label = keys === "all" ? "all" : keys.join("\n");
    return { from: `topic:${topic}`, to: workQueue, label, kind: "publish", consumer };
  });
}

/**
 * An abandoned message stays in its place, and a copy comes back to it. One arrow for each waiting place shows both, as
 * lines.
 */
function retryEdges({ queues }: ServicebusTopology, contract: Contract): readonly GraphEdge[] {
  const { workQueue, consumer, outcomes, retryAfter = [] } = contract;
  const retry = (to: string, label: string): GraphEdge => ({ from: workQueue, to, label, kind: "retry", consumer });
  const failures = contract.attempts.slice(0, -1).flatMap(({ attempt }): GraphEdge[] => {
    const [operation] = operationsAfter(outcomes.transient, attempt);
    const to = operation !== undefined && "queue" in operation ? operation.queue : workQueue;
    const there = retry(to, `failure of attempt ${attempt}${backAfter(operation)}`);
    const tier = queues.find(({ name, role }) => name === to && role === "tier");
    return tier === undefined ? [there] : [there, { from: to, to: workQueue, label: "expired", kind: "due", consumer }];
  });
  if (failures.length === 0) return [];
  const asked = retryAfter.map(({ upToMs }) => `handler asks for up to ${formatDurationMs(upToMs)}`);
  return joinEvents([...failures, ...asked.map((label) => retry(workQueue, label))]);
}

function backAfter(operation: Operation | undefined): string {
  if (operation?.operation !== "schedule" || operation.delayMs === undefined) return "";
  const { delayMs } = operation;
  if (delayMs === "asked") return ": back when it asks";
  const from = formatDurationMs(delayMs.from);
  return delayMs.from === delayMs.to
    ? `: back after ${from}`
    : `: back after ${from} to ${formatDurationMs(delayMs.to)}`;
}

function deadEdges({ queues, subscriptions }: ServicebusTopology, contract: Contract): GraphEdge[] {
  const { workQueue, deadQueue, consumer, attempts, outcomes } = contract;
  const work =
    queues.find(({ name }) => name === workQueue) ?? subscriptions.find((each) => subscriptionPath(each) === workQueue);
  const last = operationsAfter(outcomes.transient, attempts.length);
  const label = [
    "permanent failure",
    ...(last.some(({ operation }) => operation === "deadLetter") ? [`failure of attempt ${attempts.length}`] : []),
    `not completed after ${work?.maxDeliveryCount === 1 ? "1 delivery" : `${work?.maxDeliveryCount} deliveries`}`,
  ].join("\n");
  return [{ from: workQueue, to: deadQueue, label, kind: "dead", consumer }];
}
