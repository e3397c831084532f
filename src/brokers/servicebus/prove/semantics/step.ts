import { type World, arrive, at, deadLetter, expire, forward, forwardDeadLetter, lost } from "./arrive.ts";
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

interface Here {
  readonly world: World;
  readonly state: MessageState;
  readonly place: EntityPlace;
  readonly entity: Entity;
}

/**
 * See `Semantics.send`. Claims: send-wants-its-entity, forwarding-entity-takes, duplicates-are-dropped,
 * scheduled-is-a-new-message.
 */
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
  if (circumstances.isTooLarge === true) return refused("MessageSizeExceeded");
  const state = fresh({ kind: "entity", entity: to, deadLetter: null, status: "scheduled" });
  if (!scheduled) return arrive({ ...context, circumstances, deaths: 0 }, state, to);
  const windowMs = entity?.kind === "queue" ? entity.duplicateDetectionMs : (topic?.duplicateDetectionMs ?? null);
  const isDuplicate = windowMs !== null && circumstances.isKnown?.(to, content.messageId) === true;
  return isDuplicate ? [[lost(state, "duplicate", to)]] : [[state]];
}

export function step(
  context: Context,
  state: MessageState,
  event: ServicebusEvent,
  circumstances: Circumstances = noCircumstances,
): readonly Outcome[] {
  const { place } = state;
  if (place.kind !== "entity") return impossible;
  const world = { ...context, circumstances, deaths: 0 };
  if (place.status === "scheduled") return scheduledStep(world, state, place, event);
  const entity = context.entities.get(place.entity);
  if (entity === undefined) return impossible;
  const here = { world, state, place, entity };
  switch (event.kind) {
    case "deliver":
      return isDeliverable(here) ? [[inStatus(state, place, "locked")]] : impossible;
    case "receive-and-delete":
      return isDeliverable(here) ? [[lost(state, "received-and-deleted", place.entity)]] : impossible;
    case "receive-deferred":
      return place.status === "deferred" ? askedFor(here) : impossible;
    case "complete":
    case "abandon":
    case "release":
    case "dead-letter":
    case "defer":
    case "renew-lock":
      // A receiver that answers without a lock gets an error, and nothing changes. Claim: late-settlement-is-refused.
      return place.status === "locked" ? settle(here, event.kind) : impossible;
    case "lock-expires":
      return place.status === "locked" ? given(here) : impossible;
    case "session-closes":
      return place.status === "locked" && entity.requiresSession && place.deadLetter === null
        ? [[inStatus(state, place, "active")]]
        : impossible;
    case "expire":
      return canExpire(here) ? expire(world, state, entity) : impossible;
    case "forward":
      return goOn(here);
    case "schedule-due":
    case "cancel":
      return impossible;
    default:
      return event satisfies never;
  }
}

/** A scheduled message that comes due enters its entity or topic. The broker checked its id when the client sent it. */
function scheduledStep(
  world: World,
  state: MessageState,
  place: EntityPlace,
  event: ServicebusEvent,
): readonly Outcome[] {
  if (event.kind === "cancel") return [[lost(state, "cancelled", place.entity)]];
  if (event.kind !== "schedule-due") return impossible;
  return arrive({ ...world, circumstances: { ...world.circumstances, isKnown: () => false } }, state, place.entity);
}

function inStatus(state: MessageState, place: EntityPlace, status: EntityPlace["status"]): MessageState {
  return at(state, { ...place, status });
}

/** No receiver gets a message from an entity that forwards. */
function isDeliverable({ world, state: { content }, place: { status, deadLetter: reason }, entity }: Here): boolean {
  const { lockedSessions } = world.circumstances;
  const isForwarded = reason === null ? entity.forwardTo !== null : entity.forwardDeadLetteredTo !== null;
  const isHeld = reason === null && entity.requiresSession && lockedSessions?.has(content.sessionId ?? "") === true;
  return status === "active" && !isForwarded && !isHeld;
}

