import { type Cause, type Model, type Move, type Situation, isEnd } from "./model.ts";
import { type Skip, skippingSeries } from "./series.ts";

/** One reachable state, with its possible moves. */
export interface Node<State> {
  readonly index: number;
  readonly state: State;
  readonly situation: Situation;
  readonly edges: readonly Edge[];
  /** The step that first reached it; null for a start. Following these steps back gives a shortest trace. */
  readonly reachedBy: { readonly from: number; readonly cause: Cause; readonly label: string } | null;
}

export interface Edge extends Omit<Move<never>, "outcomes"> {
  /** The number of unvisited deliveries between this step and its target; see `skippingSeries`. */
  readonly skipped: number;
  /** The copies that this end of the move leaves. */
  readonly to: readonly number[];
}

/** Every state of one message that any behaviour of the consumer can lead to, nearest first. */
export interface Exploration<State> {
  /** By their index. If only some behaviours are allowed, states that these do not reach are missing. */
  readonly nodes: ReadonlyMap<number, Node<State>>;
  /** For each declared routing key, the nodes of its copies. */
  readonly starts: readonly { readonly key: string; readonly nodes: readonly number[] }[];
}

/** A compiled topology bounds every counter. So a larger space is a mistake in the model. */
const mostStates = 1_000_000;

/**
 * Visits every reachable state, breadth first, so that the first path to a state is a shortest one.
 *
 * States with the same key of the model count as one. This is sound, because two states with one key behave alike for
 * ever. A path through one shows everything that the same path through the other shows.
 *
 * A missing consumer needs no move of its own. A path may take the moves of time alone for as long as there are any,
 * before it takes a delivery.
 *
 * @throws Error when the space is not small, which only a wrong model can cause
 */
export function explore<State>(model: Model<State>, skip?: (state: State) => Skip<State>): Exploration<State> {
  const bounds = { states: mostStates, keyLength: Number.POSITIVE_INFINITY };
  const { isComplete, nodes, starts } = exploreWithin(model, bounds, skip);
  if (!isComplete) throw new Error(`more than ${mostStates} states of one message of ${model.consumer}`);
  return { nodes, starts };
}

/**
 * Explores for a proof. It leaves out the middle of a long series of crashes on one attempt, which brings nothing new;
 * see `skippingSeries`.
 */
export function exploreForProof<State>(model: Model<State>): Exploration<State> {
  return explore(model, skippingSeries(model));
}

export interface Bounds {
  readonly states: number;
  /**
   * The length of the keys of all states together, in characters. A long history makes a long key, which costs work at
   * every step.
   */
  readonly keyLength: number;
}

/** The visited part of a space. Every state in it can be reached. */
export interface PartialExploration<State> extends Exploration<State> {
  /** True if this is the whole space. If not, the last states have no edges. */
  readonly isComplete: boolean;
  /** The length of all keys together. */
  readonly keyLength: number;
}

/** Explores a model of a foreign topology, which can have any size. It visits the nearest states up to the bounds. */
export function exploreWithin<State>(
  model: Model<State>,
  bounds: Bounds,
  skip: (state: State) => Skip<State> = (state) => ({ state, skipped: 0 }),
): PartialExploration<State> {
  let keyLength = 0;
  const nodes = new Map<number, Node<State> & { edges: Edge[] }>();
  const byKey = new Map<string, number>();
  const visit = (state: State, reachedBy: Node<State>["reachedBy"]): number => {
    const key = model.keyOf(state);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const index = nodes.size;
    byKey.set(key, index);
    keyLength += key.length;
    nodes.set(index, { index, state, situation: model.situationOf(state), edges: [], reachedBy });
    return index;
  };
  const starts = model.starts.map(({ key, states }) => ({ key, nodes: states.map((state) => visit(state, null)) }));
  for (const node of nodes.values()) {
    // One node has few edges, so the exploration exceeds a bound by little.
    if (nodes.size > bounds.states || keyLength > bounds.keyLength)
      return { nodes, starts, isComplete: false, keyLength };
    if (isEnd(node.situation)) continue;
    for (const { cause, label, waitedMs, waitedLatestMs, outcomes } of model.movesOf(node.state)) {
      for (const outcome of outcomes) {
        let skipped = 0;
        const to = outcome.map((state) => {
          const next = skip(state);
          skipped = Math.max(skipped, next.skipped);
          return visit(next.state, { from: node.index, cause, label });
        });
        node.edges.push({ cause, label, waitedMs, waitedLatestMs, skipped, to });
      }
    }
  }
  return { nodes, starts, isComplete: true, keyLength };
}

/** The part of a space that only some behaviours lead to, with the shortest paths within that part. */
export function restrict<State>(all: Exploration<State>, causes: ReadonlySet<Cause>): Exploration<State> {
  const nodes = new Map<number, Node<State>>();
  const visit = (index: number, reachedBy: Node<State>["reachedBy"]): void => {
    const node = all.nodes.get(index);
    if (node === undefined || nodes.has(index)) return;
    nodes.set(index, { ...node, edges: node.edges.filter(({ cause }) => causes.has(cause)), reachedBy });
  };
  for (const start of all.starts) for (const index of start.nodes) visit(index, null);
  for (const node of nodes.values()) {
    for (const { cause, label, to } of node.edges)
      for (const index of to) visit(index, { from: node.index, cause, label });
  }
  return { nodes, starts: all.starts };
}

/** One step of a message, and the state after it. A message that begins its way has no cause. */
export interface Step<State> {
  readonly cause: Cause | null;
  readonly label: string;
  readonly node: Node<State>;
}

export function stepsTo<State>({ nodes }: Exploration<State>, node: Node<State>, begin = "published"): Step<State>[] {
  const steps: Step<State>[] = [];
  for (let at: Node<State> | undefined = node; at !== undefined; at = nodes.get(at.reachedBy?.from ?? -1)) {
    const { cause, label } = at.reachedBy ?? { cause: null, label: begin };
    steps.push({ cause, label, node: at });
  }
  return steps.toReversed();
}

export function traceTo<State>(model: Model<State>, exploration: Exploration<State>, node: Node<State>): string[] {
  return stepsTo(exploration, node).map((step) => `${step.label}: ${model.describe(step.node.state)}`);
}
