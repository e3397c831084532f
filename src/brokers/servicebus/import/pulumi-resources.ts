import type { Checked } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { Entry } from "../../entries.ts";
import { nameSome } from "../../finding.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { isUnreadable, nameIn } from "../../pulumi-resource.ts";
import type { Deployment } from "../deployment.ts";
import { subscriptionPath } from "../topology.ts";
import type { NamedResource } from "./entity-properties.ts";
import { isWellFormed, namespacesOf } from "./entity-properties.ts";

/** The resources of @pulumi/azure-native that make a topology, by the properties that name them below the namespace. */
const types: Readonly<Record<string, { readonly kind: NamedResource["kind"]; readonly names: readonly string[] }>> = {
  "azure-native:servicebus:Namespace": { kind: "namespace", names: [] },
  "azure-native:servicebus:Queue": { kind: "queue", names: ["queueName"] },
  "azure-native:servicebus:Topic": { kind: "topic", names: ["topicName"] },
  "azure-native:servicebus:Subscription": { kind: "subscription", names: ["topicName", "subscriptionName"] },
  "azure-native:servicebus:Rule": { kind: "rule", names: ["topicName", "subscriptionName", "ruleName"] },
  "azure-native:servicebus:DefaultRule": { kind: "rule", names: ["topicName", "subscriptionName"] },
};

/** `azure-native:servicebus:Queue`, and with a version of the API `azure-native:servicebus/v20240101:Queue`. */
export function plainTypeOf(type: string): string {
  return type.replace(/^azure-native:servicebus\/v\w+:/, "azure-native:servicebus:");
}

function kindOf(type: string): (typeof types)[string] | undefined {
  const plain = plainTypeOf(type);
  return Object.hasOwn(types, plain) ? types[plain] : undefined;
}

/** What Azure assigns, as far as it is read. */
export const assigned: Readonly<Record<string, readonly string[]>> = Object.freeze(
  Object.fromEntries(Object.keys(types).map((type) => [type, ["id"]])),
);

/** Without a queue or a subscription there is nowhere that a message could be. */
export function isServicebusResource({ type }: Pick<PulumiResource, "type">): boolean {
  const kind = kindOf(type)?.kind;
  return kind === "queue" || kind === "subscription";
}

/** Topics and rules say what comes to subscriptions, and a namespace what there can be in it. */
export function isReadResource({ type }: Pick<PulumiResource, "type">): boolean {
  return kindOf(type) !== undefined;
}

/** Where findings say that each of the resources is; they name no rules. */
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
 * What resources of @pulumi/azure-native make in namespaces. One whose names are secret or not known yet is left out with a
 * warning, and one of another form.
 *
 * @param resources others than those of Service Bus are passed over
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const own = resources.filter(isReadResource).map((resource) => ({
    urn: resource.urn,
    named: isWellFormed(resource.properties) ? namedResource(resource) : null,
  }));
  const leftOut = own.flatMap(({ urn, named }) => (named === null ? [nameIn(urn)] : []));
  const named = own.flatMap((each) => each.named ?? []);
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

/** Null where the names are not told. */
export function namedResource({ type, properties }: Pick<PulumiResource, "type" | "properties">): NamedResource | null {
  const known = kindOf(type);
  if (known === undefined) return null;
  const [namespace, ...names] = namesAmong(properties, known.names) ?? namesInId(properties["id"]) ?? [];
  if (namespace === undefined) return null;
  const isDefault = type.endsWith(":DefaultRule") && names.length === known.names.length;
  return { kind: known.kind, namespace, names: isDefault ? [...names, "$Default"] : names, properties };
}

/** The name by which others refer to a resource; null where it is not told, or where it is of none of these kinds. */
export function ownNameOf(
  { type, properties }: Pick<PulumiResource, "type" | "properties">,
  kinds: readonly NamedResource["kind"][],
): string | null {
  const known = kindOf(type);
  if (known === undefined || !kinds.includes(known.kind)) return null;
  const name = properties[known.names.at(-1) ?? "namespaceName"] ?? properties["name"];
  return typeof name === "string" && !isUnreadable(name) ? name : null;
}

/** The namespace and the names below it; null where one of them is not told. */
function namesAmong(properties: Entry, keys: readonly string[]): readonly string[] | null {
  // What Pulumi names by itself is told by the name that Azure answered with.
  const names = keys.map((key, index) =>
    index === keys.length - 1 ? (properties[key] ?? properties["name"]) : properties[key],
  );
  const namespace = properties["namespaceName"] ?? (keys.length === 0 ? properties["name"] : undefined);
  const told = [namespace, ...names];
  return told.every((each) => typeof each === "string" && !isUnreadable(each)) ? (told as string[]) : null;
}

/**
 * The same from the id that Azure gave. A policy pack is shown outputs, and what @pulumi/azure-native puts into the path of a request is
 * none of them. Source: pulumi-azure-native, issue 574 and `checkpointObject`, which keeps no inputs since version 3.
 */
function namesInId(id: unknown): readonly string[] | null {
  const pattern = /\/providers\/Microsoft\.ServiceBus\/namespaces\/([^/]+)\/(?:queues|topics)\/(.+)$/i;
  const match = typeof id === "string" ? pattern.exec(id) : null;
  if (match === null) return null;
  const [, namespace = "", below = ""] = match;
  // Names and kinds take turns: `orders/subscriptions/billing/rules/placed`.
  return [namespace, ...below.split("/").filter((_, index) => index % 2 === 0)];
}
