import type { Cause, Model, Situation } from "./model.ts";

/** One state that can be reached, and what can happen in it. */
export interface Node<State> {
  readonly index: number;
  readonly state: State;
  readonly situation: Situation;
  readonly edges: readonly Edge[];
  /** The way by which it was first reached; null for a start. Following it back gives a shortest trace. */
  readonly reachedBy: { readonly from: number; readonly label: string } | null;
}

export interface Edge {
  readonly cause: Cause;
  readonly label: string;
  /** How long the message waits before, at least and at most. */
  readonly waitedMs: number;
  readonly waitedLatestMs: number;
  /** The copies that this one way of ending the move leaves. */
  readonly to: readonly number[];
}

/** Every state of one message that any behaviour of the consumer can lead to, nearest first. */
export interface Exploration<State> {
  /** By their index; where only some behaviours are allowed, what those do not reach is not in it. */
  readonly nodes: ReadonlyMap<number, Node<State>>;
  /** For each declared routing key the nodes of its copies. */
  readonly starts: readonly { readonly key: string; readonly nodes: readonly number[] }[];
}

/** Of a topology that the compiler made, a space larger than this is a mistake in the model: every counter in it is bounded. */
const mostStates = 1_000_000;

/**
 * Visits every reachable state, breadth first, so that the first way to a state is a shortest one.
 *
 * States are merged by the model's key. That is sound because two states with one key behave alike for ever: whatever a
 * path through the one shows, the same path through the other shows.
 *
 * That nobody consumes, or not for a long time, needs no move of its own: a way through the space may take the moves of time alone
 * for as long as there are any, before it takes a delivery.
 *
 * @throws Error when the space is not small, which only a wrong model can cause
 */
export function explore<State>(model: Model<State>): Exploration<State> {
  const exploration = exploreUpTo(model, mostStates);
  if (exploration === null) throw new Error(`more than ${mostStates} states of one message of ${model.consumer}`);
  return exploration;
}

/**
 * The same for a model of what somebody else made, which can be as large as it likes.
 *
 * @returns null where there are more states than the limit
 */
export function exploreUpTo<State>(model: Model<State>, limit: number): Exploration<State> | null {
  const nodes = new Map<number, Node<State> & { edges: Edge[] }>();
  const byKey = new Map<string, number>();
  const visit = (state: State, reachedBy: Node<State>["reachedBy"]): number => {
    const key = model.keyOf(state);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const index = nodes.size;
    byKey.set(key, index);
    nodes.set(index, { index, state, situation: model.situationOf(state), edges: [], reachedBy });
    return index;
  };
  const starts = model.starts.map(({ key, states }) => ({ key, nodes: states.map((state) => visit(state, null)) }));
  for (const node of nodes.values()) {
    if (isEnd(node.situation)) continue;
    for (const { cause, label, waitedMs, waitedLatestMs, outcomes } of model.movesOf(node.state)) {
      for (const outcome of outcomes) {
        const to = outcome.map((state) => visit(state, { from: node.index, label }));
        node.edges.push({ cause, label, waitedMs, waitedLatestMs, to });
      }
    }
    // One node has few edges, so that the limit is exceeded by little.
    if (nodes.size > limit) return null;
  }
  return { nodes, starts };
}

/** The part of a space that some behaviours alone lead to, with the shortest ways within that part. */
export function restrict<State>(all: Exploration<State>, causes: ReadonlySet<Cause>): Exploration<State> {
  const nodes = new Map<number, Node<State>>();
  const visit = (index: number, reachedBy: Node<State>["reachedBy"]): void => {
    const node = all.nodes.get(index);
    if (node === undefined || nodes.has(index)) return;
    nodes.set(index, { ...node, edges: node.edges.filter(({ cause }) => causes.has(cause)), reachedBy });
  };
  for (const start of all.starts) for (const index of start.nodes) visit(index, null);
  for (const node of nodes.values()) {
    for (const { label, to } of node.edges) for (const index of to) visit(index, { from: node.index, label });
  }
  return { nodes, starts: all.starts };
}

export function isEnd(situation: Situation): boolean {
  return (
    situation.kind === "done" || situation.kind === "dead" || situation.kind === "lost" || situation.kind === "astray"
  );
}

/** The shortest way to a node, one line per step. */
export function traceTo<State>(model: Model<State>, { nodes }: Exploration<State>, node: Node<State>): string[] {
  const lines: string[] = [];
  for (let at: Node<State> | undefined = node; at !== undefined; at = nodes.get(at.reachedBy?.from ?? -1)) {
    lines.push(`${at.reachedBy === null ? "published" : at.reachedBy.label}: ${model.describe(at.state)}`);
  }
  return lines.toReversed();
}
