import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { bindingKey } from "../../compile/differences.ts";
import { brokerTopologyOf } from "../../prove/semantics.ts";
import type { Deployment } from "../deployment.ts";

/**
 * The content of a virtual host after a compiled system is deployed over it. Queues and exchanges that are there keep
 * their arguments, and only policies change. Source: `rabbit_definitions:add_queue/3`, `rabbit_policy:set/7`.
 */
export function deployedOver(deployment: Deployment, { topology }: RabbitmqCompiled): Deployment {
  const made = brokerTopologyOf({
    ...topology,
    exchanges: topology.exchanges.filter(({ owner }) => owner !== "other"),
  });
  const beside = <Item>(found: readonly Item[], added: readonly Item[], keyOf: (item: Item) => string): Item[] => {
    const keys = new Set(found.map(keyOf));
    return [...found, ...added.filter((item) => !keys.has(keyOf(item)))];
  };
  const nameOf = ({ name }: { readonly name: string }): string => name;
  const virtualHosts = deployment.virtualHosts.map(({ name, topology: found }) => ({
    name,
    topology: {
      queues: beside(found.queues, made.queues, nameOf),
      exchanges: beside(found.exchanges, made.exchanges, nameOf),
      bindings: beside(found.bindings, made.bindings, bindingKey),
      policies: beside(made.policies, found.policies, (each) => `${each.kind} ${each.name}`),
    },
  }));
  return { ...deployment, virtualHosts };
}
