import type { ServicebusTopology } from "../../compile/topology.ts";
import { type Context, contextOf } from "./context.ts";
import type { Circumstances, MessageState, Outcome, SentMessage, ServicebusEvent } from "./message-state.ts";
import { send, spontaneousEvents, step } from "./step.ts";

/**
 * The behaviour of one namespace. Every function is pure. The tiers differ in the settings that they allow, but not in
 * their treatment of a message.
 *
 * It has no clocks. Locks, times to live and schedules are events, and the caller decides when they come.
 */
export interface Semantics {
  /**
   * The possible ends of a message to a queue or a topic. Each lists all copies in the places where they rest after
   * forwarding. A message that no entity takes ends as `lost`; one that is not accepted ends as `refused`.
   */
  readonly send: (message: SentMessage, circumstances?: Circumstances) => readonly Outcome[];
  /**
   * The possible ends of an event, each with the states of all the copies that exist afterwards. The first is the
   * documented or likely one. More than one means that the result is not determined or not known. An empty list means
   * that the event cannot happen in this state, or that the broker refuses it.
   */
  readonly step: (state: MessageState, event: ServicebusEvent, circumstances?: Circumstances) => readonly Outcome[];
  /** The events that can come without any client in this state. */
  readonly spontaneousEvents: (state: MessageState) => readonly ServicebusEvent[];
  /** A key that two states share only if no later event can tell them apart. It takes finitely many values. */
  readonly behaviourKey: (state: MessageState) => string;
}

export function semanticsOf(topology: Pick<ServicebusTopology, "queues" | "topics" | "subscriptions">): Semantics {
  const context = contextOf(topology);
  return Object.freeze<Semantics>({
    send: (...given) => send(context, ...given),
    step: (...given) => step(context, ...given),
    spontaneousEvents: (state) => spontaneousEvents(context, state),
    behaviourKey: (state) => behaviourKey(context, state),
  });
}

/** A count at or above an entity's limit counts as the limit. Of a message that has ended, only its end matters. */
function behaviourKey({ entities }: Context, state: MessageState): string {
  const { place, content, deliveryCount, hops, timeToLiveMs } = state;
  if (place.kind !== "entity") return JSON.stringify(place);
  const most = entities.get(place.entity)?.maxDeliveryCount ?? 0;
  return JSON.stringify([place, content, Math.min(deliveryCount, most), hops, timeToLiveMs]);
}
