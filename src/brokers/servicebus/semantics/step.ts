import { arrive, at, deadLetter, expire, forward, forwardDeadLetter, lost } from "./arrive.ts";
import type { Context, Entity } from "./context.ts";
import type {
  Circumstances,
  EntityPlace,
  MessageState,
  Outcome,
  SentMessage,
  ServicebusEvent,
} from "./message-state.ts";

const impossible: readonly Outcome[] = Object.freeze([]);
const noCircumstances: Circumstances = Object.freeze({});

/** See `Semantics.send`. Claims: send-wants-its-entity, forwarding-entity-takes, duplicates-are-dropped, scheduled-is-a-new-message. */
export function send(
  context: Context,
  { to, content, timeToLiveMs, scheduled }: SentMessage,
  circumstances: Circumstances = noCircumstances,
): readonly Outcome[] {
  const entity = context.entities.get(to);
  const topic = context.topics.get(to);
  const fresh = (place: MessageState["place"]): MessageState => ({
    place,
    content,
    deliveryCount: 0,
    hops: 0,
    timeToLiveMs,
  });
  const refused = (error: string): readonly Outcome[] => [[fresh({ kind: "refused", entity: to, error })]];
  if (topic === undefined && entity?.kind !== "queue") return refused("MessagingEntityNotFound");
  if (circumstances.closed?.has(to) === true) return refused("MessagingEntityDisabled");
  const state = fresh({ kind: "entity", entity: to, deadLetter: null, status: "scheduled" });
  if (!scheduled) return arrive(context, state, to, circumstances);
  const windowMs = entity?.kind === "queue" ? entity.duplicateDetectionMs : (topic?.duplicateDetectionMs ?? null);
  const isDuplicate = windowMs !== null && circumstances.isKnown?.(to, content.messageId) === true;
  return isDuplicate ? [[lost(state, "duplicate", to)]] : [[state]];
}

/** See `Semantics.step`. */
export function step(
  context: Context,
  state: MessageState,
  event: ServicebusEvent,
  circumstances: Circumstances = noCircumstances,
): readonly Outcome[] {
  const { place } = state;
  if (place.kind !== "entity") return impossible;
  if (place.status === "scheduled") return scheduledStep(context, state, place, event, circumstances);
  const entity = context.entities.get(place.entity);
  if (entity === undefined) return impossible;
  switch (event.kind) {
    case "deliver":
      return isDeliverable(state, place, entity, circumstances) ? [[inStatus(state, place, "locked")]] : impossible;
    case "receive-and-delete":
      return isDeliverable(state, place, entity, circumstances)
        ? [[lost(state, "received-and-deleted", place.entity)]]
        : impossible;
    case "receive-deferred":
      return place.status === "deferred" ? askedFor(context, state, place, entity, circumstances) : impossible;
    case "complete":
    case "abandon":
    case "release":
    case "dead-letter":
    case "defer":
    case "renew-lock":
      // Whoever answers without a lock is told so, and nothing changes. Claim: late-settlement-is-refused.
      return place.status === "locked" ? settle(context, state, place, entity, event.kind, circumstances) : impossible;
    case "lock-expires":
      return place.status === "locked" ? given(context, state, place, entity, circumstances) : impossible;
    case "session-closes":
      return place.status === "locked" && entity.requiresSession && place.deadLetter === null
        ? [[inStatus(state, place, "active")]]
        : impossible;
    case "expire":
      return canExpire(state, place, entity) ? expire(context, state, place.entity, entity, circumstances) : impossible;
    case "forward":
      return goOn(context, state, place, entity, circumstances);
    case "schedule-due":
    case "cancel":
      return impossible;
    default:
      return event satisfies never;
  }
}

/** A scheduled message that comes due is put into its entity or topic. Its id was looked at when it was sent. */
function scheduledStep(
  context: Context,
  state: MessageState,
  place: EntityPlace,
  event: ServicebusEvent,
  circumstances: Circumstances,
): readonly Outcome[] {
  if (event.kind === "cancel") return [[lost(state, "cancelled", place.entity)]];
  if (event.kind !== "schedule-due") return impossible;
  return arrive(context, state, place.entity, { ...circumstances, isKnown: () => false });
}

function inStatus(state: MessageState, place: EntityPlace, status: EntityPlace["status"]): MessageState {
  return at(state, { ...place, status });
}

/** Nothing is received from an entity that forwards. */
function isDeliverable(
  { content }: MessageState,
  { status, deadLetter: reason }: EntityPlace,
  entity: Entity,
  { lockedSessions }: Circumstances,
): boolean {
  const isForwarded = reason === null ? entity.forwardTo !== null : entity.forwardDeadLetteredTo !== null;
  const isHeld = reason === null && entity.requiresSession && lockedSessions?.has(content.sessionId ?? "") === true;
  return status === "active" && !isForwarded && !isHeld;
}

