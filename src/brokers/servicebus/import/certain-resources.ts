import type { Linked } from "../../certain.ts";
import { certainOf } from "../../certain.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { hasUnknown } from "../../pulumi-resource.ts";
import type { NamedResource } from "./entity-properties.ts";
import { destinationIn, propertyTypes } from "./entity-properties.ts";
import { namedResource, ownNameOf } from "./pulumi-resources.ts";

const leading = ["forwardTo", "forwardDeadLetteredMessagesTo"] as const;

/** Besides its names and where it forwards to; whatever else Azure answers decides nothing. */
const own = Object.keys(propertyTypes).filter((key) => !leading.some((each) => each === key) && key !== "sku");

/** By the properties in which programs refer to others by their names: what kinds those are of. */
const references: Readonly<Record<string, readonly NamedResource["kind"][]>> = {
  namespaceName: ["namespace"],
  topicName: ["topic"],
  subscriptionName: ["subscription"],
  forwardTo: ["queue", "topic"],
  forwardDeadLetteredMessagesTo: ["queue", "topic"],
};

/**
 * The resources of Service Bus about which everything that is found is certain in a preview.
 *
 * The name of what is to be created is no output before the update. It is among what the program asks for, and where the program takes it
 * from there, a value that is made of one resource, and of nothing else, names that resource.
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
  // A name may be known to be malformed instead, of which it is said that it cannot be read.
  if (named === null) {
    return { resource, scope: null, places: [], unknown: hasUnknown(properties) ? "where it leads" : "nothing" };
  }
  const { kind, namespace, names } = named;
  const targets = leading.map((key) => properties[key]);
  const isLost = targets.some(hasUnknown);
  const isEntity = kind === "queue" || kind === "subscription" || kind === "rule";
  const isOpen = isEntity && own.some((key) => hasUnknown(properties[key]));
  // A subscription goes with its topic, and a rule with both.
  const path = names.slice(0, 2).map((_, index) => names.slice(0, index + 1).join("/Subscriptions/"));
  return {
    resource,
    scope: namespace,
    places: [...path, ...targets.flatMap((each) => (typeof each === "string" ? [destinationIn(each)] : []))],
    unknown: isLost ? "where it leads" : isOpen ? "a value" : "nothing",
  };
}
