import {
  type BrokerBinding,
  type BrokerTopology,
  type EffectiveSettings,
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
  const settings = topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []);
  const surroundings = surroundingsOf(topology, semantics);
  const ends = endsAmong(topology, settings, surroundings.aimsOf);
  return {
    topology,
    version,
    semantics,
    surroundings: {
      ...surroundings,
      shapeOf: (queue: string) => (ends.has(queue) ? ("dead" as const) : surroundings.shapeOf(queue)),
    },
    settings,
    /** The arguments of a queue and the policies in force on it, by their keys without `x-`. */
    valuesOf: (name: string) => {
      const queue = queues.get(name);
      if (queue === undefined) return {};
      const given = Object.entries(queue.arguments).map(([key, value]) => [key.replace(/^x-/, ""), value] as const);
      return { ...definitionInForce(queue, policies, versionRules[version]), ...Object.fromEntries(given) };
    },
  };
}

/**
 * The dead queues of a policy that gives every queue a dead-letter exchange. It matches its own dead queue as well, whose
 * dead letters come back to it, or are dropped as a cycle.
 */
function endsAmong(
  topology: BrokerTopology,
  settings: readonly EffectiveSettings[],
  aimsOf: (queue: EffectiveSettings) => readonly string[],
): ReadonlySet<string> {
  const isEnd = (each: EffectiveSettings): boolean => {
    const ways = waysInto(topology, each.queue);
    return (
      aimsOf(each).every((aim) => aim === each.queue) &&
      ways.length > 0 &&
      ways.every(({ source }) => source === each.deadLetterExchange)
    );
  };
  return new Set(settings.filter((each) => each.messageTtlMs === null && isEnd(each)).map(({ queue }) => queue));
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
