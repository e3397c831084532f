import { formatDurationMs } from "../../declare/duration.ts";
import type { Graph, GraphEdge, GraphNode } from "../broker.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { Contract, Operation } from "./contract.ts";
import { joinAlike } from "./join-alike.ts";
import { operationsAfter, waysOf } from "../contract.ts";
import type { RoutingIndex } from "./routing.ts";
import { route, routingIndex } from "./routing.ts";
import type { QueueResource, Topology } from "./topology.ts";

/**
 * Draws a topology as the places where messages are. Every arrow is found by routing a message the way the broker
 * would, from what the contract tells the consumer to do; none is drawn from knowing the strategy.
 */
export function graphOf(compiled: RabbitmqCompiled): Graph {
  const { topology, contracts } = compiled;
  const walk: Walk = {
    index: routingIndex(topology),
    queues: new Map(topology.queues.map((queue) => [queue.name, queue])),
    ttlMs: new Map(topology.policies.map((policy) => [policy.name, policy.definition["message-ttl"]])),
    edges: new Map(),
  };
  for (const contract of contracts) {
    drawSources(walk, contract);
    if (contract.workQueue !== null) drawWork(walk, contract, contract.workQueue);
  }
  drawStrays(walk, topology);
  const { nodes, edges } = joinAlike(
    {
      nodes: [
        ...sourceNodes(topology),
        ...instanceNodes(contracts),
        ...topology.queues.map((queue) => queueNode(walk, queue)),
      ],
      edges: [...walk.edges.values()].map(({ labels, ...edge }) =>
        Object.freeze({ ...edge, label: labels.join("\n") }),
      ),
    },
    ({ id }) => walk.queues.get(id)?.role === "wait",
    (alike) => waitsNode(walk, alike),
  );
  return Object.freeze({
    title: `${topology.system} on ${topology.target}`,
    nodes: Object.freeze(nodes),
    edges: Object.freeze(edges),
  });
}

interface Walk {
  readonly index: RoutingIndex;
  readonly queues: ReadonlyMap<string, QueueResource>;
  readonly ttlMs: ReadonlyMap<string, string | number | undefined>;
  readonly edges: Map<string, Omit<GraphEdge, "label"> & { readonly labels: string[] }>;
}

function sourceNodes(topology: Topology): GraphNode[] {
  return topology.exchanges
    .filter((exchange) => exchange.role === "source")
    .map(({ name, kind }) =>
      Object.freeze({ id: `source:${name}`, kind: "source", label: name, detail: `${kind} exchange`, consumer: null }),
    );
}

function instanceNodes(contracts: readonly Contract[]): GraphNode[] {
  return contracts
    .filter((contract) => contract.workQueue === null)
    .map(({ consumer }) =>
      Object.freeze({
        id: `instance:${consumer}`,
        kind: "instance",
        label: consumer,
        detail: "one queue per instance",
        consumer,
      }),
    );
}

function queueNode(walk: Walk, queue: QueueResource): GraphNode {
  const ttlMs = walk.ttlMs.get(queue.name);
  const kind = queue.role === "work" ? "work" : queue.role === "tier" || queue.role === "wait" ? "tier" : "dead";
  return Object.freeze({
    id: queue.name,
    kind,
    label: queue.name,
    ...(typeof ttlMs === "number"
      ? { detail: `waits ${queue.role === "wait" ? "up to " : ""}${formatDurationMs(ttlMs)}` }
      : {}),
    consumer: queue.consumer,
  });
}

/** Wait queues that a picture need not tell apart. */
function waitsNode(walk: Walk, alike: readonly GraphNode[]): GraphNode {
  const byLength = alike.toSorted((a, b) => Number(walk.ttlMs.get(a.id)) - Number(walk.ttlMs.get(b.id)));
  const [shortest, longest] = [byLength[0] as GraphNode, byLength.at(-1) as GraphNode];
  const [fromMs, toMs] = [Number(walk.ttlMs.get(shortest.id)), Number(walk.ttlMs.get(longest.id))];
  return Object.freeze({
    ...(alike[0] as GraphNode),
    label: `${shortest.label} … ${longest.label}`,
    joined: Object.freeze(alike.map(({ id }) => id)),
    detail: `${alike.length} queues, wait up to ${formatDurationMs(fromMs)} … ${formatDurationMs(toMs)}`,
  });
}

function addEdge(
  walk: Walk,
  from: string,
  to: string,
  label: string,
  kind: GraphEdge["kind"],
  consumer: string | null,
): void {
  const key = JSON.stringify([from, to, kind]);
  const edge = walk.edges.get(key);
  if (edge === undefined) walk.edges.set(key, { from, to, kind, consumer, labels: [label] });
  else if (!edge.labels.includes(label)) edge.labels.push(label);
}

function drawSources(walk: Walk, contract: Contract): void {
  const to = contract.workQueue ?? `instance:${contract.consumer}`;
  for (const { exchange, routingKeys } of contract.sources) {
    addEdge(walk, `source:${exchange}`, to, routingKeys.join("\n"), "publish", contract.consumer);
  }
}

