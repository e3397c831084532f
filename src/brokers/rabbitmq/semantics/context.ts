import type { RoutingIndex } from "../routing.ts";
import { routingIndex } from "../routing.ts";
import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";
import { cyclesOf } from "./cycles.ts";
import { alternatesByPolicy, indexPolicies } from "./policies.ts";
import { settingsOf } from "./settings.ts";
import type { SemanticsVersion, VersionRules } from "./version.ts";
import { versionRules } from "./version.ts";

/** A topology and a version, looked up once. */
export interface Context {
  readonly rules: VersionRules;
  readonly routing: RoutingIndex;
  readonly settings: ReadonlyMap<string, EffectiveSettings>;
  /** From this count of failures or returns on, one more makes no difference in any queue. */
  readonly saturation: number;
  /** Whether some exchange looks at how a message died. */
  readonly routesByDeath: boolean;
  /** Queues with the same number are in one cycle of dead-lettering. */
  readonly cycleOf: (queue: string) => number | undefined;
}

export function contextOf(
  topology: BrokerTopology,
  version: SemanticsVersion,
  adjust: (settings: EffectiveSettings) => EffectiveSettings,
): Context {
  const policies = indexPolicies(topology.policies);
  const settings = topology.queues.map((queue) => adjust(settingsOf(queue, policies, version)));
  const byQueue = new Map(settings.map((each) => [each.queue, each]));
  const alternates = alternatesByPolicy(topology.exchanges, topology.policies);
  let cycles: ReadonlyMap<string, number> | undefined;
  return {
    rules: versionRules[version],
    routing: routingIndex(topology, alternates),
    settings: byQueue,
    routesByDeath: topology.bindings.some(({ arguments: given }) =>
      Object.keys(given).some((key) => deathHeader.test(key)),
    ),
    cycleOf: (queue) => (cycles ??= cyclesOf(topology, byQueue, alternates)).get(queue),
    saturation: settings.reduce((most, each) => Math.max(most, saturationOf(each)), 1),
  };
}

const deathHeader = /^x-(death$|first-death-|last-death-)/;

function saturationOf({ deliveryLimit, delayedRetry }: EffectiveSettings): number {
  return Math.max(
    deliveryLimit === null ? 0 : deliveryLimit + 1,
    delayedRetry === null ? 0 : Math.ceil(delayedRetry.maxMs / delayedRetry.minMs),
  );
}
