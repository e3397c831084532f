import type { Graph, GraphEdge, GraphNode } from "../brokers/graph.ts";
import { visible, visibleLines } from "../diagnostics/visible.ts";

/** The colours of edges, the same in every drawing. */
export const strokes: Readonly<Record<GraphEdge["kind"], string>> = {
  publish: "#64748b",
  retry: "#b07d1a",
  due: "#2f6fb3",
  dead: "#b3443a",
};

/** The colours of nodes, the same in every drawing. */
export const colours: Readonly<Record<GraphNode["kind"], Readonly<Record<"fill" | "stroke" | "text", string>>>> = {
  source: { fill: "#eef2f6", stroke: "#64748b", text: "#1e293b" },
  work: { fill: "#e3eefb", stroke: "#2f6fb3", text: "#14324f" },
  tier: { fill: "#fdf3dc", stroke: "#b07d1a", text: "#4a3508" },
  dead: { fill: "#fbe6e4", stroke: "#b3443a", text: "#571b15" },
  instance: { fill: "#e4f3ec", stroke: "#2f855a", text: "#143d2a" },
};

/**
 * A graph with short ids instead of names, in the order in which a message passes its places. Every drawing starts from
 * it. Layout programs draw earlier places further to the left and to the top.
 */
export type NumberedGraph = ReturnType<typeof numberGraph>;

export interface NumberedNode extends GraphNode {
  readonly number: string;
}

const nodeOrder: readonly GraphNode["kind"][] = ["source", "instance", "work", "tier", "dead"];
const edgeOrder: readonly GraphEdge["kind"][] = ["publish", "retry", "due", "dead"];

/**
 * Gives every node a generated id (n0, n1, …), so that no name can break a drawing's syntax.
 *
 * @throws Error if an edge leads to a missing node, which is a mistake in a broker's `graphOf`
 */
export function numberGraph(graph: Graph) {
  const consumers = [...new Set([...graph.edges, ...graph.nodes].flatMap(({ consumer }) => consumer ?? []))];
  const rank = ({ consumer }: GraphNode): number =>
    consumer === null ? consumers.length : consumers.indexOf(consumer);
  const nodes: readonly NumberedNode[] = graph.nodes
    .toSorted(
      (a, b) =>
        Number(isSource(b)) - Number(isSource(a)) ||
        rank(a) - rank(b) ||
        nodeOrder.indexOf(a.kind) - nodeOrder.indexOf(b.kind),
    )
    .map((node, index) => ({ ...node, number: `n${index}` }));
  const numbers = new Map(nodes.map((node) => [node.id, node.number]));
  const numberOf = (node: string): string => {
    const number = numbers.get(node);
    if (number === undefined)
      throw new Error(`in the graph ${JSON.stringify(graph.title)} an edge leads to no node: ${node}`);
    return number;
  };
  return {
    /** The sources of all consumers, which a message passes first. */
    sources: nodes.filter(isSource),
    consumers: consumers.map((consumer) => ({
      consumer,
      nodes: nodes.filter((node) => node.consumer === consumer && !isSource(node)),
    })),
    /** Tiers and dead queues that consumers share. */
    shared: nodes.filter((node) => node.consumer === null && !isSource(node)),
    edges: graph.edges
      .toSorted((a, b) => edgeOrder.indexOf(a.kind) - edgeOrder.indexOf(b.kind))
      .map((edge) => ({ ...edge, fromNumber: numberOf(edge.from), toNumber: numberOf(edge.to) })),
  };
}

function isSource({ kind }: GraphNode): boolean {
  return kind === "source";
}

/**
 * The part of a graph that one consumer sees: its own places, and the shared sources and tiers on its messages' way.
 */
export function graphOfConsumer(graph: Graph, consumer: string): Graph {
  const edges = graph.edges.filter((edge) => edge.consumer === consumer);
  const touched = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return {
    title: `${consumer}: ${graph.title}`,
    nodes: graph.nodes.filter((node) => node.consumer === consumer || touched.has(node.id)),
    edges,
  };
}

/** Equal for graphs of consumers that differ only in their names, and in the keys that they take. */
export function shapeOf({ nodes, edges }: Graph, consumer: string): string {
  const moves = edges.map((edge) => (edge.kind === "publish" ? { ...edge, label: "" } : edge));
  const texts = [...nodes, ...moves].map((each) => nameless(JSON.stringify(each), consumer));
  return texts.toSorted().join();
}

/** A text without the name of its consumer. A name could also be a number or a duration, which then stays. */
export function nameless(text: string, name: string): string {
  if (!/^\p{L}/u.test(name)) return text;
  const isPart = (at: number): boolean => /[\p{L}\d]/u.test(`${text[at - 1] ?? ""}${text[at + name.length] ?? ""}`);
  return text.replaceAll(name, (_, at: number) => (isPart(at) ? name : "\0"));
}

const maxLabelLines = 8;
const maxLineLength = 40;

/** The lines of a label. It folds long names at a dot or hyphen, and cuts a long list with the count of the rest. */
export function labelLines(text: string): readonly string[] {
  const lines = visibleLines(text);
  const kept = lines.length <= maxLabelLines ? lines : lines.slice(0, maxLabelLines - 1);
  const folded = kept.flatMap(fold);
  return kept.length === lines.length ? folded : [...folded, `and ${lines.length - kept.length} more`];
}

/** The lines of a name. It folds like a label, but a line feed is part of the name and ends no line. */
export function nameLines(name: string): readonly string[] {
  return fold(visible(name));
}

function fold(line: string): readonly string[] {
  const lines: string[] = [];
  let rest = [...line];
  while (rest.length > maxLineLength) {
    const window = rest.slice(0, maxLineLength);
    const at = window.findLastIndex((character, index) => index >= maxLineLength / 2 && /[\s.,:;_-]/u.test(character));
    const end = at === -1 ? maxLineLength : at + 1;
    lines.push(rest.slice(0, end).join("").trimEnd());
    rest = rest.slice(end);
  }
  return [...lines, rest.join("")];
}
