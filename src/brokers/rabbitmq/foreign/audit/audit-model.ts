import type { Cause, Model, Move, Situation } from "../../../../explore/model.ts";
import { describeState } from "../../prove/describe-state.ts";
import type { BrokerEvent, EffectiveSettings, MessageState, Outcome, Semantics } from "../../prove/semantics.ts";
import { messageIn } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * A foreign queue as the explorer needs it. Its consumers are unknown, so each may do anything: settle, reject for good
 * (`transient`), requeue (`return`), go away with the message (`crash`), or not exist.
 *
 * The model follows a message through every queue that it reaches, even those of other consumers. A consumer's
 * behaviour can be the reason why another consumer's dead letter is lost.
 */
export function auditModel(
  semantics: Semantics,
  surroundings: Surroundings,
  queue: EffectiveSettings,
): Model<MessageState> {
  const name = queue.queue;
  const inQueue = messageIn(semantics, name);
  const starts = inQueue === undefined ? [] : startsOf(semantics, surroundings, queue, inQueue);
  // The audit of the queue that dead letters come from reports their fate after a wait.
  const isTold = ({ place }: MessageState): boolean =>
    surroundings.isFedByDeaths(name) && place.kind === "queue" && surroundings.shapeOf(place.queue) === "work";
  return {
    consumer: name,
    starts: starts.map((state) => ({ key: state.routingKeys[0] ?? "", states: [state] })),
    keyOf: semantics.behaviourKey,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(surroundings, state),
    movesOf: (state) => (isTold(state) ? [] : movesOf(semantics, surroundings, state)),
    describe: describeState,
    wanted: { attempts: [], crashDeliveries: 0, maxDeliveries: 0, returnsCost: true, waitGrainMs: 1 },
  };
}

/** One message for each way that dead letters of the queue travel. Very many bindings may lead to the same way. */
function startsOf(
  semantics: Semantics,
  surroundings: Surroundings,
  queue: EffectiveSettings,
  inQueue: MessageState,
): MessageState[] {
  // Publishers set the expiration of each message if the wait queue has no time to live.
  const waitsByItself = surroundings.shapeOf(queue.queue) === "wait" && queue.messageTtlMs === null;
  const ownExpiration = waitsByItself ? { expirationMs: 1_000, expiresAfterMs: 1_000 } : {};
  const states = surroundings
    .entriesOf(queue)
    .map(({ exchange, routingKey }) => ({ ...inQueue, ...ownExpiration, exchange, routingKeys: [routingKey] }));
  if (states.length === 1) return states;
  return [...new Map(states.map((state) => [travelsOf(semantics, state), state])).values()];
}

/** The way of dead letters from queue to queue, if each dies as soon as it arrives, by rejection and by expiry. */
function travelsOf(semantics: Semantics, state: MessageState): string {
  const stops: string[] = [];
  const open = [state];
  for (const each of open) {
    if (each.place.kind !== "queue" || stops.length > 200) continue;
    const { queue } = each.place;
    for (const [status, event] of deathsAtOnce) {
      const copies = semantics.step({ ...each, place: { kind: "queue", queue, status } }, event).flat();
      stops.push(`${event.kind} ${queue}:`, ...copies.map(({ place }) => placeText(place)));
      open.push(...copies.filter(({ place }) => place.kind === "queue" && !stops.includes(`expire ${place.queue}:`)));
    }
  }
  return JSON.stringify(stops);
}

const deathsAtOnce: readonly (readonly ["delivered" | "ready", BrokerEvent])[] = [
  ["delivered", { kind: "nack", requeue: false }],
  ["ready", { kind: "expire" }],
];

function placeText(place: MessageState["place"]): string {
  if (place.kind !== "queue") return "cause" in place ? place.cause : place.kind;
  return place.status === "retained" ? `${place.queue} ${place.cause}` : place.queue;
}

/**
 * Reduces every delivery limit to 0 or 1, so that the state space stays small. Findings depend on whether a limit ends
 * the redeliveries, and not on their number. A limit of 1 still lets a message come back once.
 */
export function withSmallLimit(settings: EffectiveSettings): EffectiveSettings {
  const { deliveryLimit } = settings;
  return deliveryLimit === null || deliveryLimit <= 1 ? settings : { ...settings, deliveryLimit: 1 };
}

function situationOf(surroundings: Surroundings, { place }: MessageState): Situation {
  switch (place.kind) {
    case "acked":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: place.cause };
    case "refused":
      return { kind: "lost", why: `${place.queue} refuses it` };
    case "queue": {
      if (place.status === "retained") return { kind: "lost", why: place.cause };
      const shape = surroundings.shapeOf(place.queue);
      if (shape === "wait" || place.status === "delayed") return { kind: "waiting" };
      if (shape !== "work") return { kind: "dead" };
      return { kind: place.status === "delivered" ? "handling" : "work", attempt: 1 };
    }
    default:
      return place satisfies never;
  }
}

const behaviours: readonly { readonly cause: Cause; readonly label: string; readonly event: BrokerEvent }[] = [
  { cause: "success", label: "acknowledged", event: { kind: "ack" } },
  { cause: "transient", label: "rejected without requeue", event: { kind: "nack", requeue: false } },
  { cause: "crash", label: "its consumer is lost", event: { kind: "crash" } },
  { cause: "return", label: "returned with requeue", event: { kind: "nack", requeue: true } },
];

/** Events that happen to no single message. Other parts of the audit look at them, or they change nothing. */
const leftOut: ReadonlySet<BrokerEvent["kind"]> = new Set([
  "queue-expires",
  "broker-restart",
  "last-consumer-gone",
  "retry-dead-letter",
]);

const labels: Partial<Record<BrokerEvent["kind"], string>> = {
  expire: "its time to live passes",
  overflow: "the queue is too long and drops its head",
  due: "its delay passes",
};

function movesOf(semantics: Semantics, surroundings: Surroundings, state: MessageState): Move<MessageState>[] {
  const { place } = state;
  if (place.kind !== "queue") return [];
  const move = (cause: Cause, label: string, event: BrokerEvent): Move<MessageState> => {
    const waitedMs = event.kind === "expire" ? (state.expiresAfterMs ?? 0) : event.kind === "due" ? 1 : 0;
    const outcomes = [...semantics.step(state, event), ...lostWhereFull(semantics, surroundings, state, event)];
    return { cause, label, waitedMs, waitedLatestMs: waitedMs, outcomes };
  };
  const spontaneous = semantics
    .spontaneousEvents(state)
    .filter(({ kind }) => !leftOut.has(kind))
    .map((event) => move("time", labels[event.kind] ?? event.kind, event));
  if (surroundings.shapeOf(place.queue) !== "work") return spontaneous;
  if (place.status === "ready") return [move("delivery", "delivered", { kind: "deliver" }), ...spontaneous];
  if (place.status !== "delivered") return spontaneous;
  return behaviours.map(({ cause, label, event }) => move(cause, label, event));
}

/** At-most-once dead-lettering does not wait for a confirm. So the dead letter is lost if a full target refuses it. */
function lostWhereFull(
  semantics: Semantics,
  { refusing }: Surroundings,
  state: MessageState,
  event: BrokerEvent,
): readonly Outcome[] {
  const { place } = state;
  if (refusing.size === 0 || place.kind !== "queue") return [];
  if (semantics.settings(place.queue)?.deadLetterStrategy === "at-least-once") return [];
  return semantics
    .step(state, event, { fullQueues: refusing })
    .filter((copies) => copies.some((copy) => copy.place.kind === "lost" && copy.place.cause === "target-full"));
}
