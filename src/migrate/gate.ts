import type { Watched } from "../brokers/migrating.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { type Deployed, partKey } from "./deployed.ts";
import { heldBack } from "./held-back.ts";
import { sourcesUntil } from "./leave-sources.ts";
import { drainedBefore, longestDelayOf } from "./old-queues.ts";

/** The condition between two steps of a migration. */
export interface Gate {
  /** The queues that have to be empty, without a consumer. */
  readonly drained: readonly string[];
  /** The time for which they have to be empty. */
  readonly quietMs: number;
  /** The time for which they must have no consumer. A message that its consumer had comes back to the queue. */
  readonly aloneMs: number;
  /** By queue, the longest wait of a message. */
  readonly waitsMs: ReadonlyMap<string, number>;
  /** The sources that publishers leave, as the broker names them, and the queues that producers leave. */
  readonly left: readonly string[];
  /** The new queues of consumers in order, which nothing may take from until then. */
  readonly held: readonly string[];
}

/** The gate behind the first step. Other steps have none: null. */
export function gateBehind(from: Deployed, steps: readonly Deployed[], phase: number, lagMs: number): Gate | null {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || first === last || phase > 0) return null;
  const drained = drainedBefore(from, last);
  const draining = new Set<string | null>(drained);
  const waits = from.parts.flatMap(({ name, longestWaitMs }) =>
    longestWaitMs === null ? [] : [[name, longestWaitMs] as const],
  );
  const held = heldBack(from, last);
  const sent = held.flatMap(({ queue, isDirect }) => (isDirect ? [queue] : []));
  return {
    drained,
    quietMs: longestDelayOf([...from.contracts.values()].filter(({ workQueue }) => draining.has(workQueue))) + lagMs,
    aloneMs: lagMs,
    waitsMs: new Map(waits),
    left: [...sourcesUntil(first, last), ...sent],
    held: held.map(({ newQueue }) => newQueue),
  };
}

/** The state of an observation. Times are of a clock that only runs forward. */
export interface Observed {
  /** By kind and name. */
  readonly moved: ReadonlyMap<string, string>;
  /** The queues have been empty, and nothing has moved, since then. Null if there are messages. */
  readonly quietSinceMs: number | null;
  /** No consumer has been there since then. Null if there is one. */
  readonly aloneSinceMs: number | null;
  /** The messages and the consumers in the way, each as half a sentence. */
  readonly messages: readonly string[];
  readonly consumers: readonly string[];
}

/** Adds a look at the broker to an observation. */
export function observe(
  { drained, waitsMs, left, held }: Gate,
  watched: readonly Watched[],
  before: Observed | null,
  nowMs: number,
): Observed {
  const found = new Map(watched.map((each) => [partKey(each), each]));
  const seenOf = (kind: Watched["kind"], names: readonly string[]): readonly Watched[] =>
    names.flatMap((name) => found.get(partKey({ kind, name })) ?? []);
  const [queues, sources] = [seenOf("queue", drained), seenOf("source", left)];
  const hasMoved = (each: Watched): boolean => (before?.moved.get(partKey(each)) ?? each.moved) !== each.moved;
  const messages = [
    ...queues.flatMap((each) => messagesIn(each, waitsMs.get(each.name))),
    ...sources.filter(hasMoved).map(({ name }) => `a program still publishes to ${name}`),
    ...seenOf("queue", held)
      .filter(({ isTaken, connections }) => isTaken === true || connections.length > 0)
      .map(({ name }) => `a consumer takes from ${name}, where messages have to wait for earlier ones: stop it`),
  ];
  const consumers = queues.flatMap(({ name, connections }) =>
    connections.map((connection) => `the consumer ${connection} takes from ${name}`),
  );
  const isSame = ![...queues, ...sources].some(hasMoved);
  return {
    moved: new Map([...queues, ...sources].map((each) => [partKey(each), each.moved])),
    quietSinceMs: messages.length > 0 ? null : isSame ? (before?.quietSinceMs ?? nowMs) : nowMs,
    aloneSinceMs: consumers.length > 0 ? null : (before?.aloneSinceMs ?? nowMs),
    messages,
    consumers,
  };
}

function messagesIn({ name, messages }: Watched, waitMs: number | undefined): readonly string[] {
  const counts = Object.entries(messages);
  if (counts.length === 0) return [`the broker has not yet counted the messages in ${name}`];
  const held = counts.filter(([, count]) => count > 0);
  const all = held.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return [];
  const how = held.map(([state, count]) => `${count} ${state}`).join(", ");
  const due = waitMs === undefined ? "" : `, due within ${formatDurationMs(waitMs)}`;
  return [`${all} ${all === 1 ? "message" : "messages"} in ${name} (${how})${due}`];
}

/** True if the queues have been empty for long enough. Then their consumers can stop. */
export function isQuiet({ quietMs }: Gate, { quietSinceMs }: Observed, nowMs: number): boolean {
  return quietSinceMs !== null && nowMs - quietSinceMs >= quietMs;
}

export function isOpen(gate: Gate, observed: Observed, nowMs: number): boolean {
  const { aloneSinceMs } = observed;
  return isQuiet(gate, observed, nowMs) && aloneSinceMs !== null && nowMs - aloneSinceMs >= gate.aloneMs;
}
