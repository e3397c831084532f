import { patternTestOf } from "../../compile/policy-pattern.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import type { RabbitmqTargetInput } from "../../compile/target.ts";
import type { Deployment } from "../deployment.ts";

/**
 * The policies of others that stay in force on the resources of a compiled system: operators' policies, and those that
 * no compiled policy outranks. A pattern that cannot be read is left out, because no target takes it.
 */
export function policiesOfOthers(
  { virtualHosts: [host] }: Deployment,
  { topology }: RabbitmqCompiled,
): Pick<RabbitmqTargetInput, "policies"> {
  const own = new Set(topology.policies.map(({ name }) => name));
  const least = Math.min(...topology.policies.map(({ priority }) => priority));
  const names = [...topology.queues, ...topology.exchanges].map(({ name }) => name);
  const policies = (host?.topology.policies ?? [])
    .filter(({ kind, name, priority }) => kind === "operator" || (!own.has(name) && priority >= least))
    .filter(({ definition }) => Object.keys(definition).length > 0)
    .filter(({ pattern }) => names.some((name) => patternTestOf(pattern)?.(name) === true))
    .map(({ name, kind, pattern, applyTo, priority, definition }) => {
      // A definition on a broker has these values alone.
      const values = definition as Readonly<Record<string, string | number | boolean>>;
      return { name, kind, pattern, applyTo, priority, definition: { ...values } };
    });
  return policies.length === 0 ? {} : { policies };
}
