import type { Edge, Exploration, Node } from "./explore.ts";

/**
 * A cycle of states in which something other than a return happens: nothing counts it, so nothing ends it.
 * Returns are no failures; a consumer that hands back for ever may.
 *
 * @returns the steps of one such cycle, or undefined
 */
export function findLoop<State>({
  nodes,
}: Exploration<State>): { readonly label: string; readonly node: Node<State> }[] | undefined {
  const done = new Set<number>();
  const path: { node: Node<State>; label: string; next: number; targets: { edge: Edge; to: number }[] }[] = [];
  const onPath = new Map<number, number>();
  const enter = (index: number, label: string): void => {
    const node = nodes.get(index) as Node<State>;
    onPath.set(index, path.length);
    path.push({ node, label, next: 0, targets: counted(node) });
  };
  for (const index of nodes.keys()) {
    if (done.has(index)) continue;
    enter(index, "");
    while (path.length > 0) {
      const top = path.at(-1) as (typeof path)[number];
      const target = top.targets[top.next++];
      if (target === undefined) {
        path.pop();
        onPath.delete(top.node.index);
        done.add(top.node.index);
        continue;
      }
      const start = onPath.get(target.to);
      if (start !== undefined) {
        const steps = path.slice(start + 1).map(({ label, node }) => ({ label, node }));
        return [...steps, { label: target.edge.label, node: nodes.get(target.to) as Node<State> }];
      }
      if (!done.has(target.to)) enter(target.to, target.edge.label);
    }
  }
  return undefined;
}

/**
 * Where a node leads by anything but a return. A return leads back to the same message in the same queue; on a version that
 * counts it, it is a step towards the limit and so part of no cycle. States that only a return leads to are nodes like others.
 */
function counted<State>(node: Node<State>): { edge: Edge; to: number }[] {
  return node.edges.filter((edge) => edge.cause !== "return").flatMap((edge) => edge.to.map((to) => ({ edge, to })));
}

/**
 * The most deliveries on any way through a space without loops, returns not counted. Copies that exist at the same time are
 * counted one by one: the most of a single line is what a handler can see of one copy.
 */
export function longestDeliveries<State>({ nodes, starts }: Exploration<State>): number {
  const most = new Map<number, number>();
  const stack = starts.flatMap((start) => [...start.nodes]);
  while (stack.length > 0) {
    const index = stack.at(-1) as number;
    if (most.has(index)) {
      stack.pop();
      continue;
    }
    const node = nodes.get(index) as Node<State>;
    const targets = counted(node);
    const missing = targets.filter(({ to }) => !most.has(to));
    if (missing.length > 0) {
      stack.push(...missing.map(({ to }) => to));
      continue;
    }
    stack.pop();
    most.set(
      index,
      Math.max(0, ...targets.map(({ edge, to }) => (most.get(to) ?? 0) + (edge.cause === "delivery" ? 1 : 0))),
    );
  }
  return Math.max(0, ...starts.flatMap((start) => start.nodes.map((index) => most.get(index) ?? 0)));
}
