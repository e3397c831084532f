import { deepFreeze } from "../../declare/freeze.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import { type Graph, type GraphEdge, type GraphNode, joinEvents, producersBy } from "../graph.ts";
import type { SqsCompiled } from "./compile/compile.ts";
import { type Contract, type Operation, topicSources } from "./compile/contract.ts";
import { operationsAfter } from "../../contract/interpret.ts";
import type { SqsQueue, SqsTopology } from "./compile/topology.ts";
import { inWords } from "./compile/strategies/strategy.ts";

/**
 * Draws a topology as the places where messages are. Every arrow comes from a subscription, a redrive policy or the
 * contract.
 */
export function graphOf({ topology, contracts }: SqsCompiled): Graph {
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  return deepFreeze<Graph>({
    title: `${topology.system} on ${topology.target}`,
    nodes: [
      ...topology.topics.map(({ name, fifo }): GraphNode => {
        const detail = fifo ? "FIFO topic" : "topic";
        return { id: `topic:${name}`, kind: "source", label: name.split(":").at(-1) ?? name, detail, consumer: null };
      }),
      ...(contracts.some(isDirect) ? [producers] : []),
      ...topology.queues.map((queue) => nodeOf(topology, queue)),
    ],
    edges: contracts.flatMap((contract) => [
      ...publishEdges(topology, contract),
      ...retryEdges(contract, queues),
      ...deadEdges(contract, queues),
    ]),
  });
}

const producers = producersBy("SendMessage");

function isDirect({ sources }: Contract): boolean {
  return sources.some((source) => "queue" in source);
}

function nodeOf({ mappings }: SqsTopology, { name, role, consumer, visibilityTimeoutSeconds }: SqsQueue): GraphNode {
  const node = { id: name, label: name, consumer };
  switch (role) {
    case "work": {
      const hidden = `hidden for ${inWords(visibilityTimeoutSeconds)} after a receive`;
      const by = mappings.filter(({ queue }) => queue === name).map(({ functionName }) => `by Lambda ${functionName}`);
      return { ...node, kind: "work", detail: [hidden, ...by].join(" ") };
    }
    case "dead":
      return { ...node, kind: "dead" };
    case "parked":
      return { ...node, kind: "dead", detail: "letters that people have parked" };
    case "undelivered":
      return { ...node, kind: "dead", detail: "messages that no topic could deliver" };
    default:
      return role satisfies never;
  }
}

function publishEdges({ subscriptions }: SqsTopology, contract: Contract): GraphEdge[] {
  if (isDirect(contract)) {
    const { workQueue: to, consumer } = contract;
    return [{ from: producers.id, to, label: "all", kind: "publish", consumer }];
  }
  return subscriptions
    .filter(({ queue }) => queue === contract.workQueue)
    .flatMap(({ topic, queue, deadQueue, consumer }): GraphEdge[] => {
      const {
        routingKeys = "all",
        attributes = null,
        filterPolicy,
      } = topicSources(contract).find((each) => each.topic === topic) ?? {};
      const stated = filterPolicy === undefined ? routingKeys : [`filter by ${Object.keys(filterPolicy).join(", ")}`];
      const keys =
        attributes === null ? stated : Object.entries(attributes).map(([name, all]) => `${name}=${all.join("|")}`);
      const from = `topic:${topic}`;
      return [
        { from, to: queue, label: keys === "all" ? "all" : keys.join("\n"), kind: "publish", consumer },
        { from, to: deadQueue, label: "cannot be delivered", kind: "dead", consumer },
      ];
    });
}

/** A message in retry stays in its queue, hidden. The drawing shows a loop with a line for each attempt. */
function retryEdges(contract: Contract, queues: ReadonlyMap<string, SqsQueue>): readonly GraphEdge[] {
  const { workQueue, consumer, retryAfter = [] } = contract;
  const visibility = queues.get(workQueue)?.visibilityTimeoutSeconds ?? 0;
  const lines = contract.attempts.slice(0, -1).map(({ attempt }) => {
    const [operation] = operationsAfter(contract.outcomes.transient, attempt);
    return `failure of attempt ${attempt}: back ${backAfter(operation, visibility)}`;
  });
  const asked = retryAfter.map(({ upToMs }) => `handler asks for up to ${formatDurationMs(upToMs)}`);
  const labels = lines.length === 0 ? [] : [...lines, ...asked];
  return joinEvents(labels.map((label) => ({ from: workQueue, to: workQueue, label, kind: "retry", consumer })));
}

function backAfter(operation: Operation | undefined, visibilitySeconds: number): string {
  if (operation?.operation !== "ChangeMessageVisibility") return `${inWords(visibilitySeconds)} after its receive`;
  const { visibilityTimeoutSeconds: after } = operation;
  if (after === "asked") return "when it asks";
  return after.from === after.to
    ? `after ${inWords(after.from)}`
    : `after ${inWords(after.from)} to ${inWords(after.to)}`;
}

function deadEdges(contract: Contract, queues: ReadonlyMap<string, SqsQueue>): readonly GraphEdge[] {
  const { workQueue, consumer } = contract;
  const redrive = queues.get(workQueue)?.redrive ?? null;
  const sent = operationsAfter(contract.outcomes.permanent, 1).flatMap((each) =>
    each.operation === "SendMessage" ? [each.queue] : [],
  );
  const edgeTo = (to: string, label: string): GraphEdge => ({ from: workQueue, to, label, kind: "dead", consumer });
  const edges = sent.map((to) => edgeTo(to, "permanent failure"));
  if (redrive !== null) {
    const receives = redrive.maxReceiveCount;
    edges.push(edgeTo(redrive.deadQueue, `not deleted after ${receives === 1 ? "1 receive" : `${receives} receives`}`));
  }
  return joinEvents(edges);
}
