import type { Linked } from "../../certain.ts";
import { certainOf } from "../../certain.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { hasUnknown } from "../../pulumi-resource.ts";
import { destinationIn } from "./entity-properties.ts";
import { namedResource } from "./pulumi-resources.ts";

const leading = ["forwardTo", "forwardDeadLetteredMessagesTo"] as const;

/** What is read of an entity or a rule besides its names and where it forwards to; whatever else Azure answers decides nothing. */
const own = [
  "lockDuration",
  "defaultMessageTimeToLive",
  "autoDeleteOnIdle",
  "duplicateDetectionHistoryTimeWindow",
  "maxDeliveryCount",
  "deadLetteringOnMessageExpiration",
  "requiresSession",
  "requiresDuplicateDetection",
  "filterType",
  "sqlFilter",
] as const;

/**
 * The resources of Service Bus about which everything that is found is certain in a preview. What @pulumi/azure-native puts into the path
 * of a request is no output, so of what is to be created no name is known before the update, and nothing is said.
 */
export function certainResources(resources: readonly PulumiResource[]): readonly PulumiResource[] {
  if (!resources.some(({ properties }) => hasUnknown(properties))) return resources;
  return certainOf(resources.map(linkedOf));
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
