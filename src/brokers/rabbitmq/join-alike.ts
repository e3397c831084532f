import type { Graph, GraphEdge, GraphNode } from "../graph.ts";

type Drawing = Pick<Graph, "nodes" | "edges">;

/**
 * Draws places as one if the same arrows lead to and from them, such as the queues between which jitter chooses.
 *
 * @param isJoined selects the places that may be drawn together
 * @param join makes the place that stands for several. It has the id of the first
 */
export function joinAlike(
  { nodes, edges }: Drawing,
  isJoined: (node: GraphNode) => boolean,
  join: (alike: readonly GraphNode[]) => GraphNode,
): Drawing {
  const arrows = new Map<string, string[]>();
  const addArrow = (id: string, { label, kind, consumer }: GraphEdge, from: string | null, to: string | null): void => {
    const arrow = JSON.stringify([from, to, label, kind, consumer]);
    const known = arrows.get(id);
    if (known === undefined) arrows.set(id, [arrow]);
    else known.push(arrow);
  };
  for (const edge of edges) {
    addArrow(edge.from, edge, null, edge.to);
    addArrow(edge.to, edge, edge.from, null);
  }
  const groups = Map.groupBy(nodes.filter(isJoined), ({ id }) => (arrows.get(id) ?? []).toSorted().join("\n"));
  const standsFor = new Map<string, GraphNode | null>();
  for (const alike of groups.values()) {
    const [first, ...others] = alike;
    if (first === undefined || others.length === 0) continue;
    standsFor.set(first.id, join(alike));
    for (const { id } of others) standsFor.set(id, null);
  }
  return {
    nodes: nodes.flatMap((node) => {
      const stands = standsFor.get(node.id);
      return stands === undefined ? [node] : stands === null ? [] : [stands];
    }),
    edges: edges.filter(({ from, to }) => standsFor.get(from) !== null && standsFor.get(to) !== null),
  };
}
