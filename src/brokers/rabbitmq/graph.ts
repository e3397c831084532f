import { deepFreeze } from "../../declare/freeze.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import { type Graph, type GraphEdge, type GraphNode, joinEvents } from "../graph.ts";
import type { RabbitmqCompiled } from "./compile/compile.ts";
import type { Contract, Operation } from "./compile/contract.ts";
import { defaultExchange } from "./compile/names.ts";
import { joinAlike } from "./join-alike.ts";
import { headerTexts } from "../../plan/plan.ts";
import { operationsAfter, waysOf } from "../../contract/interpret.ts";
import { type RoutingIndex, route, routingIndex } from "./prove/routing.ts";
import { alternatesByPolicy, brokerTopologyOf } from "./prove/semantics.ts";
import { type QueueResource, type Topology, deadLetteringOf } from "./compile/topology.ts";

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
    policies: new Map(topology.policies.map(({ name, definition }) => [name, definition])),
    edges: [],
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
      edges: joinEvents(walk.edges),
    },
    ({ id }) => walk.queues.get(id)?.role === "wait",
    (alike) => waitsNode(walk, alike),
  );
  return deepFreeze({ title: `${topology.system} on ${topology.target}`, nodes, edges });
}

interface Walk {
  readonly index: RoutingIndex;
  readonly queues: ReadonlyMap<string, QueueResource>;
  readonly policies: ReadonlyMap<string, Topology["policies"][number]["definition"]>;
  readonly edges: GraphEdge[];
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

function ttlMsOf({ policies }: Walk, queue: string): string | number | undefined {
  return policies.get(queue)?.["message-ttl"];
}

function queueNode(walk: Walk, queue: QueueResource): GraphNode {
  const ttlMs = ttlMsOf(walk, queue.name);
  const kind = queue.role === "work" ? "work" : queue.role === "tier" || queue.role === "wait" ? "tier" : "dead";
  return {
    id: queue.name,
    kind,
    label: queue.name,
    ...(typeof ttlMs === "number" && {
      detail: `waits ${queue.role === "wait" ? "up to " : ""}${formatDurationMs(ttlMs)}`,
    }),
    consumer: queue.consumer,
  };
}

/** Wait queues that a picture need not tell apart. */
function waitsNode(walk: Walk, alike: readonly GraphNode[]): GraphNode {
  const byLength = alike.toSorted((a, b) => Number(ttlMsOf(walk, a.id)) - Number(ttlMsOf(walk, b.id)));
  const [shortest, longest] = [byLength[0] as GraphNode, byLength.at(-1) as GraphNode];
  const [fromMs, toMs] = [Number(ttlMsOf(walk, shortest.id)), Number(ttlMsOf(walk, longest.id))];
  return {
    ...(alike[0] as GraphNode),
    label: `${shortest.label} … ${longest.label}`,
    joined: alike.map(({ id }) => id),
    detail: `${alike.length} queues, wait up to ${formatDurationMs(fromMs)} … ${formatDurationMs(toMs)}`,
  };
}

/** Adds an arrow to each of these places, or a line to the arrow that is there. */
function addEdges(
  walk: Walk,
  { from, kind, consumer }: Omit<GraphEdge, "label" | "to">,
  to: readonly string[],
  label: string,
): void {
  walk.edges.push(...to.map((place) => ({ from, to: place, kind, consumer, label })));
}

function drawSources(walk: Walk, { consumer, sources, workQueue }: Contract): void {
  for (const { exchange, routingKeys, arguments: wanted } of sources) {
    const { "x-match": match = "", ...headers } = wanted ?? {};
    const pairs = headerTexts(headers);
    const label = pairs.length === 0 ? routingKeys.join("\n") : [match, ...pairs].join("\n");
    const arrow = { from: `source:${exchange}`, kind: "publish", consumer } as const;
    addEdges(walk, arrow, [workQueue ?? `instance:${consumer}`], label);
  }
}

function drawWork(walk: Walk, contract: Contract, workQueue: string): void {
  const { consumer, outcomes, crashDeliveries } = contract;
  const dead = { from: workQueue, kind: "dead", consumer } as const;
  for (const { attempt } of contract.attempts) {
    for (const operation of operationsAfter(outcomes.transient, attempt)) {
      drawFailure(walk, contract, workQueue, attempt, operation);
    }
    for (const operation of operationsAfter(outcomes.permanent, attempt)) {
      addEdges(walk, dead, whereTo(walk, workQueue, messageAt(contract, attempt), operation), "permanent failure");
    }
  }
  drawRetryAfter(walk, contract, workQueue);
  const crashes = `${crashDeliveries} ${crashDeliveries === 1 ? "crash" : "crashes"} (delivery limit)`;
  addEdges(walk, dead, deadLetter(walk, workQueue, messageAt(contract, 1), "delivery_limit"), crashes);
}

function drawFailure(walk: Walk, contract: Contract, workQueue: string, attempt: number, operation: Operation): void {
  const failure = `failure of attempt ${attempt}`;
  const message = messageAt(contract, attempt);
  const retry = { from: workQueue, kind: "retry", consumer: contract.consumer } as const;
  const dead = { ...retry, kind: "dead" } as const;
  if (!staysInQueue(operation)) {
    for (const to of whereTo(walk, workQueue, message, operation)) {
      const isDead = walk.queues.get(to)?.role === "dead";
      addEdges(walk, isDead ? dead : retry, [to], failure);
      if (!isDead) drawDue(walk, contract, to, operation, attempt + 1);
    }
  } else if (attempt === contract.attempts.length) {
    addEdges(walk, dead, deadLetter(walk, workQueue, message, "delivery_limit"), `${failure} (delivery limit)`);
  } else {
    const delayMs = contract.attempts[attempt]?.delayMs ?? 0;
    addEdges(walk, retry, [workQueue], `${failure}: back after ${formatDurationMs(delayMs)}`);
  }
}

/** The paths of a delay that the handler asks for. They end like the other retries of that attempt. */
function drawRetryAfter(walk: Walk, contract: Contract, workQueue: string): void {
  const retry = { from: workQueue, kind: "retry", consumer: contract.consumer } as const;
  for (const step of contract.retryAfter ?? []) {
    const label = `handler asks for up to ${formatDurationMs(step.upToMs)}`;
    for (const { attempt } of contract.attempts.slice(0, -1)) {
      for (const operation of operationsAfter(step, attempt)) {
        if (staysInQueue(operation)) addEdges(walk, retry, [workQueue], label);
        for (const to of whereTo(walk, workQueue, messageAt(contract, attempt), operation)) {
          addEdges(walk, retry, [to], label);
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
    const to = deadLetter(walk, name, { routingKey: "", exchange: "" }, "expired");
    addEdges(walk, { from: name, kind: "dead", consumer: null }, to, "its consumer is gone");
  }
}

/** Draws the arrows of messages that leave a tier when they are due. */
function drawDue(walk: Walk, contract: Contract, tier: string, operation: Operation, attempt: number): void {
  const message =
    operation.operation === "basic.publish"
      ? { routingKey: operation.routingKey, exchange: operation.exchange }
      : messageAt(contract, attempt);
  const due = { from: tier, kind: "due", consumer: contract.consumer } as const;
  addEdges(walk, due, deadLetter(walk, tier, message, "expired"), `due: attempt ${attempt}`);
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
  const { exchange, key } = deadLetteringOf(walk.queues.get(queue)?.arguments ?? {}, walk.policies.get(queue));
  if (exchange === null) return [];
  const headers = { "x-last-death-reason": reason, "x-last-death-exchange": message.exchange };
  return (
    route(walk.index, exchange, {
      routingKeys: [key ?? message.routingKey],
      headers,
    }) ?? []
  );
}
