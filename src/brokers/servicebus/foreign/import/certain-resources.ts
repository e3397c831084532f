import { type Linked, certainOf } from "../../../../foreign/certain.ts";
import { type PulumiResource, hasUnknown } from "../../../../foreign/pulumi-resource.ts";
import { auditedFields, destinationIn } from "../../compile/fields.ts";
import type { NamedResource } from "../deployment.ts";
import { propertyTypes } from "./entity-properties.ts";
import { namedResource, ownNameOf } from "./pulumi-resources.ts";

const leading = auditedFields.flatMap(({ arm, kind }) => (kind === "entity" ? [arm] : []));

/** The settings that decide something, besides names and destinations. Azure's other settings decide nothing. */
const own = Object.keys(propertyTypes).filter((key) => !leading.includes(key) && key !== "sku");

/** The properties in which programs name other resources, with the kinds of those resources. */
const references: Readonly<Record<string, readonly NamedResource["kind"][]>> = {
  namespaceName: ["namespace"],
  topicName: ["topic"],
  subscriptionName: ["subscription"],
  ...Object.fromEntries(leading.map((key) => [key, ["queue", "topic"] as const])),
};

/**
 * The resources of Service Bus with only certain findings in a preview.
 *
 * A new resource has no output with its name before the update, but the program's inputs have it. If a program makes a
 * value from one resource alone, the value stands for that resource's name.
 */
export function certainResources(resources: readonly PulumiResource[]): readonly PulumiResource[] {
  if (!resources.some(({ properties }) => hasUnknown(properties))) return resources;
  const byUrn = new Map(resources.map((each) => [each.urn, each]));
  return certainOf(resources.map((each) => linkedOf(withNamesOfOthers(each, byUrn))));
}

function withNamesOfOthers(resource: PulumiResource, byUrn: ReadonlyMap<string, PulumiResource>): PulumiResource {
  const { properties, propertyDependencies = {} } = resource;
  const found = Object.entries(references).flatMap(([key, kinds]) => {
    const [urn, ...others] = propertyDependencies[key] ?? [];
    const named = urn === undefined ? undefined : byUrn.get(urn);
    if (!hasUnknown(properties[key]) || named === undefined || others.length > 0) return [];
    const name = ownNameOf(named, kinds);
    return name === null ? [] : [[key, name] as const];
  });
  return found.length === 0 ? resource : { ...resource, properties: { ...properties, ...Object.fromEntries(found) } };
}

function linkedOf(resource: PulumiResource): Linked {
  const { properties } = resource;
  const named = namedResource(resource);
  // The name may be malformed instead of unknown. The reader then reports that it cannot read the resource.
  if (named === null) {
    return { resource, scope: null, places: [], unknown: hasUnknown(properties) ? "where it leads" : "nothing" };
  }
  const { kind, namespace, names } = named;
  const targets = leading.map((key) => properties[key]);
  const isLost = targets.some(hasUnknown);
  const isEntity = kind === "queue" || kind === "subscription" || kind === "rule";
  const isOpen = isEntity && own.some((key) => hasUnknown(properties[key]));
  // A subscription is connected with its topic, and a rule with both.
  const path = names.slice(0, 2).map((_, index) => names.slice(0, index + 1).join("/Subscriptions/"));
  return {
    resource,
    scope: namespace,
    places: [...path, ...targets.flatMap((each) => (typeof each === "string" ? [destinationIn(each)] : []))],
    unknown: isLost ? "where it leads" : isOpen ? "a value" : "nothing",
  };
}
