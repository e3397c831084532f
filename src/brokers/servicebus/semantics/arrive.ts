import type { Context, Entity } from "./context.ts";
import type {
  Circumstances,
  DeadLetterReason,
  EntityPlace,
  LossCause,
  MessageState,
  Outcome,
} from "./message-state.ts";

/** A message that was forwarded so often is forwarded no more. Source: "Chaining Service Bus entities with autoforwarding". */
const mostHops = 4;

/** How often a message was put into some dead-letter queue since it last came to rest. */
interface Way extends Circumstances {
  readonly deaths?: number;
}

/** More often than this in one go is a ring of dead-letter queues, out of which nothing but a receiver could take it. */
const mostDeaths = 8;

/** Where a message ends that is put into a queue, a topic or a subscription: it goes on as long as what it comes to forwards. */
export function arrive(
  context: Context,
  state: MessageState,
  to: string,
  circumstances: Circumstances,
): readonly Outcome[] {
  const topic = context.topics.get(to);
  if (topic !== undefined) {
    return isKnown(circumstances, to, state, topic.duplicateDetectionMs)
      ? [[lost(state, "duplicate", to)]]
      : fanOut(context, shortened(state, topic.timeToLiveMs), to, circumstances);
  }
  const entity = context.entities.get(to);
  if (entity === undefined) throw new Error(`${JSON.stringify(to)} is no entity of the topology`);
  if (entity.kind === "queue" && isKnown(circumstances, to, state, entity.duplicateDetectionMs)) {
    return [[lost(state, "duplicate", to)]];
  }
  return settleDown(context, state, to, entity, circumstances);
}

/** Claims: duplicates-are-dropped, forwarded-duplicates-are-dropped. */
function isKnown(
  circumstances: Circumstances,
  entity: string,
  { content }: MessageState,
  windowMs: number | null,
): boolean {
  return windowMs !== null && circumstances.isKnown?.(entity, content.messageId) === true;
}

/** Every subscription with a rule that lets the message in gets a copy. Claim: topic-reaches-all. */
function fanOut(
  context: Context,
  state: MessageState,
  topic: string,
  circumstances: Circumstances,
): readonly Outcome[] {
  let outcomes: readonly Outcome[] = [[]];
  for (const { path, takes } of context.subscriptions.get(topic) ?? []) {
    const taken = takes(state.content.subject);
    if (taken === "no") continue;
    const arrived = settleDown(context, state, path, context.entities.get(path) as Entity, circumstances);
    const taking = outcomes.flatMap((copies) => arrived.map((each) => [...copies, ...each]));
    outcomes = taken === "yes" ? taking : [...taking, ...outcomes];
  }
  return outcomes.map((copies) => (copies.length === 0 ? [lost(state, "no-subscription", topic)] : copies));
}

/** Comes to rest in an entity, or is forwarded by it. Claims: session-wanted, no-expiry-while-forwarding. */
function settleDown(
  context: Context,
  state: MessageState,
  path: string,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  const here = at(state, { kind: "entity", entity: path, deadLetter: null, status: "active" });
  if (entity.requiresSession && state.content.sessionId === null) {
    return deadLetter(context, here, "Session ID is null.", circumstances);
  }
  return entity.forwardTo === null
    ? [[shortened(here, entity.timeToLiveMs)]]
    : forward(context, here, entity, circumstances);
}

/**
 * Out of an entity that forwards everything. Claims: four-hops, closed-destination-dead-letters, sessions-are-not-forwarded,
 * time-to-live-is-carried.
 */
export function forward(
  context: Context,
  state: MessageState,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  const to = entity.forwardTo ?? "";
  if (state.hops >= mostHops) return deadLetter(context, state, "MaxTransferHopCountExceeded", circumstances);
  if (entity.requiresSession || !isOpen(context, to, circumstances)) {
    return deadLetter(context, state, "forward-failed", circumstances);
  }
  return arrive(context, { ...state, hops: state.hops + 1, deliveryCount: 0 }, to, circumstances);
}

/** Becomes a dead letter of the entity that it is in, and goes on where dead letters are forwarded. */
export function deadLetter(
  context: Context,
  state: MessageState,
  reason: DeadLetterReason,
  circumstances: Circumstances,
): readonly Outcome[] {
  const place = state.place as EntityPlace;
  const dead = at(state, { ...place, deadLetter: reason, status: "active" });
  return forwardDeadLetter(context, dead, circumstances);
}

/**
 * What died of too many hops stays. Whether this is a hop, and what becomes of the delivery count, is not known. Claims: four-hops,
 * dead-letters-are-forwarded, dead-letters-wait-for-a-closed-queue, dead-letter-hops, count-after-dead-letter-forwarding.
 */
export function forwardDeadLetter(context: Context, state: MessageState, circumstances: Way): readonly Outcome[] {
  const { deaths = 0 } = circumstances;
  const { entity: path, deadLetter: reason } = state.place as EntityPlace;
  const to = context.entities.get(path)?.forwardDeadLetteredTo ?? null;
  const stays: Outcome = [state];
  if (to === null || reason === "MaxTransferHopCountExceeded" || !isOpen(context, to, circumstances)) return [stays];
  if (deaths >= mostDeaths) return [stays];
  const way: Way = { ...circumstances, deaths: deaths + 1 };
  const counts = state.deliveryCount === 0 ? [0] : [0, state.deliveryCount];
  const on = (hops: number): readonly Outcome[] =>
    counts.flatMap((deliveryCount) => arrive(context, { ...state, hops, deliveryCount }, to, way));
  return state.hops >= mostHops
    ? [[at(state, { ...(state.place as EntityPlace), deadLetter: "MaxTransferHopCountExceeded" })], ...on(state.hops)]
    : [...on(state.hops + 1), ...on(state.hops)];
}

/** What its time is over. Claim: expiry-dead-letters. */
export function expire(
  context: Context,
  state: MessageState,
  path: string,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  return entity.deadLetterOnExpiration
    ? deadLetter(context, state, "TTLExpiredException", circumstances)
    : [[lost(state, "expired", path)]];
}

function isOpen({ entities, topics }: Context, to: string, { closed }: Circumstances): boolean {
  const entity = entities.get(to);
  const isThere = topics.has(to) || (entity?.kind === "queue" && !entity.requiresSession);
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
