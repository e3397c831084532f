import { type Cause, type KeptCause, type Model, keptCauses } from "../explore/model.ts";
import { type Edge, type Node, exploreWithin } from "../explore/explore.ts";
import { diagnosed } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import { scenarioLimits } from "./scenario.ts";

/** A cause as a number: its place in the list. A simulated consumer keeps its contract. */
export const causeNumbers = Object.freeze(
  Object.fromEntries(keptCauses.map((cause, number) => [cause, number])),
) as Readonly<Record<KeptCause, number>>;

/** The situations of a message, as numbers. */
export const placeKinds = Object.freeze({ work: 0, handling: 1, waiting: 2, done: 3, dead: 4, lost: 5, astray: 6 });

/**
 * The states and moves of one message of a consumer, the same that the proof explores. They are numbers in flat arrays,
 * so that a step of a message only looks up and allocates nothing.
 */
export type MessageGraph = Readonly<ReturnType<typeof messageGraphOf>>;

/**
 * Explores the states of one message of a consumer, once for all of its messages. A simulation counts each message, so
 * it cannot leave out the middle of a series as a proof does.
 *
 * @throws RefusedError (RD505) if there are too many states
 */
export function messageGraphOf<State>(model: Model<State>) {
  // A longest path visits no state twice, and each delivery joins two states. So this much is known before the
  // exploration.
  if (model.wanted.maxDeliveries * 2 > scenarioLimits.states) throw tooManyStates(model);
  const exploration = exploreWithin(model, { states: scenarioLimits.states, keyLength: Number.POSITIVE_INFINITY });
  if (!exploration.isComplete) throw tooManyStates(model);
  const all = [...exploration.nodes.values()];
  // The dead queue comes last, as in every picture.
  const deadLast = all.toSorted((a, b) => Number(a.situation.kind === "dead") - Number(b.situation.kind === "dead"));
  const queues = [...new Set(deadLast.map(({ state }) => model.placeOf(state)).filter((queue) => queue !== null))];
  const queueNumbers = new Map(queues.map((queue, index) => [queue, index]));
  const isDone = (index: number): boolean => exploration.nodes.get(index)?.situation.kind === "done";
  const edges = all.flatMap((node) => keptCauses.map((cause) => edgesOf(node, cause)));
  const flat = edges.flat();
  const live = flat.map(({ to }) => to.filter((index) => !isDone(index)));
  return {
    consumer: model.consumer,
    queues,
    /** For each node: its kind, its queue in `queues` or −1, and the attempt that the handler sees, 0 elsewhere. */
    kinds: Uint8Array.from(all, ({ situation }) => placeKinds[situation.kind]),
    places: Int32Array.from(all, ({ state }) => queueNumbers.get(model.placeOf(state) ?? "") ?? -1),
    attempts: Int32Array.from(all, ({ situation }) => ("attempt" in situation ? situation.attempt : 0)),
    /**
     * `alternatives[node * keptCauses.length + cause]` is the first possible end of a cause, and the next entry is the
     * end of the list.
     */
    alternatives: startsOf(edges.map(({ length }) => length)),
    /** For each alternative: the wait of the message, and the first of its targets. The next entry is their end. */
    waitedUs: Float64Array.from(flat, ({ waitedMs }) => waitedMs * 1_000),
    waitedLatestUs: Float64Array.from(flat, ({ waitedMs, waitedLatestMs }) =>
      // If the wait has no bound, as behind a message that stays for ever, the simulation takes the shortest wait.
      Number.isFinite(waitedLatestMs) ? waitedLatestMs * 1_000 : waitedMs * 1_000,
    ),
    targets: startsOf(live.map(({ length }) => length)),
    /** The nodes that the alternatives lead to. An original that is done, because its copy is safe, is left out. */
    nodes: Int32Array.from(live.flat()),
    /** The start of a published message: for each routing key, the nodes of its copies. */
    starts: exploration.starts.map(({ nodes }) => nodes),
  };
}

function tooManyStates<State>({ consumer, wanted }: Model<State>): Error {
  const pairs = `${wanted.attempts.length} attempts with ${wanted.crashDeliveries} crash deliveries`;
  return refused(
    diagnosed("RD505", {
      path: ["consumers", consumer, "crash", "deliveries"],
      message: `${pairs} are more than the ${scenarioLimits.states.toLocaleString("en")} states of one message that are simulated`,
      notes: [
        "each attempt with each number of crashes before it is a state of its own",
        "without crash a message may crash as often as it has attempts",
      ],
      help: "declare fewer, crash: { deliveries: 10 } say",
    }),
  );
}

/** Of several moves of time, only the soonest happens, because the others would have to wait longer. */
function edgesOf<State>(node: Node<State>, cause: Cause): readonly Edge[] {
  const edges = node.edges.filter((edge) => edge.cause === cause);
  if (cause !== "time" || edges.length < 2) return edges;
  const soonestMs = Math.min(...edges.map(({ waitedMs }) => waitedMs));
  return edges.filter(({ waitedMs }) => waitedMs === soonestMs);
}

/** The start of each list when lists of these lengths are written one after the other, and the end of the last one. */
export function startsOf(lengths: ArrayLike<number>): Int32Array {
  const starts = new Int32Array(lengths.length + 1);
  for (let index = 0; index < lengths.length; index++)
    starts[index + 1] = (starts[index] as number) + (lengths[index] as number);
  return starts;
}
