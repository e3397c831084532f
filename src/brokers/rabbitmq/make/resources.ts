import type * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { kept } from "../../../deploy/resource-options.ts";
import type { PolicyResource } from "../compile/topology.ts";
import type { Part, PartTopology } from "./part.ts";
import { areTexts } from "./texts.ts";

export interface RabbitmqPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  readonly parent: pulumi.Resource;
  /** The virtual host. It must exist. */
  readonly namespace: pulumi.Input<string>;
  /** True if the state has arguments as an import reads them. */
  readonly areImported: boolean;
  /** The part of the topology that this stack makes. Undefined for all of it. */
  readonly part?: Part | undefined;
  /** Tells if the broker has neither a queue nor an exchange of a name. It is known before the first resource. */
  readonly isNew: Promise<(name: string) => boolean>;
}

export interface Made {
  readonly exchanges: Map<string, rabbitmq.Exchange>;
  readonly queues: Map<string, rabbitmq.Queue>;
  readonly policies: Map<string, rabbitmq.Policy>;
  readonly bindings: rabbitmq.Binding[];
}

/** A deployment that goes on. */
export interface Deploying extends RabbitmqPlacement {
  readonly made: Made;
  /** The queues and exchanges that another stack has made. */
  readonly outside: PartTopology["outside"];
  readonly order: PolicyOrder;
}

/** Resolves when the engine has made the resource. In a preview it has only looked at it. */
export async function registered({ urn }: pulumi.Resource): Promise<void> {
  return new Promise((resolve) => void urn.apply(() => resolve()));
}

/** The resources that one has to wait for, as the option `dependsOn`. */
type Before = pulumi.Input<pulumi.Resource>[];

/** The order of policies and of the queues and exchanges that they are for. */
export interface PolicyOrder {
  /** The resources that the policy for this name has to wait for. */
  readonly beforePolicy: (name: string, others: readonly pulumi.Resource[]) => Before;
  /** The resources that the queue or exchange of this name has to wait for. */
  readonly beforeThing: (name: string, others: readonly pulumi.Resource[]) => Before;
}

/**
 * Resources that are known later. Pulumi also takes a promise of several resources inside the array. Outside of it, the
 * promise would become an output, and Pulumi's SDK would search all objects that its resources lead to for unknown
 * values. That took most of the time of a program with 1,000 consumers.
 *
 * Source: `merge` in `resource.js`, `gatherExplicitDependencies` in `runtime/dependsOn.js` (SDK 3.260).
 */
function later(resources: Promise<readonly pulumi.Resource[]>): Before {
  return [resources as Promise<unknown> as Promise<pulumi.Resource>];
}

/**
 * Makes all policies for new names before the first queue or exchange that they are for. With each policy, RabbitMQ
 * compares all policies with all queues and exchanges of the virtual host. So the other order takes minutes for some
 * hundred consumers, and seconds of the broker's processor for each policy. Source: `update_matched_objects/3` in
 * `rabbit_policy.erl` (4.3.5).
 *
 * A policy for a name that the broker has comes last. If the broker refuses the queue, its policy stays as it is.
 */
export function policyOrder({ isNew }: RabbitmqPlacement, { policies }: Made): PolicyOrder {
  const allNew = isNew.then(async (of) =>
    Promise.all([...policies].flatMap(([name, policy]) => (of(name) ? [registered(policy)] : []))),
  );
  return {
    beforePolicy: (name, others) => later(isNew.then((of) => (of(name) ? [] : others))),
    beforeThing: (name, others) => later(isNew.then(async (of) => (of(name) ? allNew.then(() => others) : others))),
  };
}

/** Arguments as an input. */
export function argumentInputs(
  given: Readonly<Record<string, string | number | boolean>>,
  areImported: boolean,
): { arguments: Record<string, string> } | { argumentsJson: string } {
  return areImported && areTexts(given) ? { arguments: given } : { argumentsJson: JSON.stringify(given) };
}

/**
 * A queue or an exchange keeps its policy: a tier without its time to live would hold its messages for ever.
 *
 * @param after the resources that it waits for if the broker has a queue or an exchange of its name
 */
export function addPolicy(
  { made, order, name, parent, namespace }: Deploying,
  { name: policyName, pattern, applyTo, priority, definition: wanted }: PolicyResource,
  isProtected: boolean,
  after: readonly pulumi.Resource[],
): rabbitmq.Policy {
  // The provider takes texts only, and turns whole numbers in texts back into numbers.
  const definition: Record<string, string> = {};
  for (const key in wanted) definition[key] = String(wanted[key]);
  const policy = new rabbitmq.Policy(
    `${name}-${policyName}`,
    { name: policyName, vhost: namespace, policy: { pattern, applyTo, priority, definition } },
    { ...kept(parent, isProtected), dependsOn: order.beforePolicy(policyName, after) },
  );
  made.policies.set(policyName, policy);
  return policy;
}
