import { misfit } from "../../../contract/shared-problems.ts";
import type { Checked } from "../../../diagnostics/diagnostic.ts";
import type { Assumed } from "../../assumed.ts";
import { type RabbitmqTarget, rabbitmqLimits } from "../compile/capabilities.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { Contract } from "../compile/contract.ts";
import type { Resources } from "../compile/after-deployment.ts";
import { ofExchange, policyKey } from "../compile/differences.ts";
import type { ForeignPolicy } from "../compile/foreign-policies.ts";
import { exactPattern } from "../compile/names.ts";
import type { PolicyResource, Topology } from "../compile/topology.ts";
import type { Closure } from "./closure.ts";
import { tiesOf } from "./policy-orders.ts";
import {
  type Arguments,
  type SemanticsVersion,
  brokerTopologyOf,
  definitionInForce,
  exchangePolicyInForce,
  indexPolicies,
  policiesFor,
  policiesForExchange,
  semanticsVersionOf,
  versionRules,
} from "./semantics.ts";

/**
 * Adds the policies of others that the target names to a compiled system. The proof, the consumer's check and the
 * comparison with a broker then take the policies in force.
 */
export function withForeignPolicies(
  compiled: Checked<RabbitmqCompiled>,
  target: RabbitmqTarget,
): Checked<RabbitmqCompiled> {
  const { policies } = target;
  if (!compiled.ok || policies === undefined) return compiled;
  const own = new Set(compiled.value.topology.policies.map(({ name }) => name));
  const clashes = policies.flatMap(({ kind, name }, index) =>
    kind === "user" && own.has(name)
      ? [
          misfit(
            ["target", "policies", index, "name"],
            name,
            "a compiled policy has this name, and a virtual host has one user policy of a name",
            "let its owner rename it; the deployment would replace it",
          ),
        ]
      : [],
  );
  if (clashes.length > 0) return { ok: false, diagnostics: clashes };
  return { ...compiled, value: assuming(compiled.value, target, policies) };
}

/** The system without any policies of others, and with each one alone. */
export function assumedIn(compiled: RabbitmqCompiled, target: RabbitmqTarget): Assumed<RabbitmqCompiled> {
  const { assumed, ...topology } = compiled.topology;
  return {
    own: { ...compiled, topology },
    parts: (assumed?.policies ?? []).map((policy, index) => ({
      path: ["target", "policies", index],
      what: `the ${policy.kind === "operator" ? "operator's " : ""}policy ${policy.name}`,
      only: assuming(compiled, target, [policy]),
    })),
  };
}

function assuming(
  compiled: RabbitmqCompiled,
  target: RabbitmqTarget,
  policies: readonly ForeignPolicy[],
): RabbitmqCompiled {
  const { topology } = compiled;
  const assumed = { policies, inForce: policiesInForce(topology, policies, semanticsVersionOf(target)) };
  return Object.freeze({ ...compiled, topology: Object.freeze({ ...topology, assumed }) });
}

/** By resource, the values of its own policy and those of others together. */
export function policiesInForce(
  { exchanges, queues, bindings, policies: own }: Resources,
  policies: readonly ForeignPolicy[],
  version: SemanticsVersion,
): readonly PolicyResource[] {
  const assumed = { policies, inForce: [] };
  const broker = brokerTopologyOf({ exchanges, queues, bindings, policies: own, assumed });
  const index = indexPolicies(broker.policies);
  return [
    ...broker.queues.map((queue) =>
      inForceOn("queues", queue.name, definitionInForce(queue, index, versionRules[version])),
    ),
    ...broker.exchanges.map(({ name }) =>
      inForceOn("exchanges", name, ofExchange(exchangePolicyInForce(index, name)?.definition ?? {})),
    ),
  ].filter(({ definition }) => Object.keys(definition).length > 0);
}

function inForceOn(applyTo: PolicyResource["applyTo"], name: string, definition: object): PolicyResource {
  return { name, pattern: exactPattern(name), applyTo, priority: 1, definition: definition as Record<string, never> };
}

/** Finds the flaws that policies of others bring, and that no exploration shows. */
export function foreignPolicyFlaws(
  topology: Topology,
  closure: Closure,
  contract: Contract,
  version: SemanticsVersion,
): readonly string[] {
  const { assumed } = topology;
  if (assumed === undefined) return [];
  const index = indexPolicies(brokerTopologyOf(topology).policies);
  const ties = [
    ...closure.queues.map(
      ({ name }) => [name, policiesFor({ name, kind: "quorum" }, index, versionRules[version]).applicable] as const,
    ),
    ...closure.exchanges.map(({ name }) => [name, policiesForExchange(index, name)] as const),
  ].flatMap(([name, applicable]) => tiesOf(applicable).map((tied) => ({ name, tied })));
  const inForce = new Map(assumed.inForce.map((each) => [policyKey(each), each.definition]));
  const federated = closure.exchanges.filter(
    ({ name, role }) =>
      role !== "source" &&
      Object.keys(inForce.get(`exchange ${name}`) ?? {}).some((key) => key.startsWith("federation")),
  );
  return [
    ...ties.map(
      ({ name, tied }) =>
        `${tied.map((each) => each.name).join(" and ")} have the same priority, and the broker may take either for ${name}`,
    ),
    ...federated.map(({ name }) => `messages of another broker come into ${name} by federation`),
    ...timeoutFlaws(topology, contract, inForce.get(`queue ${contract.workQueue}`) ?? {}),
  ];
}

/**
 * The broker takes a delivery back after the smaller one of the policy's timeout and the argument's. The explorer lets it
 * do so at any time, and does not look at the handler's time.
 */
function timeoutFlaws({ queues, policies }: Topology, contract: Contract, inForce: Arguments): readonly string[] {
  const { workQueue, handlerTimeoutMs } = contract;
  const queue = queues.find(({ name }) => name === workQueue);
  const own = policies.find((each) => policyKey(each) === `queue ${workQueue}`);
  const timeoutWith = (definition: Arguments = {}): number =>
    [definition["consumer-timeout"], queue?.arguments["x-consumer-timeout"]]
      .filter((value) => typeof value === "number")
      .reduce((least, value) => Math.min(least ?? value, value), undefined as number | undefined) ??
    rabbitmqLimits.consumerTimeoutMs;
  const [before, after] = [timeoutWith(own?.definition), timeoutWith(inForce)];
  if (handlerTimeoutMs === null || after > handlerTimeoutMs || before <= handlerTimeoutMs) return [];
  return [`the broker takes a message back after ${after} ms; the handler may run for ${handlerTimeoutMs} ms`];
}
