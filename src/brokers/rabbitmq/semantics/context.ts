import type { RoutingIndex } from "../routing.ts";
import { routingIndex } from "../routing.ts";
import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";
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
}

export function contextOf(topology: BrokerTopology, version: SemanticsVersion): Context {
  const policies = indexPolicies(topology.policies);
  const settings = topology.queues.map((queue) => settingsOf(queue, policies, version));
  return {
    rules: versionRules[version],
    routing: routingIndex(topology, alternatesByPolicy(topology.exchanges, topology.policies)),
    settings: new Map(settings.map((each) => [each.queue, each])),
    saturation: settings.reduce((most, each) => Math.max(most, saturationOf(each)), 1),
  };
}

function saturationOf({ deliveryLimit, delayedRetry }: EffectiveSettings): number {
  return Math.max(
    deliveryLimit === null ? 0 : deliveryLimit + 1,
    delayedRetry === null ? 0 : Math.ceil(delayedRetry.maxMs / delayedRetry.minMs),
  );
}