/** Claims: count-on-abandon, release-is-not-counted, defer-counts, defer-at-the-limit, dead-letters-stay. */
function settle(
  here: Here,
  kind: "complete" | "abandon" | "release" | "dead-letter" | "defer" | "renew-lock",
): readonly Outcome[] {
  const { world, state, place, entity } = here;
  switch (kind) {
    case "complete":
      return [[at(state, { kind: "completed", entity: place.entity })]];
    case "abandon":
      return given(here);
    case "release":
      return [...released(here), ...given(here)];
    case "dead-letter":
      // Service Bus refuses this in a dead-letter queue: the message is there already, and stays locked.
      return place.deadLetter === null ? deadLetter(world, state, "by-consumer") : [[state]];
    case "defer": {
      if (place.deadLetter !== null) return [[inStatus(state, place, "deferred")]];
      const counted = { ...state, deliveryCount: state.deliveryCount + 1 };
      const deferred: Outcome = [inStatus(counted, place, "deferred")];
      return counted.deliveryCount < entity.maxDeliveryCount
        ? [deferred]
        : [deferred, ...deadLetter(world, counted, "MaxDeliveryCountExceeded")];
    }
    case "renew-lock":
      return [[state]];
    default:
      return kind satisfies never;
  }
}

/**
 * The message comes back unsettled, which counts one more delivery. Claims: count-on-lock-expiry,
 * dead-after-max-delivery-count, expiry-waits-for-the-lock, dead-letters-stay.
 */
function given({ world, state, place, entity }: Here): readonly Outcome[] {
  if (place.deadLetter !== null) return [[inStatus(state, place, "active")]];
  const counted: MessageState = {
    ...inStatus(state, place, "active"),
    deliveryCount: state.deliveryCount + 1,
  };
  if (world.circumstances.isExpired === true && mayExpire(state, entity)) return expire(world, counted, entity);
  return counted.deliveryCount >= entity.maxDeliveryCount
    ? deadLetter(world, counted, "MaxDeliveryCountExceeded")
    : [[counted]];
}

/** The consumer did not try the message, so the delivery does not count. Claim: expiry-waits-for-the-lock. */
function released({ world, state, place, entity }: Here): readonly Outcome[] {
  // No delivery counts in a dead-letter queue, so `given` already returns this outcome.
  if (place.deadLetter !== null) return [];
  return world.circumstances.isExpired === true && mayExpire(state, entity)
    ? expire(world, state, entity)
    : [[inStatus(state, place, "active")]];
}

function askedFor({ world, state, place, entity }: Here): readonly Outcome[] {
  const isOver = world.circumstances.isExpired === true && place.deadLetter === null && mayExpire(state, entity);
  return isOver ? expire(world, state, entity) : [[inStatus(state, place, "locked")]];
}

/** Claims: shorter-time-to-live-counts, no-expiry-while-forwarding. */
function mayExpire({ timeToLiveMs }: MessageState, { forwardTo }: Entity): boolean {
  return timeToLiveMs !== null && forwardTo === null;
}

/** Claims: expiry-is-lazy, expiry-waits-for-the-lock, dead-letters-stay. */
function canExpire({ state, place, entity }: Here): boolean {
  return place.status === "active" && place.deadLetter === null && mayExpire(state, entity);
}

/** An entity that forwards still holds a message only if its destination refused it. */
function goOn({ world, state, place, entity }: Here): readonly Outcome[] {
  if (place.status !== "active") return impossible;
  if (place.deadLetter === null) return entity.forwardTo === null ? impossible : forward(world, state, entity);
  const isForwarded = entity.forwardDeadLetteredTo !== null && place.deadLetter !== "MaxTransferHopCountExceeded";
  return isForwarded ? forwardDeadLetter(world, state) : impossible;
}

export function spontaneousEvents(context: Context, state: MessageState): readonly ServicebusEvent[] {
  const { place } = state;
  if (place.kind !== "entity") return [];
  if (place.status === "scheduled") return [{ kind: "schedule-due" }];
  if (place.status === "locked") return [{ kind: "lock-expires" }];
  return (["expire", "forward"] as const)
    .map((kind) => ({ kind }))
    .filter((event) => step(context, state, event).length > 0);
}
