import { deepFreeze } from "../../declare/freeze.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import type { Graph, GraphEdge, GraphNode } from "../graph.ts";
import type { RabbitmqCompiled } from "./compile/compile.ts";
import type { Contract, Operation } from "./compile/contract.ts";
import { defaultExchange } from "./compile/names.ts";
import { joinAlike } from "./join-alike.ts";
import { operationsAfter, waysOf } from "../../contract/interpret.ts";
import { type RoutingIndex, route, routingIndex } from "./prove/routing.ts";
import { alternatesByPolicy, brokerTopologyOf } from "./prove/semantics.ts";
import type { QueueResource, Topology } from "./compile/topology.ts";

/**
 * Draws a topology as the places where messages are. It finds every arrow by routing a message like the broker, from
 * the contract's operations, and none from knowing the strategy.
 */
export function graphOf(compiled: RabbitmqCompiled): Graph {
  const { topology, contracts } = compiled;
  const { exchanges, policies } = brokerTopologyOf(topology);
  const walk: Walk = {
    index: routingIndex(topology, alternatesByPolicy(exchanges, policies)),
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
        ...sourceNodes(topology, contracts),
        ...instanceNodes(contracts),
        ...topology.queues.map((queue) => queueNode(walk, queue)),
      ],
      edges: [...walk.edges.values()].map(({ labels, ...edge }) => ({ ...edge, label: labels.join("\n") })),
    },
    ({ id }) => walk.queues.get(id)?.role === "wait",
    (alike) => waitsNode(walk, alike),
  );
  return deepFreeze({ title: `${topology.system} on ${topology.target}`, nodes, edges });
}

interface Walk {
  readonly index: RoutingIndex;
  readonly queues: ReadonlyMap<string, QueueResource>;
  readonly ttlMs: ReadonlyMap<string, string | number | undefined>;
  readonly edges: Map<string, Omit<GraphEdge, "label"> & { readonly labels: string[] }>;
}

function sourceNodes(topology: Topology, contracts: readonly Contract[]): GraphNode[] {
  const isDirect = contracts.some(({ sources }) => sources.some(({ exchange }) => exchange === defaultExchange));
  const nodeOf = (name: string, label: string, detail: string): GraphNode => {
    return { id: `source:${name}`, kind: "source", label, detail, consumer: null };
  };
  return [
    ...topology.exchanges
      .filter((exchange) => exchange.role === "source")
      .map(({ name, kind }) => nodeOf(name, name, `${kind} exchange`)),
    ...(isDirect ? [nodeOf(defaultExchange, "producers", "default exchange")] : []),
  ];
}

function instanceNodes(contracts: readonly Contract[]): GraphNode[] {
  return contracts
    .filter((contract) => contract.workQueue === null)
    .map(({ consumer }) => {
      const detail = "one queue per instance";
      return { id: `instance:${consumer}`, kind: "instance", label: consumer, detail, consumer };
    });
}

function queueNode(walk: Walk, queue: QueueResource): GraphNode {
  const ttlMs = walk.ttlMs.get(queue.name);
  const kind = queue.role === "work" ? "work" : queue.role === "tier" || queue.role === "wait" ? "tier" : "dead";
  return {
    id: queue.name,
    kind,
    label: queue.name,
    ...(typeof ttlMs === "number"
      ? { detail: `waits ${queue.role === "wait" ? "up to " : ""}${formatDurationMs(ttlMs)}` }
      : {}),
    consumer: queue.consumer,
  };
}

/** Wait queues that a picture need not tell apart. */
function waitsNode(walk: Walk, alike: readonly GraphNode[]): GraphNode {
  const byLength = alike.toSorted((a, b) => Number(walk.ttlMs.get(a.id)) - Number(walk.ttlMs.get(b.id)));
  const [shortest, longest] = [byLength[0] as GraphNode, byLength.at(-1) as GraphNode];
  const [fromMs, toMs] = [Number(walk.ttlMs.get(shortest.id)), Number(walk.ttlMs.get(longest.id))];
  return {
    ...(alike[0] as GraphNode),
    label: `${shortest.label} … ${longest.label}`,
    joined: alike.map(({ id }) => id),
    detail: `${alike.length} queues, wait up to ${formatDurationMs(fromMs)} … ${formatDurationMs(toMs)}`,
  };
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
  for (const { exchange, routingKeys, arguments: wanted } of contract.sources) {
    const { "x-match": match = "", ...headers } = wanted ?? {};
    const pairs = Object.entries(headers).map(([key, value]) => `${key}=${value}`);
    const label = pairs.length === 0 ? routingKeys.join("\n") : [match, ...pairs].join("\n");
    addEdge(walk, `source:${exchange}`, to, label, "publish", contract.consumer);
  }
}

