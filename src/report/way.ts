import type { Graph, GraphEdge } from "../brokers/graph.ts";

/** A screen reader reads the whole text at once, so it ends after so many moves. */
const mostMoves = 40;

const verbs: Readonly<Record<GraphEdge["kind"], string>> = {
  publish: "Messages go",
  retry: "A failed message goes",
  due: "It comes back",
  dead: "A dead message goes",
};

/** The way of a message through a graph, in sentences, for readers who do not see the picture. */
export function wayOf(graph: Graph): string {
  const labels = new Map(graph.nodes.map(({ id, label }) => [id, label]));
  const sentences = graph.edges.slice(0, mostMoves).map(({ kind, from, to, label }) => {
    const place = from === to ? `to ${labels.get(to)} again` : `from ${labels.get(from)} to ${labels.get(to)}`;
    const cause = label.replaceAll("\n", ", ");
    return `${verbs[kind]} ${place}${cause === "" ? "" : `: ${cause}`}.`;
  });
  const more = graph.edges.length - sentences.length;
  return [...sentences, ...(more > 0 ? [`And ${more} more moves.`] : [])].join(" ");
}
