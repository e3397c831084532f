import type { WatchedQueue } from "../brokers/migrating.ts";
import { formatDurationMs } from "../declare/duration.ts";
import type { Deployed } from "./deployed.ts";
import { drainedBefore, longestDelayOf } from "./plan-migration.ts";

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
}

/** The gate behind a step. The last step has none: null. */
export function gateBehind(from: Deployed, steps: readonly Deployed[], phase: number, lagMs: number): Gate | null {
  const last = steps.at(-1);
  if (last === undefined || phase >= steps.length - 1) return null;
  const drained = drainedBefore(from, last);
  const waits = from.parts.flatMap(({ name, longestWaitMs }) =>
    longestWaitMs === null ? [] : [[name, longestWaitMs] as const],
  );
  return { drained, quietMs: longestDelayOf(from, drained) + lagMs, aloneMs: lagMs, waitsMs: new Map(waits) };
}

/** The state of an observation. Times are of a clock that only runs forward. */
export interface Observed {
  readonly moved: string;
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
  { drained, waitsMs }: Gate,
  queues: readonly WatchedQueue[],
  before: Observed | null,
  nowMs: number,
): Observed {
  const found = new Map(queues.map((each) => [each.name, each]));
  const seen = drained.flatMap((name) => found.get(name) ?? []);
  const messages = seen.flatMap((each) => messagesIn(each, waitsMs.get(each.name)));
  const consumers = seen.flatMap(({ name, connections }) =>
    connections.map((connection) => `the consumer ${connection} takes from ${name}`),
  );
  const moved = JSON.stringify(seen.map((each) => each.moved));
  const isSame = before?.moved === moved;
  return {
    moved,
    quietSinceMs: messages.length > 0 ? null : isSame ? (before.quietSinceMs ?? nowMs) : nowMs,
    aloneSinceMs: consumers.length > 0 ? null : (before?.aloneSinceMs ?? nowMs),
    messages,
    consumers,
  };
}

function messagesIn({ name, messages }: WatchedQueue, waitMs: number | undefined): readonly string[] {
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
