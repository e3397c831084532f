import {
  type BrokerBinding,
  type BrokerTopology,
  type SemanticsVersion,
  definitionInForce,
  indexPolicies,
  semanticsOf,
  versionRules,
} from "../../prove/semantics.ts";
import { surroundingsOf } from "../audit/surroundings.ts";
import { isSharedDelay } from "./frameworks.ts";

/** One topology with all that an inference asks about it. */
export type Looking = ReturnType<typeof lookAt>;

export function lookAt(topology: BrokerTopology, version: SemanticsVersion) {
  const semantics = semanticsOf(topology, version);
  const policies = indexPolicies(topology.policies);
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  return {
    topology,
    version,
    semantics,
    surroundings: surroundingsOf(topology, semantics),
    settings: topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []),
    /** The arguments of a queue and the policies in force on it, by their keys without `x-`. */
    valuesOf: (name: string) => {
      const queue = queues.get(name);
      if (queue === undefined) return {};
      const given = Object.entries(queue.arguments).map(([key, value]) => [key.replace(/^x-/, ""), value] as const);
      return { ...definitionInForce(queue, policies, versionRules[version]), ...Object.fromEntries(given) };
    },
  };
}

/** The waiting queues that lead to this work queue, but for those that a framework shares. */
export function waitsBefore({ surroundings, settings }: Looking, queue: string) {
  return settings
    .filter((each) => surroundings.shapeOf(each.queue) === "wait" && !isSharedDelay(each.queue))
    .map((each) => ({ name: each.queue, aims: surroundings.aimsOf(each) }))
    .filter(({ aims }) => aims.includes(queue))
    .map(({ name, aims }) => ({ name, isOwn: aims.every((aim) => aim === queue) }));
}

/** The bindings of a queue. The default exchange leads into each queue without one. */
export function waysInto({ bindings }: BrokerTopology, queue: string): readonly BrokerBinding[] {
  return bindings.filter(
    ({ source, destination, destinationKind }) => source !== "" && destination === queue && destinationKind === "queue",
  );
}
