import type { SqsTopology } from "../../compile/topology.ts";
import { type Context, contextOf } from "./context.ts";
import type { Circumstances, MessageState, Outcome, Publication, SentMessage, SqsEvent } from "./message-state.ts";
import { publish, send } from "./publish.ts";
import { refuses, step } from "./step.ts";

/**
 * The behaviour of one topology. Every function is pure. There are no versions: SQS is the same in every region.
 *
 * One rule is left out. On rare occasions a standard queue may deliver a message twice at a time, or once more after
 * its deletion (SQS Developer Guide, "At-least-once delivery"). Such a delivery counts as a receive like any other.
 */
export interface Semantics {
  /**
   * The possible ends of a publication to a topic, each with the copies of all subscriptions. If no subscription takes
   * it, it ends as `lost`. If the topic does not accept it, it ends as `refused`.
   */
  readonly publish: (publication: Publication, circumstances?: Circumstances) => readonly Outcome[];
  /** The same for a message that a client sends to the queue itself. */
  readonly send: (message: SentMessage) => readonly Outcome[];
  /**
   * The possible ends of an event, each with the states of all the copies that exist afterwards. More than one means
   * that the result is not determined or not known. An empty list means that the event cannot happen in this state. A
   * request that SQS refuses changes nothing.
   */
  readonly step: (state: MessageState, event: SqsEvent, circumstances?: Circumstances) => readonly Outcome[];
  /** Tells if SQS answers a request of the consumer with an error. */
  readonly refuses: (state: MessageState, event: SqsEvent) => boolean;
  /**
   * A key that two states share only if no later event can tell them apart, but for the receive count that a consumer
   * sees. It takes finitely many values, because counts above every limit are saturated.
   */
  readonly behaviourKey: (state: MessageState) => string;
}

export function semanticsOf(topology: Pick<SqsTopology, "queues" | "topics" | "subscriptions">): Semantics {
  const context = contextOf(topology);
  return Object.freeze<Semantics>({
    publish: (...given) => publish(context, ...given),
    send: (...given) => send(context, ...given),
    step: (...given) => step(context, ...given),
    refuses: (state, event) => refuses(context, state, event),
    behaviourKey: (state) => behaviourKey(context, state),
  });
}

/**
 * SQS may compare the count of all queues with the limit of any queue, and the count of this queue with its own limit.
 * So the key cuts each off above its limits. It also tells if there was a receive at all, because without one no
 * consumer has a receipt handle.
 */
function behaviourKey({ queues, saturation }: Context, state: MessageState): string {
  const { place, receiveCount, receivesHere, groupId } = state;
  const limit = place.kind === "queue" ? (queues.get(place.queue)?.redrive?.maxReceiveCount ?? 1) : 0;
  return JSON.stringify([place, Math.min(receiveCount, saturation), Math.min(receivesHere, limit), groupId]);
}
