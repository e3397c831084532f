import type * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import type { PolicyResource } from "../compile/topology.ts";

export interface RabbitmqPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  readonly parent: pulumi.Resource;
  /** The virtual host. It must exist. */
  readonly namespace: pulumi.Input<string>;
  /** True if the state has arguments as an import reads them. */
  readonly areImported: boolean;
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

/**
 * Arguments as an input. With `arguments` the provider would send every value as a text, and RabbitMQ ignores a delivery
 * limit that is a text. But an import reads arguments that are all texts into that very input, and a change from one to
 * the other is a replacement. Source: provider 3.3.8, `ReadQueue` in `resource_queue.go`, `ReadBinding` in
 * `resource_binding.go`.
 */
export function argumentInputs(
  given: Readonly<Record<string, string | number | boolean>>,
  areImported: boolean,
): { arguments: Record<string, string> } | { argumentsJson: string } {
  const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return areImported && texts.length === Object.keys(given).length
    ? { arguments: Object.fromEntries(texts) }
    : { argumentsJson: JSON.stringify(given) };
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
