import type { Checked } from "../../../../diagnostics/diagnostic.ts";
import type { Entry } from "../../../../foreign/entries.ts";
import { type PulumiResource, isUnreadable, nameIn } from "../../../../foreign/pulumi-resource.ts";
import { defaultRuleName } from "../../compile/names.ts";
import { subscriptionPath } from "../../compile/topology.ts";
import type { Deployment, NamedResource } from "../deployment.ts";
import { isWellFormed, namespacesOf } from "./entity-properties.ts";
import { readWithout } from "../../../../foreign/unread.ts";

/**
 * The resources of @pulumi/azure-native that make a topology, with the properties that name them below the namespace.
 */
const types: Readonly<Record<string, { readonly kind: NamedResource["kind"]; readonly names: readonly string[] }>> = {
  "azure-native:servicebus:Namespace": { kind: "namespace", names: [] },
  "azure-native:servicebus:Queue": { kind: "queue", names: ["queueName"] },
  "azure-native:servicebus:Topic": { kind: "topic", names: ["topicName"] },
  "azure-native:servicebus:Subscription": { kind: "subscription", names: ["topicName", "subscriptionName"] },
  "azure-native:servicebus:Rule": { kind: "rule", names: ["topicName", "subscriptionName", "ruleName"] },
  "azure-native:servicebus:DefaultRule": { kind: "rule", names: ["topicName", "subscriptionName"] },
};

/**
 * The type of a resource without the version of its API: `azure-native:servicebus/v20240101:Queue` becomes
 * `azure-native:servicebus:Queue`.
 */
export function plainTypeOf(type: string): string {
  return type.replace(/^azure-native:servicebus\/v\w+:/, "azure-native:servicebus:");
}

function kindOf(type: string): (typeof types)[string] | undefined {
  const plain = plainTypeOf(type);
  return Object.hasOwn(types, plain) ? types[plain] : undefined;
}

export const assigned: Readonly<Record<string, readonly string[]>> = Object.freeze(
  Object.fromEntries(Object.keys(types).map((type) => [type, ["id"]])),
);

/** True for a queue or a subscription, because messages can lie only there. */
export function isServicebusResource({ type }: Pick<PulumiResource, "type">): boolean {
  const kind = kindOf(type)?.kind;
  return kind === "queue" || kind === "subscription";
}

/**
 * True also for topics and rules, because they decide which messages reach a subscription, and for the namespace, which
 * has the tier.
 */
export function isReadResource({ type }: Pick<PulumiResource, "type">): boolean {
  return kindOf(type) !== undefined;
}

/** The place of each resource, as findings write it. Findings name no rules. */
export function placesOf(resources: readonly PulumiResource[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    resources.flatMap((resource): (readonly [string, readonly string[]])[] => {
      const named = namedResource(resource);
      if (named === null || named.kind === "rule") return [];
      const { kind, namespace, names } = named;
      const [name, subscription] = names;
      const own =
        name === undefined || subscription === undefined ? name : subscriptionPath({ topic: name, name: subscription });
      return [[resource.urn, ["namespaces", namespace, ...(own === undefined ? [] : [`${kind}s`, own])]]];
    }),
  );
}

/**
 * The content of namespaces after a program with resources of @pulumi/azure-native, or of Terraform under its names. A resource with a secret, unknown
 * or malformed name is left out with a warning. So is a resource of another form.
 *
 * @param resources those of other services are skipped
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const own = resources.filter(isReadResource).map((resource) => ({
    urn: resource.urn,
    named: isWellFormed(resource.properties) ? namedResource(resource) : null,
  }));
  const leftOut = own.flatMap(({ urn, named }) => (named === null ? [nameIn(urn)] : []));
  const named = own.flatMap((each) => each.named ?? []);
  const all = leftOut.length > 0 ? named : [...named, ...rulesByAzure(named)];
  return readWithout({ namespaces: namespacesOf(all, false) }, leftOut, "names of queues, topics and subscriptions");
}

/** Azure makes the rule `$Default` with each subscription. It lets in every message. A program needs no resource for it. */
export function rulesByAzure(named: readonly NamedResource[]): readonly NamedResource[] {
  const keyOf = ({ namespace, names }: NamedResource): string =>
    JSON.stringify([namespace, ...names.slice(0, 2)]).toLowerCase();
  const shown = new Set(named.filter(({ kind }) => kind === "rule").map(keyOf));
  return named
    .filter((each) => each.kind === "subscription" && !shown.has(keyOf(each)))
    .map(({ namespace, names, properties: { id } }) => ({
      kind: "rule",
      namespace,
      names: [...names, defaultRuleName],
      properties: typeof id === "string" ? { id: `${id}/rules/${defaultRuleName}` } : {},
    }));
}

/** Null if the names are unknown. */
export function namedResource({ type, properties }: Pick<PulumiResource, "type" | "properties">): NamedResource | null {
  const known = kindOf(type);
  if (known === undefined) return null;
  const [namespace, ...names] = namesAmong(properties, known.names) ?? namesInId(properties["id"]) ?? [];
  if (namespace === undefined) return null;
  const isDefault = type.endsWith(":DefaultRule") && names.length === known.names.length;
  return { kind: known.kind, namespace, names: isDefault ? [...names, defaultRuleName] : names, properties };
}

/**
 * The name by which other resources refer to this one. Null if it is unknown, or if the resource is of another kind.
 */
export function ownNameOf(
  { type, properties }: Pick<PulumiResource, "type" | "properties">,
  kinds: readonly NamedResource["kind"][],
): string | null {
  const known = kindOf(type);
  if (known === undefined || !kinds.includes(known.kind)) return null;
  const name = properties[known.names.at(-1) ?? "namespaceName"] ?? properties["name"];
  return typeof name === "string" && !isUnreadable(name) ? name : null;
}

/** The namespace and the names below it. Null if one of them is unknown. */
function namesAmong(properties: Entry, keys: readonly string[]): readonly string[] | null {
  // If Pulumi chose the name, only the name in Azure's answer is known.
  const names = keys.map((key, index) =>
    index === keys.length - 1 ? (properties[key] ?? properties["name"]) : properties[key],
  );
  const namespace = properties["namespaceName"] ?? (keys.length === 0 ? properties["name"] : undefined);
  const told = [namespace, ...names];
  return told.every((each) => typeof each === "string" && !isUnreadable(each)) ? (told as string[]) : null;
}

/**
 * The same names from Azure's id. A policy pack sees outputs, and @pulumi/azure-native does not return the names in the
 * path of a request. Source: pulumi-azure-native, issue 574 and `checkpointObject`, which keeps no inputs since version
 * 3.
 */
function namesInId(id: unknown): readonly string[] | null {
  const pattern = /\/providers\/Microsoft\.ServiceBus\/namespaces\/([^/]+)\/(?:queues|topics)\/(.+)$/i;
  const match = typeof id === "string" ? pattern.exec(id) : null;
  if (match === null) return null;
  const [, namespace = "", below = ""] = match;
  // Names and kinds alternate: `orders/subscriptions/billing/rules/placed`.
  return [namespace, ...below.split("/").filter((_, index) => index % 2 === 0)];
}
