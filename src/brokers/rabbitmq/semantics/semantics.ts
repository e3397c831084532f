import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";
import { contextOf } from "./context.ts";
import type { DeliveryHeaders } from "./delivery-headers.ts";
import { deliveryHeaders } from "./delivery-headers.ts";
import type { BrokerEvent, Circumstances, MessageState, Outcome, Publication } from "./message-state.ts";
import { publish } from "./publish.ts";
import { behaviourKey } from "./state-key.ts";
import { spontaneousEvents, step } from "./step.ts";
import type { SemanticsVersion } from "./version.ts";

/** One topology on one version, ready to be asked what happens. Every function is pure. */
export interface Semantics {
  readonly version: SemanticsVersion;
  readonly topology: BrokerTopology;
  /** @returns null where there is no such queue */
  readonly settings: (queue: string) => EffectiveSettings | null;
  /** The ways in which a publication can end. One that no queue takes ends as one state that is `lost` or `refused`. */
  readonly publish: (publication: Publication, circumstances?: Circumstances) => readonly Outcome[];
  /**
   * The ways in which an event can end, each with the states of all the copies that there are afterwards: the number of outcomes
   * is nondeterminism, the length of an outcome is fan-out. Empty means that the event cannot happen in this state.
   */
  readonly step: (state: MessageState, event: BrokerEvent, circumstances?: Circumstances) => readonly Outcome[];
  /** The events that can come without any consumer, in this state: expiry, a delay that passes, overflow, deletion of the queue. */
  readonly spontaneousEvents: (state: MessageState) => readonly BrokerEvent[];
  /**
   * A key that two states share only if no later event can tell them apart, but for the counts that a consumer sees in headers
   * it cannot route by. Unlike `stateKey` it takes finitely many values: counts that nothing compares any more are saturated.
   */
  readonly behaviourKey: (state: MessageState) => string;
  /** The counts that a consumer sees with a message that is in a queue. */
  readonly deliveryHeaders: (state: MessageState) => DeliveryHeaders;
}

/**
 * Looks a topology up once, for many questions.
 *
 * @param adjust changes what is in force for a queue, for a question about a topology that is a little different
 */
export function semanticsOf(
  topology: BrokerTopology,
  version: SemanticsVersion,
  adjust: (settings: EffectiveSettings) => EffectiveSettings = (settings) => settings,
): Semantics {
  const context = contextOf(topology, version, adjust);
  return Object.freeze({
    version,
    topology,
    settings: (queue: string) => context.settings.get(queue) ?? null,
    publish: (publication: Publication, circumstances?: Circumstances) => publish(context, publication, circumstances),
    step: (state: MessageState, event: BrokerEvent, circumstances?: Circumstances) =>
      step(context, state, event, circumstances),
    spontaneousEvents: (state: MessageState) => spontaneousEvents(context, state),
    behaviourKey: (state: MessageState) => behaviourKey(context, state),
    deliveryHeaders: (state: MessageState) => {
      const kind = state.place.kind === "queue" ? context.settings.get(state.place.queue)?.kind : undefined;
      return deliveryHeaders(state, kind ?? "classic", context.rules);
    },
  });
}
