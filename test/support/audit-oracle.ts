import { surroundingsOf } from "../../src/brokers/rabbitmq/foreign/audit/surroundings.ts";
import type {
  BrokerEvent,
  BrokerPolicy,
  BrokerTopology,
  MessageState,
  Semantics,
  SemanticsVersion,
} from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { unknownHeaders } from "../../src/brokers/rabbitmq/prove/unknown-message.ts";

// The findings that an audit must make, computed in another way. It tries every event of a message, state by state,
// with its whole history and with the policies in every order. It shares with the audit only the semantics and the list
// of consumed queues.

/** The possible fates of messages: each loss as its code and its queue, and true if some message circles for ever. */
export interface Expected {
  readonly losses: ReadonlySet<string>;
  readonly hasLoop: boolean;
}

/** The oracle gives up on more states of one message than this. */
const mostStates = 15_000;

/** @returns null if there are too many states to try everything */
export function whatCanHappen(topology: BrokerTopology, version: SemanticsVersion): Expected | null {
  const losses = new Set<string>();
  let hasLoop = false;
  for (const policies of permutations(topology.policies)) {
    const ordered = { ...topology, policies };
    const semantics = semanticsOf(ordered, version);
    const surroundings = surroundingsOf(ordered, semantics);
    for (const { name } of topology.queues) {
      const settings = semantics.settings(name);
      const shape = surroundings.shapeOf(name);
      if (settings === null || shape === "stream") continue;
      const [inQueue] = semantics
        .publish({ exchange: "", routingKey: name, headers: { [unknownHeaders]: true } })
        .flat();
      if (inQueue === undefined) throw new Error(`nothing comes into ${name}`);
      const starts = surroundings.entriesOf(settings).map(({ exchange, routingKey }) => ({
        ...inQueue,
        exchange,
        routingKeys: [routingKey],
        ...(shape === "wait" && settings.messageTtlMs === null ? { expirationMs: 1_000, expiresAfterMs: 1_000 } : {}),
      }));
      const isEnd = ({ place }: MessageState): boolean =>
        surroundings.isFedByDeaths(name) && place.kind === "queue" && surroundings.shapeOf(place.queue) === "work";
      const graph = statesFrom(starts, semantics, (queue) => surroundings.shapeOf(queue) === "work", isEnd);
      if (graph === null) return null;
      for (const { state } of graph.values()) for (const loss of lossOf(state, surroundings.shapeOf)) losses.add(loss);
      hasLoop ||= isLooping(graph, semantics);
    }
  }
  return { losses, hasLoop };
}

function lossOf({ place }: MessageState, shapeOf: (queue: string) => string): string[] {
  if (place.kind !== "lost" && !(place.kind === "queue" && place.status === "retained")) return [];
  switch (place.cause) {
    case "no-dead-letter-exchange":
      return [`${shapeOf(place.queue ?? "") === "dead" ? "RD431" : "RD420"} ${place.queue}`];
    case "missing-exchange":
      return [`RD411 ${place.queue}`];
    case "no-route":
      return [`RD412 ${place.queue}`];
    case "cycle":
    case "unconfirmed":
      return [`RD413 ${place.queue}`];
    case "target-full":
      return [`RD436 ${place.queue}`];
    default:
      throw new Error(`nothing else is made to happen: ${place.cause}`);
  }
}

interface Way {
  readonly by: BrokerEvent["kind"];
  readonly isReturn: boolean;
  readonly to: string;
}

type Graph = Map<string, { readonly state: MessageState; readonly ways: Way[] }>;

function statesFrom(
  starts: readonly MessageState[],
  semantics: Semantics,
  isConsumed: (queue: string) => boolean,
  isEnd: (state: MessageState) => boolean,
): Graph | null {
  const graph: Graph = new Map();
  const visit = (state: MessageState): string => {
    const key = keyOf(state);
    if (!graph.has(key)) graph.set(key, { state, ways: [] });
    return key;
  };
  for (const start of starts) visit(start);
  for (const { state, ways } of graph.values()) {
    if (graph.size > mostStates) return null;
    if (isEnd(state)) continue;
    for (const event of eventsIn(state, isConsumed)) {
      for (const copies of [...semantics.step(state, event), ...whenFull(semantics, state, event)]) {
        const isReturn = event.kind === "nack" && event.requeue;
        for (const copy of copies) ways.push({ by: event.kind, isReturn, to: visit(copy) });
      }
    }
  }
  return graph;
}

function eventsIn({ place }: MessageState, isConsumed: (queue: string) => boolean): BrokerEvent[] {
  if (place.kind !== "queue") return [];
  if (place.status === "delayed") return [{ kind: "due" }];
  if (place.status === "ready") {
    return [
      { kind: "expire" },
      { kind: "overflow" },
      ...(isConsumed(place.queue) ? [{ kind: "deliver" } as const] : []),
    ];
  }
  if (place.status !== "delivered") return [];
  return [{ kind: "ack" }, { kind: "nack", requeue: false }, { kind: "nack", requeue: true }, { kind: "crash" }];
}

function whenFull(semantics: Semantics, state: MessageState, event: BrokerEvent): readonly (readonly MessageState[])[] {
  const { place } = state;
  if (place.kind !== "queue" || semantics.settings(place.queue)?.deadLetterStrategy === "at-least-once") return [];
  const fullQueues = new Set(semantics.topology.queues.map(({ name }) => name));
  return semantics
    .step(state, event, { fullQueues })
    .filter((copies) => copies.every((each) => each.place.kind === "lost"));
}

/** Counts grow for ever, but from some number on they make no difference: the limits here are 2 at most. */
function keyOf(state: MessageState): string {
  return JSON.stringify({
    ...state,
    deaths: state.deaths.map((death) => ({ ...death, count: 1 })),
    deliveryCount: Math.min(state.deliveryCount, 4),
    acquiredCount: Math.min(state.acquiredCount, 4),
  });
}

/** True if only rejections and time, or only crashes that a limit counts and time, lead back to a state. */
function isLooping(graph: Graph, semantics: Semantics): boolean {
  const counted = ({ place }: MessageState): boolean =>
    place.kind === "queue" && (semantics.settings(place.queue)?.deliveryLimit ?? null) !== null;
  return [
    (_state: MessageState, { by, isReturn }: Way): boolean => by !== "crash" && !isReturn,
    (state: MessageState, { by }: Way): boolean => by !== "nack" && (by !== "crash" || counted(state)),
  ].some((admits) => {
    const done = new Set<string>();
    const onPath = new Set<string>();
    const visit = (key: string): boolean => {
      if (onPath.has(key)) return true;
      if (done.has(key)) return false;
      done.add(key);
      onPath.add(key);
      const { state, ways } = graph.get(key) as { state: MessageState; ways: Way[] };
      const isFound = ways.some((way) => admits(state, way) && visit(way.to));
      onPath.delete(key);
      return isFound;
    };
    return [...graph.keys()].some(visit);
  });
}

function permutations(items: readonly BrokerPolicy[]): BrokerPolicy[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
}
