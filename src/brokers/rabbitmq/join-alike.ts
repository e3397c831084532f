import type { Graph, GraphNode } from "../graph.ts";

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
  const ends = edges.flatMap(({ from, to, label, kind, consumer }) => [
    { id: from, arrow: JSON.stringify([null, to, label, kind, consumer]) },
    { id: to, arrow: JSON.stringify([from, null, label, kind, consumer]) },
  ]);
  const arrows = Map.groupBy(ends, ({ id }) => id);
  const groups = Map.groupBy(nodes.filter(isJoined), ({ id }) =>
    JSON.stringify((arrows.get(id) ?? []).map(({ arrow }) => arrow).toSorted()),
  );
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
