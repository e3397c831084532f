import type { Cause, Model, Move, Situation } from "../brokers/model.ts";

/** One state that can be reached, and what can happen in it. */
export interface Node<State> {
  readonly index: number;
  readonly state: State;
  readonly situation: Situation;
  readonly edges: Edge[];
  /** The edge by which it was first reached; null for a start. Following it back gives a shortest trace. */
  readonly reachedBy: { readonly from: Node<State>; readonly move: Move<State> } | null;
}

export interface Edge {
  readonly cause: Cause;
  readonly label: string;
  readonly waitedMs: number;
  /** The copies that this one way of ending the move leaves. */
  readonly to: readonly number[];
}

/** Every state of one message that any behaviour of the consumer can lead to. */
export interface Exploration<State> {
  readonly nodes: readonly Node<State>[];
  /** For each declared routing key the nodes of its copies. */
  readonly starts: readonly { readonly key: string; readonly nodes: readonly number[] }[];
}

/** A space larger than this is a mistake in the model, since every counter in it is bounded by the topology. */
const mostStates = 1_000_000;

/**
 * Visits every reachable state, breadth first, so that the first way to a state is a shortest one.
 *
 * States are merged by the model's key. That is sound because two states with one key behave alike for ever: whatever a
 * path through the one shows, the same path through the other shows.
 *
 * @param causes the behaviours to allow; leave mistakes out to explore what a consumer can do that keeps its contract
 * @throws Error when the space is not small, which only a wrong model can cause
 */
export function explore<State>(model: Model<State>, causes: ReadonlySet<Cause>): Exploration<State> {
  const nodes: Node<State>[] = [];
  const byKey = new Map<string, number>();
  const visit = (state: State, reachedBy: Node<State>["reachedBy"]): number => {
    const key = model.keyOf(state);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const index = nodes.length;
    if (index >= mostStates) throw new Error(`more than ${mostStates} states of one message: ${model.describe(state)}`);
    byKey.set(key, index);
    nodes.push({ index, state, situation: model.situationOf(state), edges: [], reachedBy });
    return index;
  };
  const starts = model.starts.map(({ key, states }) => ({ key, nodes: states.map((state) => visit(state, null)) }));
  for (let next = 0; next < nodes.length; next++) {
    const node = nodes[next] as Node<State>;
    if (isEnd(node.situation)) continue;
    for (const move of model.movesOf(node.state)) {
      if (!causes.has(move.cause)) continue;
      for (const outcome of move.outcomes) {
        const to = outcome.map((state) => visit(state, { from: node, move }));
        node.edges.push({ cause: move.cause, label: move.label, waitedMs: move.waitedMs, to });
      }
    }
  }
  return { nodes, starts };
}

export function isEnd(situation: Situation): boolean {
  return (
    situation.kind === "done" || situation.kind === "dead" || situation.kind === "lost" || situation.kind === "astray"
  );
}

/** The shortest way to a node, one line per step. */
export function traceTo<State>(model: Model<State>, node: Node<State>): string[] {
  const lines: string[] = [];
  for (let at: Node<State> = node; ; at = at.reachedBy.from) {
    const here = model.describe(at.state);
    if (at.reachedBy === null) {
      lines.push(`published: ${here}`);
      return lines.toReversed();
    }
    lines.push(`${at.reachedBy.move.label}: ${here}`);
  }
}
