import { routingIndex } from "../routing.ts";
import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";
import { cyclesOf } from "./cycles.ts";
import { alternatesByPolicy, indexPolicies } from "./policies.ts";
import { settingsOf } from "./settings.ts";
import { type SemanticsVersion, versionRules } from "./version.ts";

export type Context = ReturnType<typeof contextOf>;

export function contextOf(
  topology: BrokerTopology,
  version: SemanticsVersion,
  adjust: (settings: EffectiveSettings) => EffectiveSettings,
) {
  const policies = indexPolicies(topology.policies);
  const settings = topology.queues.map((queue) => adjust(settingsOf(queue, policies, version)));
  const byQueue = new Map(settings.map((each) => [each.queue, each]));
  const alternates = alternatesByPolicy(topology.exchanges, topology.policies);
  let cycles: ReadonlyMap<string, number> | undefined;
  return {
    rules: versionRules[version],
    routing: routingIndex(topology, alternates),
    settings: byQueue,
    /** True if some exchange routes by a death of the message. */
    routesByDeath: topology.bindings.some(({ arguments: given }) =>
      Object.keys(given).some((key) => deathHeader.test(key)),
    ),
    /** Queues with the same number are in one cycle of dead-lettering. */
    cycleOf: (queue: string) => (cycles ??= cyclesOf(topology, byQueue, alternates)).get(queue),
    /** From this count of failures or returns on, one more makes no difference in any queue. */
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
