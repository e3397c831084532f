import type { Checked } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { nameSome } from "../../finding.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { isUnreadable, nameIn } from "../../pulumi-resource.ts";
import type { Deployment } from "../deployment.ts";
import type { NamedResource } from "./entity-properties.ts";
import { namespacesOf } from "./entity-properties.ts";

/** The resources of @pulumi/azure-native that make a topology, by the properties that name them below the namespace. */
const types: Readonly<Record<string, { readonly kind: NamedResource["kind"]; readonly names: readonly string[] }>> = {
  Queue: { kind: "queue", names: ["queueName"] },
  Topic: { kind: "topic", names: ["topicName"] },
  Subscription: { kind: "subscription", names: ["topicName", "subscriptionName"] },
  Rule: { kind: "rule", names: ["topicName", "subscriptionName", "ruleName"] },
  DefaultRule: { kind: "rule", names: ["topicName", "subscriptionName"] },
};

/** `azure-native:servicebus:Queue`, and with a version of the API `azure-native:servicebus/v20240101:Queue`. */
const typePattern = /^azure-native:servicebus(?:\/v\w+)?:(\w+)$/;

function kindOf(type: string): (typeof types)[string] | undefined {
  const name = typePattern.exec(type)?.[1] ?? "";
  return Object.hasOwn(types, name) ? types[name] : undefined;
}

/** Without a queue or a subscription there is nowhere that a message could be. */
export function isServicebusResource({ type }: Pick<PulumiResource, "type">): boolean {
  const kind = kindOf(type)?.kind;
  return kind === "queue" || kind === "subscription";
}

/** Topics and rules say what comes to subscriptions. */
export function isReadResource({ type }: Pick<PulumiResource, "type">): boolean {
  return kindOf(type) !== undefined;
}

/**
 * What resources of @pulumi/azure-native make in namespaces. One whose names are secret or not known yet is left out with a warning.
 *
 * @param resources others than those of Service Bus are passed over
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const leftOut: string[] = [];
  const named = resources.flatMap(({ type, urn, properties }): NamedResource[] => {
    const known = kindOf(type);
    if (known === undefined) return [];
    const namespace = properties["namespaceName"];
    // What Pulumi names by itself is told by the name that Azure answered with.
    const names = known.names.map((key, index) =>
      index === known.names.length - 1 ? (properties[key] ?? properties["name"]) : properties[key],
    );
    const isTold = [namespace, ...names].every((each) => typeof each === "string" && !isUnreadable(each));
    if (!isTold) {
      leftOut.push(nameIn(urn));
      return [];
    }
    const all = names as string[];
    return [
      {
        kind: known.kind,
        namespace: namespace as string,
        names: type.endsWith(":DefaultRule") ? [...all, "$Default"] : all,
        properties,
      },
    ];
  });
  const value: Deployment = { namespaces: namespacesOf(named, false) };
  if (leftOut.length === 0) return { ok: true, value, warnings: [] };
  const warning = diagnostic("RD409", {
    path: "",
    message: `left out, since what says where messages go is secret, malformed or not known yet: ${nameSome(leftOut)}`,
    notes: ["names of queues, topics and subscriptions are no secrets, and come from one by accident"],
    help: "take the value out of the secret that it comes from, and run pulumi up",
  });
  return { ok: true, value, warnings: [warning] };
}