function drawWork(walk: Walk, contract: Contract, workQueue: string): void {
  for (const { attempt } of contract.attempts) {
    const key = routingKeyAt(contract, attempt);
    for (const operation of operationsAfter(contract.outcomes.transient, attempt)) {
      drawFailure(walk, contract, workQueue, attempt, key, operation);
    }
    for (const operation of operationsAfter(contract.outcomes.permanent, attempt)) {
      for (const to of whereTo(walk, workQueue, key, operation)) {
        addEdge(walk, workQueue, to, "permanent failure", "dead", contract.consumer);
      }
    }
  }
  drawRetryAfter(walk, contract, workQueue);
  const crashes = `${contract.crashDeliveries} ${contract.crashDeliveries === 1 ? "crash" : "crashes"} (delivery limit)`;
  for (const to of deadLetter(walk, workQueue, routingKeyAt(contract, 1), "delivery_limit")) {
    addEdge(walk, workQueue, to, crashes, "dead", contract.consumer);
  }
}

function drawFailure(
  walk: Walk,
  contract: Contract,
  workQueue: string,
  attempt: number,
  key: string,
  operation: Operation,
): void {
  const isLast = attempt === contract.attempts.length;
  const failure = `failure of attempt ${attempt}`;
  if (staysInQueue(operation)) {
    if (isLast) {
      for (const to of deadLetter(walk, workQueue, key, "delivery_limit")) {
        addEdge(walk, workQueue, to, `${failure} (delivery limit)`, "dead", contract.consumer);
      }
      return;
    }
    const delayMs = contract.attempts[attempt]?.delayMs ?? 0;
    addEdge(
      walk,
      workQueue,
      workQueue,
      `${failure}: back after ${formatDurationMs(delayMs)}`,
      "retry",
      contract.consumer,
    );
    return;
  }
  for (const to of whereTo(walk, workQueue, key, operation)) {
    const isDead = walk.queues.get(to)?.role === "dead";
    addEdge(walk, workQueue, to, failure, isDead ? "dead" : "retry", contract.consumer);
    if (!isDead) drawDue(walk, contract, to, operation, attempt + 1);
  }
}

/** The ways of a delay that the handler asks for; they end where the other retries of that attempt do. */
function drawRetryAfter(walk: Walk, contract: Contract, workQueue: string): void {
  for (const step of contract.retryAfter ?? []) {
    const label = `handler asks for up to ${formatDurationMs(step.upToMs)}`;
    for (const { attempt } of contract.attempts.slice(0, -1)) {
      for (const operation of operationsAfter(step, attempt)) {
        if (staysInQueue(operation)) addEdge(walk, workQueue, workQueue, label, "retry", contract.consumer);
        for (const to of whereTo(walk, workQueue, routingKeyAt(contract, attempt), operation)) {
          addEdge(walk, workQueue, to, label, "retry", contract.consumer);
          drawDue(walk, contract, to, operation, attempt + 1);
        }
      }
    }
  }
}

/** Where a shared wait queue sends a message whose consumer is gone. */
function drawStrays(walk: Walk, topology: Topology): void {
  for (const { name, role } of topology.queues) {
    if (role !== "wait") continue;
    for (const to of deadLetter(walk, name, "", "expired"))
      addEdge(walk, name, to, "its consumer is gone", "dead", null);
  }
}

/** What comes out of a tier when it is due, and where it goes. */
function drawDue(walk: Walk, contract: Contract, tier: string, operation: Operation, attempt: number): void {
  const key = operation.operation === "basic.publish" ? operation.routingKey : routingKeyAt(contract, attempt);
  for (const to of deadLetter(walk, tier, key, "expired")) {
    addEdge(walk, tier, to, `due: attempt ${attempt}`, "due", contract.consumer);
  }
}

/** The routing key with which a message is in the work queue. A publisher's key stands for all of them. */
function routingKeyAt(contract: Contract, attempt: number): string {
  if (attempt > 1 && contract.attemptNumber?.from === "routing-key")
    return `${contract.attemptNumber.prefix}${attempt}`;
  return contract.sources[0]?.routingKeys[0] ?? "";
}

function staysInQueue(operation: Operation): boolean {
  if (operation.operation === "modified") return !operation.undeliverableHere;
  return (operation.operation === "basic.nack" || operation.operation === "basic.reject") && operation.requeue;
}

function whereTo(walk: Walk, workQueue: string, key: string, operation: Operation): readonly string[] {
  switch (operation.operation) {
    case "basic.publish":
      return waysOf(operation).flatMap(
        ({ exchange, routingKey }) => route(walk.index, exchange, { routingKeys: [routingKey], headers: {} }) ?? [],
      );
    case "basic.nack":
    case "basic.reject":
      return operation.requeue ? [] : deadLetter(walk, workQueue, key, "rejected");
    case "modified":
      return operation.undeliverableHere ? deadLetter(walk, workQueue, key, "rejected") : [];
    default:
      return [];
  }
}

function deadLetter(walk: Walk, queue: string, key: string, reason: string): readonly string[] {
  const deadLetterExchange = walk.queues.get(queue)?.arguments["x-dead-letter-exchange"];
  if (deadLetterExchange === undefined) return [];
  const newKey = walk.queues.get(queue)?.arguments["x-dead-letter-routing-key"];
  const headers = { "x-first-death-reason": reason, "x-first-death-queue": queue, "x-last-death-reason": reason };
  return (
    route(walk.index, String(deadLetterExchange), {
      routingKeys: [newKey === undefined ? key : String(newKey)],
      headers,
    }) ?? []
  );
}