/** Claims: count-on-abandon, release-is-not-counted, defer-counts, defer-at-the-limit, dead-letters-stay. */
function settle(
  context: Context,
  state: MessageState,
  place: EntityPlace,
  entity: Entity,
  kind: "complete" | "abandon" | "release" | "dead-letter" | "defer" | "renew-lock",
  circumstances: Circumstances,
): readonly Outcome[] {
  switch (kind) {
    case "complete":
      return [[at(state, { kind: "completed", entity: place.entity })]];
    case "abandon":
      return given(context, state, place, entity, circumstances);
    case "release":
      return [
        ...released(context, state, place, entity, circumstances),
        ...given(context, state, place, entity, circumstances),
      ];
    case "dead-letter":
      // Refused in a dead-letter queue: the message is there already, and stays locked.
      return place.deadLetter === null ? deadLetter(context, state, "by-consumer", circumstances) : [[state]];
    case "defer": {
      if (place.deadLetter !== null) return [[inStatus(state, place, "deferred")]];
      const counted = { ...state, deliveryCount: state.deliveryCount + 1 };
      const deferred: Outcome = [inStatus(counted, place, "deferred")];
      return counted.deliveryCount < entity.maxDeliveryCount
        ? [deferred]
        : [deferred, ...deadLetter(context, counted, "MaxDeliveryCountExceeded", circumstances)];
    }
    case "renew-lock":
      return [[state]];
    default:
      return kind satisfies never;
  }
}

/**
 * The message comes back unsettled: one more delivery is counted. Claims: count-on-lock-expiry, dead-after-max-delivery-count,
 * expiry-waits-for-the-lock, dead-letters-stay.
 */
function given(
  context: Context,
  state: MessageState,
  place: EntityPlace,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  if (place.deadLetter !== null) return [[inStatus(state, place, "active")]];
  const counted: MessageState = {
    ...inStatus(state, place, "active"),
    deliveryCount: state.deliveryCount + 1,
  };
  if (circumstances.isExpired === true && mayExpire(state, entity)) {
    return expire(context, counted, place.entity, entity, circumstances);
  }
  return counted.deliveryCount >= entity.maxDeliveryCount
    ? deadLetter(context, counted, "MaxDeliveryCountExceeded", circumstances)
    : [[counted]];
}

/** It was not tried, and nothing is counted. Claim: expiry-waits-for-the-lock. */
function released(
  context: Context,
  state: MessageState,
  place: EntityPlace,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  // A dead-letter queue counts nothing, whatever is said.
  if (place.deadLetter !== null) return [];
  return circumstances.isExpired === true && mayExpire(state, entity)
    ? expire(context, state, place.entity, entity, circumstances)
    : [[inStatus(state, place, "active")]];
}

function askedFor(
  context: Context,
  state: MessageState,
  place: EntityPlace,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  const isOver = circumstances.isExpired === true && place.deadLetter === null && mayExpire(state, entity);
  return isOver ? expire(context, state, place.entity, entity, circumstances) : [[inStatus(state, place, "locked")]];
}

/** Claims: shorter-time-to-live-counts, no-expiry-while-forwarding. */
function mayExpire({ timeToLiveMs }: MessageState, { forwardTo }: Entity): boolean {
  return timeToLiveMs !== null && forwardTo === null;
}

/** Claims: expiry-is-lazy, expiry-waits-for-the-lock, dead-letters-stay. */
function canExpire(state: MessageState, { status, deadLetter: reason }: EntityPlace, entity: Entity): boolean {
  return status === "active" && reason === null && mayExpire(state, entity);
}

/** Only what had to stay, since its destination took nothing, is still in an entity that forwards. */
function goOn(
  context: Context,
  state: MessageState,
  place: EntityPlace,
  entity: Entity,
  circumstances: Circumstances,
): readonly Outcome[] {
  if (place.status !== "active") return impossible;
  if (place.deadLetter === null) {
    return entity.forwardTo === null ? impossible : forward(context, state, entity, circumstances);
  }
  const isForwarded = entity.forwardDeadLetteredTo !== null && place.deadLetter !== "MaxTransferHopCountExceeded";
  return isForwarded ? forwardDeadLetter(context, state, circumstances) : impossible;
}

/** See `Semantics.spontaneousEvents`. */
export function spontaneousEvents(context: Context, state: MessageState): readonly ServicebusEvent[] {
  const { place } = state;
  if (place.kind !== "entity") return [];
  if (place.status === "scheduled") return [{ kind: "schedule-due" }];
  if (place.status === "locked") return [{ kind: "lock-expires" }];
  return (["expire", "forward"] as const)
    .map((kind) => ({ kind }))
    .filter((event) => step(context, state, event).length > 0);
}
