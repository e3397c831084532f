import type { Context, Entity } from "./context.ts";
import type {
  Circumstances,
  DeadLetterReason,
  EntityPlace,
  LossCause,
  MessageState,
  Outcome,
} from "./message-state.ts";

/**
 * Service Bus forwards a message at most this many times. Source: "Chaining Service Bus entities with autoforwarding".
 */
const mostHops = 4;

/** A namespace in the circumstances of one event. */
export interface World extends Context {
  readonly circumstances: Circumstances;
  /** The number of times that the message entered a dead-letter queue since it last came to rest. */
  readonly deaths: number;
}

/**
 * More moves than this in one go are a ring of dead-letter queues. Only a receiver could take the message out of it.
 */
const mostDeaths = 8;

/** Finds the places where a message to a queue, topic or subscription comes to rest. It follows the forwarding. */
export function arrive(world: World, state: MessageState, to: string): readonly Outcome[] {
  const topic = world.topics.get(to);
  if (topic !== undefined) {
    return isKnown(world, to, state, topic.duplicateDetectionMs)
      ? [[lost(state, "duplicate", to)]]
      : fanOut(world, shortened(state, topic.timeToLiveMs), to);
  }
  const entity = world.entities.get(to);
  if (entity === undefined) throw new Error(`${JSON.stringify(to)} is no entity of the topology`);
  if (entity.kind === "queue" && isKnown(world, to, state, entity.duplicateDetectionMs))
    return [[lost(state, "duplicate", to)]];
  return settleDown(world, state, to, entity);
}

/** Claims: duplicates-are-dropped, forwarded-duplicates-are-dropped. */
function isKnown(
  { circumstances }: World,
  entity: string,
  { content }: MessageState,
  windowMs: number | null,
): boolean {
  return windowMs !== null && circumstances.isKnown?.(entity, content.messageId) === true;
}

/** Each subscription with a rule that lets the message in gets a copy. Claim: topic-reaches-all. */
function fanOut(world: World, state: MessageState, topic: string): readonly Outcome[] {
  let outcomes: readonly Outcome[] = [[]];
  for (const { path, takes } of world.subscriptions.get(topic) ?? []) {
    const taken = takes(state.content.subject);
    if (taken === "no") continue;
    const arrived = settleDown(world, state, path, world.entities.get(path) as Entity);
    const taking = outcomes.flatMap((copies) => arrived.map((each) => [...copies, ...each]));
    outcomes = taken === "yes" ? taking : [...taking, ...outcomes];
  }
  return outcomes.map((copies) => (copies.length === 0 ? [lost(state, "no-subscription", topic)] : copies));
}

/** The message rests in the entity, or the entity forwards it. Claims: session-wanted, no-expiry-while-forwarding. */
function settleDown(world: World, state: MessageState, path: string, entity: Entity): readonly Outcome[] {
  const here = at(state, { kind: "entity", entity: path, deadLetter: null, status: "active" });
  if (entity.requiresSession && state.content.sessionId === null) return deadLetter(world, here, "Session ID is null.");
  return entity.forwardTo === null ? [[shortened(here, entity.timeToLiveMs)]] : forward(world, here, entity);
}

/**
 * Moves a message out of an entity that forwards everything. Claims: four-hops, closed-destination-dead-letters,
 * sessions-are-not-forwarded, forwarded-into-sessions, time-to-live-is-carried.
 */
export function forward(world: World, state: MessageState, entity: Entity): readonly Outcome[] {
  const to = entity.forwardTo ?? "";
  if (state.hops >= mostHops) return deadLetter(world, state, "MaxTransferHopCountExceeded");
  if (entity.requiresSession || !isOpen(world, state, to)) return deadLetter(world, state, "forward-failed");
  return arrive(world, { ...state, hops: state.hops + 1, deliveryCount: 0 }, to);
}

/** Dead-letters the message in its entity, and forwards it if the entity forwards dead letters. */
export function deadLetter(world: World, state: MessageState, reason: DeadLetterReason): readonly Outcome[] {
  const place = state.place as EntityPlace;
  return forwardDeadLetter(world, at(state, { ...place, deadLetter: reason, status: "active" }));
}

/**
 * A message that died of too many hops stays. It is unknown if forwarding a dead letter counts as a hop, and if it
 * changes the delivery count. Claims: four-hops, dead-letters-are-forwarded, dead-letters-wait-for-a-closed-queue,
 * dead-letter-hops, count-after-dead-letter-forwarding.
 */
export function forwardDeadLetter(world: World, state: MessageState): readonly Outcome[] {
  const { entity: path, deadLetter: reason } = state.place as EntityPlace;
  const to = world.entities.get(path)?.forwardDeadLetteredTo ?? null;
  const stays: Outcome = [state];
  if (to === null || reason === "MaxTransferHopCountExceeded" || !isOpen(world, state, to)) return [stays];
  if (world.deaths >= mostDeaths) return [stays];
  const after = { ...world, deaths: world.deaths + 1 };
  const counts = state.deliveryCount === 0 ? [0] : [0, state.deliveryCount];
  const on = (hops: number): readonly Outcome[] =>
    counts.flatMap((deliveryCount) => arrive(after, { ...state, hops, deliveryCount }, to));
  return state.hops >= mostHops
    ? [[at(state, { ...(state.place as EntityPlace), deadLetter: "MaxTransferHopCountExceeded" })], ...on(state.hops)]
    : [...on(state.hops + 1), ...on(state.hops)];
}

/** Handles the end of a message's time to live. Claim: expiry-dead-letters. */
export function expire(world: World, state: MessageState, entity: Entity): readonly Outcome[] {
  return entity.deadLetterOnExpiration
    ? deadLetter(world, state, "TTLExpiredException")
    : [[lost(state, "expired", (state.place as EntityPlace).entity)]];
}

function isOpen(
  { entities, topics, circumstances: { closed } }: World,
  { content }: MessageState,
  to: string,
): boolean {
  const entity = entities.get(to);
  const isThere =
    topics.has(to) || (entity?.kind === "queue" && !(entity.requiresSession && content.sessionId === null));
  return isThere && closed?.has(to) !== true;
}

export function at(state: MessageState, place: MessageState["place"]): MessageState {
  return { ...state, place };
}

export function lost(state: MessageState, cause: LossCause, entity: string): MessageState {
  return at(state, { kind: "lost", cause, entity });
}

/** Claims: shorter-time-to-live-counts, time-to-live-is-carried. */
function shortened(state: MessageState, timeToLiveMs: number | null): MessageState {
  if (timeToLiveMs === null) return state;
  return { ...state, timeToLiveMs: Math.min(state.timeToLiveMs ?? timeToLiveMs, timeToLiveMs) };
}
