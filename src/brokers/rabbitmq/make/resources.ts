import type * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import type { ExchangeResource, PolicyResource, QueueResource } from "../compile/topology.ts";

export interface RabbitmqPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  readonly parent: pulumi.Resource;
  /** The virtual host. It must exist. */
  readonly namespace: pulumi.Input<string>;
}

export interface Made {
  readonly exchanges: Map<string, rabbitmq.Exchange>;
  readonly queues: Map<string, rabbitmq.Queue>;
  readonly policies: Map<string, rabbitmq.Policy>;
}

/** The options of a resource that stays on the broker when it leaves the program. */
export function kept(parent: pulumi.Resource, isProtected: boolean): pulumi.CustomResourceOptions {
  return { parent, retainOnDelete: true, deleteBeforeReplace: false, ...(isProtected ? { protect: true } : {}) };
}

const passing: ReadonlySet<string | undefined> = new Set(["tier", "wait", "attempt", "attempts", "reasons"]);

/** Some resources come and go with the number of attempts and with delays. */
export function isLasting(role: QueueResource["role"] | ExchangeResource["role"] | undefined): boolean {
  return !passing.has(role);
}

/** A queue or an exchange keeps its policy: a tier without its time to live would hold its messages for ever. */
export function addPolicy(
  { name, namespace }: RabbitmqPlacement,
  { name: policyName, pattern, applyTo, priority, definition: wanted }: PolicyResource,
  options: pulumi.CustomResourceOptions,
): rabbitmq.Policy {
  // The provider takes texts only, and turns whole numbers in texts back into numbers.
  const definition: Record<string, string> = {};
  for (const key in wanted) definition[key] = String(wanted[key]);
  return new rabbitmq.Policy(
    `${name}-${policyName}`,
    { name: policyName, vhost: namespace, policy: { pattern, applyTo, priority, definition } },
    options,
  );
}
