import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";
import { contextOf } from "./context.ts";
import { comparedCount, withComparedCount } from "./counts.ts";
import type { BrokerEvent, Circumstances, MessageState, Outcome, Publication } from "./message-state.ts";
import { publish } from "./publish.ts";
import { behaviourKey } from "./state-key.ts";
import { spontaneousEvents, step } from "./step.ts";
import type { SemanticsVersion } from "./version.ts";

/** The behaviour of one topology on one version. Every function is pure. */
export interface Semantics {
  readonly version: SemanticsVersion;
  readonly topology: BrokerTopology;
  /** @returns null if there is no such queue */
  readonly settings: (queue: string) => EffectiveSettings | null;
  /** The possible ends of a publication. If no queue takes it, it ends as one state that is `lost` or `refused`. */
  readonly publish: (publication: Publication, circumstances?: Circumstances) => readonly Outcome[];
  /**
   * The possible ends of an event, each with the states of all the copies that exist afterwards. Several outcomes mean
   * nondeterminism, and several states in an outcome mean fan-out. An empty list means that the event cannot happen in
   * this state.
   */
  readonly step: (state: MessageState, event: BrokerEvent, circumstances?: Circumstances) => readonly Outcome[];
  /**
   * The events that can come without any consumer in this state: expiry, the end of a delay, overflow, deletion of the
   * queue.
   */
  readonly spontaneousEvents: (state: MessageState) => readonly BrokerEvent[];
  /**
   * A key that two states share only if no later event can tell them apart. Counts that a consumer sees in headers, but
   * cannot route by, may still differ. It takes finitely many values, because it saturates counts
   * that no comparison needs.
   */
  readonly behaviourKey: (state: MessageState) => string;
  /** Reads and sets the count that the broker compares with the delivery limit. */
  readonly comparedCount: {
    readonly of: (state: MessageState) => number;
    readonly with: (state: MessageState, count: number) => MessageState;
  };
  /** Queues with the same number are in one cycle of dead-lettering. */
  readonly cycleOf: (queue: string) => number | undefined;
}

/**
 * Builds the semantics of a topology, for many questions.
 *
 * @param adjust changes the settings of a queue, to ask about a slightly different topology
 */
export function semanticsOf(
  topology: BrokerTopology,
  version: SemanticsVersion,
  adjust: (settings: EffectiveSettings) => EffectiveSettings = (settings) => settings,
): Semantics {
  const context = contextOf(topology, version, adjust);
  return Object.freeze<Semantics>({
    version,
    topology,
    settings: (queue) => context.settings.get(queue) ?? null,
    publish: (...given) => publish(context, ...given),
    step: (...given) => step(context, ...given),
    spontaneousEvents: (state) => spontaneousEvents(context, state),
    behaviourKey: (state) => behaviourKey(context, state),
    comparedCount: {
      of: (state) => comparedCount(context.rules, state),
      with: (state, count) => withComparedCount(context.rules, state, count),
    },
    cycleOf: context.cycleOf,
  });
}
