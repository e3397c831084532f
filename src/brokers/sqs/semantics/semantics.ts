import type { SqsTopology } from "../topology.ts";
import type { Context } from "./context.ts";
import { contextOf } from "./context.ts";
import type {
  Circumstances,
  MessageState,
  Outcome,
  Place,
  Publication,
  SentMessage,
  SqsEvent,
} from "./message-state.ts";
import { publish, send } from "./publish.ts";
import { refuses, spontaneousEvents, step } from "./step.ts";

/**
 * One topology, ready to be asked what happens. Every function is pure. There are no versions: SQS is the same in every region.
 *
 * Not in it: that a standard queue may, on rare occasions, deliver a message twice at a time, or once more after its deletion
 * (SQS Developer Guide, "At-least-once delivery"). Such a delivery counts as a receive like any other.
 */
export interface Semantics {
  /**
   * The ways in which a publication to a topic can end, each with the copies of all subscriptions. One that no subscription takes ends as one
   * state that is `lost`, one that the topic does not accept as one that is `refused`.
   */
  readonly publish: (publication: Publication, circumstances?: Circumstances) => readonly Outcome[];
  /** The same for a message that is sent to a queue itself. */
  readonly send: (message: SentMessage) => readonly Outcome[];
  /**
   * The ways in which an event can end, each with the states of all the copies that there are afterwards. The number of outcomes is what is
   * not determined, or not known. Empty means that the event cannot happen in this state; a request that SQS refuses changes nothing.
   */
  readonly step: (state: MessageState, event: SqsEvent, circumstances?: Circumstances) => readonly Outcome[];
  /** Whether SQS answers a request of the consumer with an error. */
  readonly refuses: (state: MessageState, event: SqsEvent) => boolean;
  /** The events that can come without any consumer in this state. A move to the dead queue is not among them: it takes a receive. */
  readonly spontaneousEvents: (state: MessageState) => readonly SqsEvent[];
  /** The group of a FIFO queue that this message holds back the later messages of; null for none. */
  readonly blockedGroup: (state: MessageState) => string | null;
  /**
   * A key that two states share only if no later event can tell them apart, but for the receive count that a consumer sees. It takes finitely
   * many values: counts above every limit are saturated.
   */
  readonly behaviourKey: (state: MessageState) => string;
}

/** Looks a topology up once, for many questions. */
export function semanticsOf(topology: Pick<SqsTopology, "queues" | "topics" | "subscriptions">): Semantics {
  const context = contextOf(topology);
  return Object.freeze({
    publish: (publication: Publication, circumstances?: Circumstances) => publish(context, publication, circumstances),
    send: (message: SentMessage) => send(context, message),
    step: (state: MessageState, event: SqsEvent, circumstances?: Circumstances) =>
      step(context, state, event, circumstances),
    refuses: (state: MessageState, event: SqsEvent) => refuses(context, state, event),
    spontaneousEvents: (state: MessageState) => spontaneousEvents(context, state),
    blockedGroup: (state: MessageState) => blockedGroup(context, state),
    behaviourKey: (state: MessageState) => behaviourKey(context, state),
  });
}

/** A message that is visible blocks nothing, since it comes first. Claims: fifo-in-flight-blocks-group, fifo-dead-letter-frees-group. */
function blockedGroup({ queues }: Context, { place, groupId }: MessageState): string | null {
  const isHere = place.kind === "queue" && queues.get(place.queue)?.fifo === true && place.status === "in-flight";
  return isHere ? groupId : null;
}

/**
 * The count of all queues is compared with the limits of all of them; that of this queue with its own limit, and it matters whether there was a
 * receive at all, since without one nobody has a receipt handle. Above its limits each is cut off.
 */
function behaviourKey({ queues, saturation }: Context, state: MessageState): string {
  const { place, receiveCount, receivesHere, groupId } = state;
  const limit = place.kind === "queue" ? (queues.get(place.queue)?.redrive?.maxReceiveCount ?? 1) : 0;
  return [placeKey(place), Math.min(receiveCount, saturation), Math.min(receivesHere, limit), groupId ?? ""].join(
    "\u0000",
  );
}

function placeKey(place: Place): string {
  switch (place.kind) {
    case "queue":
      switch (place.status) {
        case "delayed":
          return `delayed\u0001${place.queue}`;
        case "visible":
          return `visible\u0001${place.queue}\u0001${place.handled}`;
        case "in-flight": {
          const { fromSeconds, toSeconds, since } = place.visibility;
          return `in-flight\u0001${place.queue}\u0001${place.handled}\u0001${since}\u0001${fromSeconds}\u0001${toSeconds}`;
        }
        default:
          return place satisfies never;
      }
    case "deleted":
      return `deleted\u0001${place.queue}`;
    case "lost":
      return `lost\u0001${place.cause}\u0001${place.queue}`;
    case "refused":
      return `refused\u0001${place.by}\u0001${place.error}`;
    default:
      return place satisfies never;
  }
}