function drawWork(walk: Walk, contract: Contract, workQueue: string): void {
  for (const { attempt } of contract.attempts) {
    const message = messageAt(contract, attempt);
    for (const operation of operationsAfter(contract.outcomes.transient, attempt)) {
      drawFailure(walk, contract, workQueue, attempt, message, operation);
    }
    for (const operation of operationsAfter(contract.outcomes.permanent, attempt)) {
      for (const to of whereTo(walk, workQueue, message, operation)) {
        addEdge(walk, workQueue, to, "permanent failure", "dead", contract.consumer);
      }
    }
  }
  drawRetryAfter(walk, contract, workQueue);
  const crashes = `${contract.crashDeliveries} ${contract.crashDeliveries === 1 ? "crash" : "crashes"} (delivery limit)`;
  for (const to of deadLetter(walk, workQueue, messageAt(contract, 1), "delivery_limit")) {
    addEdge(walk, workQueue, to, crashes, "dead", contract.consumer);
  }
}

function drawFailure(
  walk: Walk,
  contract: Contract,
  workQueue: string,
  attempt: number,
  message: Routed,
  operation: Operation,
): void {
  const isLast = attempt === contract.attempts.length;
  const failure = `failure of attempt ${attempt}`;
  if (staysInQueue(operation)) {
    if (isLast) {
      for (const to of deadLetter(walk, workQueue, message, "delivery_limit")) {
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
  for (const to of whereTo(walk, workQueue, message, operation)) {
    const isDead = walk.queues.get(to)?.role === "dead";
    addEdge(walk, workQueue, to, failure, isDead ? "dead" : "retry", contract.consumer);
    if (!isDead) drawDue(walk, contract, to, operation, attempt + 1);
  }
}

/** The paths of a delay that the handler asks for. They end like the other retries of that attempt. */
function drawRetryAfter(walk: Walk, contract: Contract, workQueue: string): void {
  for (const step of contract.retryAfter ?? []) {
    const label = `handler asks for up to ${formatDurationMs(step.upToMs)}`;
    for (const { attempt } of contract.attempts.slice(0, -1)) {
      for (const operation of operationsAfter(step, attempt)) {
        if (staysInQueue(operation)) addEdge(walk, workQueue, workQueue, label, "retry", contract.consumer);
        for (const to of whereTo(walk, workQueue, messageAt(contract, attempt), operation)) {
          addEdge(walk, workQueue, to, label, "retry", contract.consumer);
          drawDue(walk, contract, to, operation, attempt + 1);
        }
      }
    }
  }
}

/** The places to which a shared queue sends a message whose consumer is gone. */
function drawStrays(walk: Walk, topology: Topology): void {
  for (const { name, role } of topology.queues) {
    if (role !== "wait" && role !== "tier") continue;
    for (const to of deadLetter(walk, name, { routingKey: "", exchange: "" }, "expired"))
      addEdge(walk, name, to, "its consumer is gone", "dead", null);
  }
}

/** Draws the arrows of messages that leave a tier when they are due. */
function drawDue(walk: Walk, contract: Contract, tier: string, operation: Operation, attempt: number): void {
  const message =
    operation.operation === "basic.publish"
      ? { routingKey: operation.routingKey, exchange: operation.exchange }
      : messageAt(contract, attempt);
  for (const to of deadLetter(walk, tier, message, "expired")) {
    addEdge(walk, tier, to, `due: attempt ${attempt}`, "due", contract.consumer);
  }
}

/** The key and the exchange that a message came with. */
interface Routed {
  readonly routingKey: string;
  readonly exchange: string;
}

/** The message of an attempt, in the work queue. A publisher's key stands for all of them. */
function messageAt({ attemptNumber, sources, workQueue }: Contract, attempt: number): Routed {
  const published = { routingKey: sources[0]?.routingKeys[0] ?? "", exchange: sources[0]?.exchange ?? "" };
  if (attempt === 1) return published;
  if (attemptNumber?.from === "routing-key") return { ...published, routingKey: `${attemptNumber.prefix}${attempt}` };
  if (attemptNumber?.from === "exchange")
    return { routingKey: workQueue ?? "", exchange: `${attemptNumber.prefix}${attempt}` };
  return published;
}

function staysInQueue(operation: Operation): boolean {
  if (operation.operation === "modified") return !operation.undeliverableHere;
  return (operation.operation === "basic.nack" || operation.operation === "basic.reject") && operation.requeue;
}

function whereTo(walk: Walk, workQueue: string, message: Routed, operation: Operation): readonly string[] {
  switch (operation.operation) {
    case "basic.publish":
      return waysOf(operation).flatMap(
        ({ exchange, routingKey }) => route(walk.index, exchange, { routingKeys: [routingKey], headers: {} }) ?? [],
      );
    case "basic.nack":
    case "basic.reject":
      return operation.requeue ? [] : deadLetter(walk, workQueue, message, "rejected");
    case "modified":
      return operation.undeliverableHere ? deadLetter(walk, workQueue, message, "rejected") : [];
    default:
      return [];
  }
}

function deadLetter(walk: Walk, queue: string, message: Routed, reason: string): readonly string[] {
  const deadLetterExchange = walk.queues.get(queue)?.arguments["x-dead-letter-exchange"];
  if (deadLetterExchange === undefined) return [];
  const newKey = walk.queues.get(queue)?.arguments["x-dead-letter-routing-key"];
  const headers = { "x-last-death-reason": reason, "x-last-death-exchange": message.exchange };
  return (
    route(walk.index, String(deadLetterExchange), {
      routingKeys: [newKey === undefined ? message.routingKey : String(newKey)],
      headers,
    }) ?? []
  );
}
