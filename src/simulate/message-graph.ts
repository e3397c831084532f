import type { Cause, Model } from "../explore/model.ts";
import type { Edge, Node } from "../explore/explore.ts";
import { explore } from "../explore/explore.ts";

/** What can happen to a message in a simulation. Mistakes are for proofs: a simulated consumer keeps its contract. */
export const causes = [
  "success",
  "transient",
  "retry-after",
  "permanent",
  "crash",
  "return",
  "delivery",
  "time",
] as const;
export type SimulatedCause = (typeof causes)[number];

/** A cause as a number: its place in the list. */
export const causeNumbers: Readonly<Record<SimulatedCause, number>> = Object.freeze({
  success: 0,
  transient: 1,
  "retry-after": 2,
  permanent: 3,
  crash: 4,
  return: 5,
  delivery: 6,
  time: 7,
});

/** The kinds of places that a message is in, as numbers. */
export const placeKinds = Object.freeze({ work: 0, handling: 1, waiting: 2, done: 3, dead: 4, lost: 5, astray: 6 });

/**
 * Everything that can happen to one message of a consumer, which is what the proof explores too, as numbers in flat arrays: a
 * step of a message looks up and allocates nothing. `alternatives[node * causes.length + cause]` is the first of the ways in
 * which a cause can end there, and the next entry the end of them.
 */
export interface MessageGraph {
  readonly consumer: string;
  readonly queues: readonly string[];
  /** Per node: its kind, its queue in `queues` or −1, and the attempt that the handler sees, 0 elsewhere. */
  readonly kinds: Uint8Array;
  readonly places: Int32Array;
  readonly attempts: Int32Array;
  readonly alternatives: Int32Array;
  /** Per alternative: how long the message waits for it, and the first of its targets; the next entry is the end of them. */
  readonly waitedUs: Float64Array;
  readonly waitedLatestUs: Float64Array;
  readonly targets: Int32Array;
  /** The nodes that the alternatives lead to. An original that is done because its copy is safe is left out. */
  readonly nodes: Int32Array;
  /** Where a published message can start: for each routing key the nodes of its copies. */
  readonly starts: readonly (readonly number[])[];
}

/** Explores what can happen to one message of a consumer, once for all of its messages. */
export function messageGraphOf<State>(model: Model<State>): MessageGraph {
  const exploration = explore(model);
  const all = [...exploration.nodes.values()];
  // The dead queue stands last, as it does in every picture.
  const deadLast = all.toSorted((a, b) => Number(a.situation.kind === "dead") - Number(b.situation.kind === "dead"));
  const queues = [...new Set(deadLast.map(({ state }) => model.placeOf(state)).filter((queue) => queue !== null))];
  const queueNumbers = new Map(queues.map((queue, index) => [queue, index]));
  const isDone = (index: number): boolean => exploration.nodes.get(index)?.situation.kind === "done";
  const edges = all.flatMap((node) => causes.map((cause) => edgesOf(node, cause)));
  const flat = edges.flat();
  const live = flat.map(({ to }) => to.filter((index) => !isDone(index)));
  return {
    consumer: model.consumer,
    queues,
    kinds: Uint8Array.from(all, ({ situation }) => placeKinds[situation.kind]),
    places: Int32Array.from(all, ({ state }) => queueNumbers.get(model.placeOf(state) ?? "") ?? -1),
    attempts: Int32Array.from(all, ({ situation }) => ("attempt" in situation ? situation.attempt : 0)),
    alternatives: firstsOf(edges),
    waitedUs: Float64Array.from(flat, ({ waitedMs }) => waitedMs * 1_000),
    waitedLatestUs: Float64Array.from(flat, ({ waitedMs, waitedLatestMs }) =>
      // Where nothing bounds the wait, as behind a message that stays for ever, it is taken to be the shortest one.
      Number.isFinite(waitedLatestMs) ? waitedLatestMs * 1_000 : waitedMs * 1_000,
    ),
    targets: firstsOf(live),
    nodes: Int32Array.from(live.flat()),
    starts: exploration.starts.map(({ nodes }) => nodes),
  };
}

/** Of what time alone does only the soonest comes to pass: the others would have had to wait longer. */
function edgesOf<State>(node: Node<State>, cause: Cause): readonly Edge[] {
  const edges = node.edges.filter((edge) => edge.cause === cause);
  if (cause !== "time" || edges.length < 2) return edges;
  const soonestMs = Math.min(...edges.map(({ waitedMs }) => waitedMs));
  return edges.filter(({ waitedMs }) => waitedMs === soonestMs);
}

/** Where each list starts when all are written one after the other, and where the last one ends. */
function firstsOf(lists: readonly (readonly unknown[])[]): Int32Array {
  const firsts = new Int32Array(lists.length + 1);
  for (const [index, list] of lists.entries()) firsts[index + 1] = (firsts[index] as number) + list.length;
  return firsts;
}
