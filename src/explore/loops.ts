import { componentsOf } from "./components.ts";
import { type Edge, type Exploration, type Node, type Step, stepsTo } from "./explore.ts";

/**
 * Finds a cycle of states that contains another move than a return. No counter ends it. A return is no failure, so a
 * consumer may return a message for ever.
 *
 * @returns the steps of one such cycle, or undefined
 */
export function findLoop<State>({ nodes }: Exploration<State>): Step<State>[] | undefined {
  const done = new Set<number>();
  const path: { node: Node<State>; edge: Edge | null; next: number; targets: { edge: Edge; to: number }[] }[] = [];
  const onPath = new Map<number, number>();
  const enter = (index: number, edge: Edge | null): void => {
    const node = nodes.get(index) as Node<State>;
    onPath.set(index, path.length);
    path.push({ node, edge, next: 0, targets: counted(node) });
  };
  for (const index of nodes.keys()) {
    if (done.has(index)) continue;
    enter(index, null);
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
        const end = { edge: target.edge, node: nodes.get(target.to) as Node<State> };
        return [...path.slice(start + 1), end].flatMap(({ edge, node }) =>
          edge === null ? [] : [{ cause: edge.cause, label: edge.label, node }],
        );
      }
      if (!done.has(target.to)) enter(target.to, target.edge);
    }
  }
  return undefined;
}

/** The shortest way of a message into a loop, and one round from the state where the message meets it. */
export function enterLoop<State>(
  exploration: Exploration<State>,
  loop: readonly Step<State>[],
  begin?: string,
): { readonly entered: readonly Step<State>[]; readonly round: readonly Step<State>[] } {
  // A state that is nearer to the start has a lower number.
  const nearest = Math.min(...loop.map(({ node }) => node.index));
  const [first, ...rest] = loop.slice(loop.findIndex(({ node }) => node.index === nearest));
  if (first === undefined) return { entered: [], round: [] };
  const round = [...rest, ...loop.slice(0, loop.indexOf(first)), first];
  return { entered: stepsTo(exploration, first.node, begin), round };
}

/**
 * The moves of a node without returns. A return leads to the same message in the same queue. If the version counts it,
 * it is a step towards the limit and so in no cycle. States that only a return leads to count like others.
 */
function counted<State>(node: Node<State>): { edge: Edge; to: number }[] {
  return node.edges.filter((edge) => edge.cause !== "return").flatMap((edge) => edge.to.map((to) => ({ edge, to })));
}

/**
 * The most deliveries on any path through a space without loops, without counting returns. Copies that exist at the
 * same time count separately, because a handler sees the deliveries of one copy.
 */
export function longestDeliveries<State>(exploration: Exploration<State>): number {
  return mostOnPath(exploration, (edge) => edge.skipped + (edge.cause === "delivery" ? 1 : 0));
}

/** The largest sum of weights on any path through a space without loops. Returns are left out. */
export function mostOnPath<State>(
  { nodes, starts }: Exploration<State>,
  weigh: (edge: Edge, node: Node<State>) => number,
): number {
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
    most.set(index, Math.max(0, ...targets.map(({ edge, to }) => (most.get(to) ?? 0) + weigh(edge, node))));
  }
  return Math.max(0, ...starts.flatMap((start) => start.nodes.map((index) => most.get(index) ?? 0)));
}

/** The cycles of a space: groups of states that all lead back to each other. */
export function findCycles<State>({ nodes }: Pick<Exploration<State>, "nodes">): Node<State>[][] {
  const numbers = componentsOf(new Map([...nodes].map(([index, { edges }]) => [index, edges.flatMap(({ to }) => to)])));
  const parts = Map.groupBy(nodes.values(), ({ index }) => numbers.get(index) ?? -1);
  return [...parts.values()].filter(
    ([first, ...others]) => others.length > 0 || first?.edges.some(({ to }) => to.includes(first.index)) === true,
  );
}

/** A shortest loop through a state, as the steps after it. The last step leads to the state again. */
export function loopThrough<State>({ nodes }: Pick<Exploration<State>, "nodes">, start: Node<State>): Step<State>[] {
  const cameBy = new Map<number, { readonly from: Node<State>; readonly edge: Edge }>();
  const open = [start];
  for (const from of open) {
    for (const edge of from.edges) {
      for (const to of edge.to) {
        const node = nodes.get(to);
        if (node === undefined || cameBy.has(to)) continue;
        cameBy.set(to, { from, edge });
        if (node !== start) open.push(node);
      }
    }
    if (cameBy.has(start.index)) break;
  }
  const steps: Step<State>[] = [];
  for (let at = start; steps.length === 0 || at !== start;) {
    const came = cameBy.get(at.index);
    if (came === undefined) return [];
    steps.unshift({ cause: came.edge.cause, label: came.edge.label, node: at });
    at = came.from;
  }
  return steps;
}
