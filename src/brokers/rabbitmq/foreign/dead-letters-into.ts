import { type DeployedDifference, otherwise } from "../../drift.ts";
import { namesIn } from "../compile/differences.ts";
import { type Topology, deadLetteringOf } from "../compile/topology.ts";
import type { BrokerTopology, MessageState, SemanticsVersion } from "../prove/semantics.ts";
import { definitionInForce, indexPolicies, versionRules } from "../prove/semantics.ts";

/** The undeclared queues that dead-letter straight into a declared one, through the default exchange. */
export function deadLettersInto(
  declared: Topology,
  found: BrokerTopology,
  version: SemanticsVersion,
): readonly DeployedDifference<MessageState>[] {
  const own = namesIn(declared).queue;
  const index = indexPolicies(found.policies);
  return found.queues.flatMap((queue) => {
    const policy = definitionInForce(queue, index, versionRules[version]);
    const { exchange, key } = deadLetteringOf(queue.arguments, policy);
    if (exchange !== "" || key === null || !own.has(key) || own.has(queue.name)) return [];
    const beside = otherwise(`messages that die in ${queue.name} enter ${key}`);
    const name = `from ${queue.name} into the queue ${key}`;
    return [{ change: "extra" as const, kind: "dead-lettering", name, settings: [], beside, subjects: () => [] }];
  });
}
