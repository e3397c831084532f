import { definitionInForce, indexPolicies, semanticsOf, versionRules } from "../../prove/semantics.ts";
import type {
  Arguments,
  BrokerTopology,
  EffectiveSettings,
  Semantics,
  SemanticsVersion,
} from "../../prove/semantics.ts";
import { type Surroundings, surroundingsOf } from "../audit/surroundings.ts";

/** One topology with all that an inference asks about it. */
export interface Looking {
  readonly topology: BrokerTopology;
  readonly semantics: Semantics;
  readonly surroundings: Surroundings;
  readonly settings: readonly EffectiveSettings[];
  /** The arguments of a queue and the policies in force on it, by their keys without `x-`. */
  readonly valuesOf: (queue: string) => Arguments;
}

export function lookAt(topology: BrokerTopology, version: SemanticsVersion): Looking {
  const semantics = semanticsOf(topology, version);
  const policies = indexPolicies(topology.policies);
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  return {
    topology,
    semantics,
    surroundings: surroundingsOf(topology, semantics),
    settings: topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []),
    valuesOf: (name) => {
      const queue = queues.get(name);
      if (queue === undefined) return {};
      const given = Object.entries(queue.arguments).map(([key, value]) => [key.replace(/^x-/, ""), value] as const);
      return { ...definitionInForce(queue, policies, versionRules[version]), ...Object.fromEntries(given) };
    },
  };
}
