import type { BrokerPolicy, BrokerTopology, SemanticsVersion } from "./semantics.ts";
import { indexPolicies, policiesFor, policiesForExchange, versionRules } from "./semantics.ts";

/**
 * Up to this many tied policies, every order is tried. With more, each policy is tried in first place, which is enough
 * for a single queue.
 */
const mostPermuted = 4;
const mostOrders = 24;

export interface PolicyOrder {
  readonly policies: readonly BrokerPolicy[];
  /** The policies with a place that makes a difference, in this order. */
  readonly first: readonly BrokerPolicy[];
}

/**
 * Lists the orders in which the broker may hold its policies. Several policies of the highest priority may match a
 * queue. The broker takes the one that it lists first, and it promises no order.
 *
 * Source: `rabbit_policy:match/3` (4.3.5): the matching policies are sorted by priority alone.
 *
 * @returns at least one order; more than one exactly if policies of the same kind and priority match one queue or
 *   exchange
 */
export function policyOrders(topology: BrokerTopology, version: SemanticsVersion): readonly PolicyOrder[] {
  const tied = tiedPolicies(topology, version);
  if (tied.length === 0) return [{ policies: topology.policies, first: [] }];
  const firsts = tied.length <= mostPermuted ? permutations(tied) : tied.slice(0, mostOrders).map((each) => [each]);
  return firsts.map((first) => ({
    policies: [...first, ...topology.policies.filter((each) => !first.includes(each))],
    first,
  }));
}

function tiedPolicies(topology: BrokerTopology, version: SemanticsVersion): BrokerPolicy[] {
  const index = indexPolicies(topology.policies);
  const rules = versionRules[version];
  const tied = new Set<BrokerPolicy>();
  for (const queue of topology.queues) {
    for (const policy of tiesOf(policiesFor(queue, index, rules).applicable).flat()) tied.add(policy);
  }
  if (topology.policies.some(({ definition }) => "alternate-exchange" in definition)) {
    for (const { name } of topology.exchanges) {
      for (const policy of tiesOf(policiesForExchange(index, name)).flat()) tied.add(policy);
    }
  }
  return topology.policies.filter((each) => tied.has(each));
}

/**
 * Groups the matching policies by kind. Keeps each group that shares the highest priority, if it has several policies.
 */
export function tiesOf(applicable: readonly BrokerPolicy[]): (readonly BrokerPolicy[])[] {
  return (["user", "operator"] as const).flatMap((kind) => {
    const ofKind = applicable.filter((policy) => policy.kind === kind);
    const highest = Math.max(...ofKind.map(({ priority }) => priority));
    const first = ofKind.filter(({ priority }) => priority === highest);
    return first.length > 1 ? [first] : [];
  });
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
}
