import type { Cause, Model, Move, Situation } from "../../../explore/model.ts";
import { describeState } from "../describe-state.ts";
import type { BrokerEvent, EffectiveSettings, MessageState, Semantics } from "../semantics.ts";
import { unknownHeaders } from "../unknown-message.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * A queue that somebody else made, as the explorer wants it. What its consumer does is not known, so it may do anything: settle,
 * reject for good (`transient`), requeue (`return`), go away with the message (`crash`), or not be there.
 */
export function auditModel(
  semantics: Semantics,
  surroundings: Surroundings,
  queue: EffectiveSettings,
): Model<MessageState> {
  const name = queue.queue;
  const [inQueue] = semantics.publish({ exchange: "", routingKey: name, headers: { [unknownHeaders]: true } }).flat();
  const starts = inQueue === undefined ? [] : startsOf(semantics, surroundings, queue, inQueue);
  return {
    consumer: name,
    starts: starts.map((state) => ({ key: state.routingKeys[0] ?? "", states: [state] })),
    keyOf: semantics.behaviourKey,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(surroundings, name, state),
    movesOf: (state) => movesOf(semantics, surroundings, name, state),
    describe: describeState,
    wanted: { attempts: [], crashDeliveries: 0, maxDeliveries: 0, returnsCost: true, waitGrainMs: 1 },
  };
}

/** One message for each way in which dead letters of the queue travel; a queue may have very many bindings that come to the same. */
function startsOf(
  semantics: Semantics,
  surroundings: Surroundings,
  queue: EffectiveSettings,
  inQueue: MessageState,
): MessageState[] {
  // Where the wait queue has no time to live, its publishers give one to each message.
  const waitsByItself = surroundings.shapeOf(queue.queue) === "wait" && queue.messageTtlMs === null;
  const ownExpiration = waitsByItself ? { expirationMs: 1_000, expiresAfterMs: 1_000 } : {};
  const states = surroundings
    .entriesOf(queue)
    .map(({ exchange, routingKey }) => ({ ...inQueue, ...ownExpiration, exchange, routingKeys: [routingKey] }));
  if (states.length === 1) return states;
  return [...new Map(states.map((state) => [travelsOf(semantics, state), state])).values()];
}

/** Where dead letters go from queue to queue, if each dies at once wherever it comes. */
function travelsOf(semantics: Semantics, state: MessageState): string {
  const stops: string[] = [];
  const open = [state];
  for (const each of open) {
    if (each.place.kind !== "queue" || stops.length > 100) continue;
    const { queue } = each.place;
    const event: BrokerEvent = each.expiresAfterMs === null ? { kind: "nack", requeue: false } : { kind: "expire" };
    const status = event.kind === "nack" ? "delivered" : "ready";
    const copies = semantics.step({ ...each, place: { kind: "queue", queue, status } }, event).flat();
    stops.push(`${queue}:`, ...copies.map(({ place }) => (place.kind === "queue" ? place.queue : place.kind)));
    open.push(...copies.filter(({ place }) => place.kind === "queue" && !stops.includes(`${place.queue}:`)));
  }
  return JSON.stringify(stops);
}

/**
 * Every delivery limit as 0 or 1, so that the space stays small however large the limits are. No finding depends on how often a message
 * comes back before the limit ends it, only on whether something ends it, and a limit of 1 still lets it come back once.
 */
export function withSmallLimit(settings: EffectiveSettings): EffectiveSettings {
  const { deliveryLimit } = settings;
  return deliveryLimit === null || deliveryLimit <= 1 ? settings : { ...settings, deliveryLimit: 1 };
}

function situationOf(surroundings: Surroundings, subject: string, { place }: MessageState): Situation {
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
      if (place.queue !== subject)
        return shape === "work" ? { kind: "astray", consumer: place.queue } : { kind: "dead" };
      return { kind: place.status === "delivered" ? "handling" : "work", attempt: 1 };
    }
    default:
      return place satisfies never;
  }
}

const behaviours: readonly { readonly cause: Cause; readonly label: string; readonly event: BrokerEvent }[] = [
  { cause: "success", label: "acknowledged", event: { kind: "ack" } },
  { cause: "transient", label: "rejected without requeue", event: { kind: "nack", requeue: false } },
  { cause: "crash", label: "its consumer goes away", event: { kind: "crash" } },
  { cause: "return", label: "given back with requeue", event: { kind: "nack", requeue: true } },
];

/** Events that nobody makes happen to one message: they are looked at by themselves, or change nothing. */
const leftOut: ReadonlySet<BrokerEvent["kind"]> = new Set(["queue-expires", "retry-dead-letter"]);

const labels: Partial<Record<BrokerEvent["kind"], string>> = {
  expire: "its time to live passes",
  overflow: "the queue is too long and drops its head",
  due: "its delay passes",
};

function movesOf(
  semantics: Semantics,
  surroundings: Surroundings,
  subject: string,
  state: MessageState,
): Move<MessageState>[] {
  const { place } = state;
  if (place.kind !== "queue") return [];
  const move = (cause: Cause, label: string, event: BrokerEvent): Move<MessageState> => {
    const waitedMs = event.kind === "expire" ? (state.expiresAfterMs ?? 0) : event.kind === "due" ? 1 : 0;
    return { cause, label, waitedMs, waitedLatestMs: waitedMs, outcomes: semantics.step(state, event) };
  };
  const spontaneous = semantics
    .spontaneousEvents(state)
    .filter(({ kind }) => !leftOut.has(kind))
    .map((event) => move("time", labels[event.kind] ?? event.kind, event));
  if (place.queue !== subject || surroundings.shapeOf(subject) === "wait") return spontaneous;
  if (place.status === "ready") return [move("delivery", "delivered", { kind: "deliver" }), ...spontaneous];
  if (place.status !== "delivered") return spontaneous;
  return behaviours.map(({ cause, label, event }) => move(cause, label, event));
}
