import type { PromiseName } from "../contract/promise.ts";
import { type Exploration, type Node, traceTo } from "../explore/explore.ts";
import type { Model, Situation, Subject } from "../explore/model.ts";

/** A broken property, with the shortest path that shows it. */
export interface Violation {
  /** The consumer whose message takes this course. */
  readonly consumer: string;
  /** The broken promise. `declared` and `reachable` belong to the topology as a whole. */
  readonly property: PromiseName | "declared" | "reachable";
  /** The mistake in one sentence. */
  readonly message: string;
  /** The shortest course of one message that shows it, a step each. */
  readonly trace: readonly string[];
}

/** The proof of one consumer, or its violations. */
export interface Verdict {
  /** The consumer that the proof is about. */
  readonly consumer: string;
  /** The number of states of one message that the proof visited. */
  readonly states: number;
  /** The most deliveries in any course of one message, without counting returns. */
  readonly deliveries: number;
  /** Empty if every promise is kept. */
  readonly violations: readonly Violation[];
}

/**
 * Proves one of the consumers that differ only in names, and its verdict holds for all. It refutes each consumer by
 * itself, so that each trace has its own names.
 */
export function proveEachShape<State, Proof extends { readonly consumer: string }>(
  subjects: readonly Subject<State>[],
  prove: (model: Model<State>) => Proof,
  isProved: (proof: Proof) => boolean,
): Proof[] {
  const proved = new Map<string, Proof>();
  return subjects.map(({ consumer, shape: shapeOf, model }) => {
    const shape = shapeOf();
    const known = proved.get(shape);
    if (known !== undefined) return { ...known, consumer };
    const proof = prove(model());
    if (isProved(proof)) proved.set(shape, proof);
    return proof;
  });
}

/** The violation that a node shows, with the shortest path to it. */
export function violationAt<State>(
  model: Model<State>,
  exploration: Exploration<State>,
  node: Node<State>,
  property: Violation["property"],
  message: string,
): Violation {
  return { consumer: model.consumer, property, message, trace: traceTo(model, exploration, node) };
}

/** The nodes of a kind. The first is the nearest to the start, since nodes are in the order of their discovery. */
export function* nodesOf<State, Kind extends Situation["kind"]>({ nodes }: Exploration<State>, kind: Kind) {
  for (const node of nodes.values()) {
    const { situation } = node;
    if (situation.kind === kind) yield { node, situation: situation as Extract<Situation, { kind: Kind }> };
  }
}
