import type {
  BrokerEvent,
  Circumstances,
  MessageState,
  Semantics,
} from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { type Action, longMs } from "./topologies.ts";

/** The run gives a case up after this many hops, because an endless loop on the broker cannot be compared. */
const mostHops = 16;
const mostCopies = 8;

/** The places of all copies once the broker is at rest, and the time that it needs for this at least. */
export interface Prediction {
  readonly copies: readonly MessageState[];
  readonly waitMs: number;
}

/** Plays the broker's own events until no more come. Null for a course that cannot be compared. */
export function settle(semantics: Semantics, copies: readonly MessageState[]): Prediction | null {
  let moving = copies.map((copy) => ({ copy, atMs: 0 }));
  const stays: MessageState[] = [];
  for (let hop = 0; hop <= mostHops; hop += 1) {
    stays.push(...moving.map(({ copy }) => copy));
    if (moving.length > mostCopies || stays.some((copy) => isUncertain(semantics, copy))) return null;
    if (moving.length > 1 && mayBlockEachOther(stays)) return null;
    if (moving.every(({ copy }) => nextEvent(semantics, copy) === null)) {
      return { copies: moving.map(({ copy }) => copy), waitMs: Math.max(0, ...moving.map(({ atMs }) => atMs)) };
    }
    moving = moving.flatMap(({ copy, atMs }) => {
      const event = nextEvent(semantics, copy);
      if (event === null) return [{ copy, atMs }];
      const laterMs = atMs + durationMs(copy, event);
      return only(semantics.step(copy, event, circumstancesOf(semantics))).map((next) => ({
        copy: next,
        atMs: laterMs,
      }));
    });
  }
  return null;
}

/**
 * Only the head of a queue expires, so one waiting copy can hold up another. Chance decides which is first. The
 * semantics describes one message at the head.
 */
function mayBlockEachOther(stays: readonly MessageState[]): boolean {
  const byQueue = Map.groupBy(stays, (copy) => queueOf(copy) ?? "");
  byQueue.delete("");
  return [...byQueue.values()].some((inQueue) => {
    const expiries = new Set(inQueue.map(({ expiresAfterMs }) => expiresAfterMs));
    return (
      expiries.size > 1 && inQueue.some(({ expiresAfterMs }) => expiresAfterMs !== null && expiresAfterMs < longMs)
    );
  });
}

function durationMs(copy: MessageState, event: BrokerEvent): number {
  if (event.kind === "expire") return copy.expiresAfterMs ?? 0;
  return copy.place.kind === "queue" && copy.place.status === "delayed" ? (copy.place.delayMs ?? 0) : 0;
}

/** The event that surely comes within a test's time to a message without a consumer. */
function nextEvent(semantics: Semantics, copy: MessageState): BrokerEvent | null {
  const { place } = copy;
  if (place.kind !== "queue") return null;
  if (place.status === "delayed") return { kind: "due" };
  if (place.status !== "ready") return null;
  const settings = semantics.settings(place.queue);
  if (settings?.maxLength === 0 && settings.overflow === "drop-head") return { kind: "overflow" };
  return copy.expiresAfterMs !== null && copy.expiresAfterMs < longMs ? { kind: "expire" } : null;
}

/** Classic queues of length 0 are always full. */
export function circumstancesOf(semantics: Semantics): Circumstances {
  const full = semantics.topology.queues.filter(
    ({ name, kind }) => kind === "classic" && semantics.settings(name)?.maxLength === 0,
  );
  return { fullQueues: new Set(full.map(({ name }) => name)) };
}

/**
 * A quorum queue of length 0 with `reject-publish` still accepts one message, and perhaps a second. So its course
 * cannot be compared.
 */
function isUncertain(semantics: Semantics, copy: MessageState): boolean {
  const settings = semantics.settings(queueOf(copy) ?? "");
  return settings?.kind === "quorum" && settings.maxLength === 0 && settings.overflow === "reject-publish";
}

/** The copies open to an action: each is alone in its queue, so a get must return it. */
export function actionable(copies: readonly MessageState[]): readonly MessageState[] {
  const ready = copies.filter(({ place }) => place.kind === "queue" && place.status === "ready");
  return ready.filter((copy) => ready.filter((other) => queueOf(other) === queueOf(copy)).length === 1);
}

export function queueOf({ place }: MessageState): string | null {
  return place.kind === "queue" ? place.queue : null;
}

/** The state after an action on one of the copies, once the broker is at rest. Null for a course that never ends. */
export function predict(
  semantics: Semantics,
  copies: readonly MessageState[],
  copy: MessageState,
  action: Action,
): Prediction | null {
  const [delivered] = only(semantics.step(copy, { kind: "deliver" }));
  const after = only(semantics.step(delivered as MessageState, eventOf(action), circumstancesOf(semantics)));
  return settle(
    semantics,
    copies.flatMap((each) => (each === copy ? after : [each])),
  );
}

function eventOf({ kind }: Action): BrokerEvent {
  switch (kind) {
    case "ack":
    case "crash":
      return { kind };
    case "nack":
    case "reject":
      return { kind, requeue: false };
    case "nack-requeue":
      return { kind: "nack", requeue: true };
    case "reject-requeue":
      return { kind: "reject", requeue: true };
    default:
      return kind satisfies never;
  }
}

/** Brokers are deterministic for one message. More than one outcome, or none, is a mistake of the test. */
export function only<Value>(outcomes: readonly Value[]): Value {
  const [outcome] = outcomes;
  if (outcome === undefined || outcomes.length > 1) throw new Error(`expected one outcome, not ${outcomes.length}`);
  return outcome;
}
