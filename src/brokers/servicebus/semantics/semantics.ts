import type { ServicebusTopology } from "../topology.ts";
import type { Context } from "./context.ts";
import { contextOf } from "./context.ts";
import type { Circumstances, MessageState, Outcome, Place, SentMessage, ServicebusEvent } from "./message-state.ts";
import { send, spontaneousEvents, step } from "./step.ts";

/**
 * One namespace, ready to be asked what happens. Every function is pure. Tiers differ in what can be set up, and not in what becomes of
 * a message.
 *
 * Not in it: clocks. Locks, times to live and schedules are events, which come when whoever plays them says so.
 */
export interface Semantics {
  /**
   * The ways in which a message to a queue or a topic can end up, each with all of its copies, forwarded to where they rest. One that nothing
   * takes ends as a state that is `lost`, one that is not accepted as one that is `refused`.
   */
  readonly send: (message: SentMessage, circumstances?: Circumstances) => readonly Outcome[];
  /**
   * The ways in which an event can end, each with the states of all the copies that there are afterwards; the first is the documented or
   * likely one, and more of them are what is not determined, or not known. Empty means that the event cannot happen in this state, or that
   * the broker refuses it.
   */
  readonly step: (state: MessageState, event: ServicebusEvent, circumstances?: Circumstances) => readonly Outcome[];
  /** The events that can come without any client in this state. */
  readonly spontaneousEvents: (state: MessageState) => readonly ServicebusEvent[];
  /** A key that two states share only if no later event can tell them apart. It takes finitely many values. */
  readonly behaviourKey: (state: MessageState) => string;
}

/** Looks a topology up once, for many questions. */
export function semanticsOf(topology: Pick<ServicebusTopology, "queues" | "topics" | "subscriptions">): Semantics {
  const context = contextOf(topology);
  return Object.freeze({
    send: (message: SentMessage, circumstances?: Circumstances) => send(context, message, circumstances),
    step: (state: MessageState, event: ServicebusEvent, circumstances?: Circumstances) =>
      step(context, state, event, circumstances),
    spontaneousEvents: (state: MessageState) => spontaneousEvents(context, state),
    behaviourKey: (state: MessageState) => behaviourKey(context, state),
  });
}

/** A count at or above an entity's limit is as good as the limit. Where a message ended nothing else matters. */
function behaviourKey({ entities }: Context, state: MessageState): string {
  const { place, content, deliveryCount, hops, timeToLiveMs } = state;
  if (place.kind !== "entity") return placeKey(place);
  const most = entities.get(place.entity)?.maxDeliveryCount ?? 0;
  return [placeKey(place), JSON.stringify(content), Math.min(deliveryCount, most), hops, timeToLiveMs].join("\u0000");
}

function placeKey(place: Place): string {
  switch (place.kind) {
    case "entity":
      return [place.kind, place.entity, place.deadLetter, place.status].join("\u0001");
    case "completed":
      return [place.kind, place.entity].join("\u0001");
    case "lost":
      return [place.kind, place.cause, place.entity].join("\u0001");
    case "refused":
      return [place.kind, place.entity, place.error].join("\u0001");
    default:
      return place satisfies never;
  }
}
