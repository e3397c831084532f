import type { PulumiResource } from "../../pulumi-resource.ts";
import { hasUnknown, nameIn as nameInUrn, providerName } from "../../pulumi-resource.ts";
import { nameIn, placeIn } from "../deployment.ts";
import { functionType, queueType, topicType } from "./resource-types.ts";

/** What a resource is named by; made up where only the update knows it. */
export interface Identity {
  readonly type: string;
  readonly arn: string;
  readonly url: string;
}

/** Whom the resources of a stack mean in a preview. */
export interface Identities {
  readonly of: (urn: string) => Identity | undefined;
  readonly byUrl: (url: unknown) => Identity | undefined;
  /** The queue that a value is made of that is not known; undefined where it is made of several resources, or of another. */
  readonly madeOf: (resource: PulumiResource, property: string) => Identity | undefined;
  /** The ARN of the topic that it is made of. */
  readonly topicOf: (resource: PulumiResource, property: string) => string | undefined;
  /** The ARN of the function that it is made of. */
  readonly functionOf: (resource: PulumiResource, property: string) => string | undefined;
  /** Whether the program leaves a property to AWS, which adds nothing to what is to be created. */
  readonly isLeftOut: (resource: PulumiResource, property: string) => boolean;
  readonly isMadeUp: (arn: string) => boolean;
  /** The names of all whose ARNs are made up. */
  readonly namesMadeUp: ReadonlySet<string>;
  readonly areMadeUp: boolean;
}

const services: Readonly<Record<string, string>> = {
  [queueType]: "sqs",
  [topicType]: "sns",
  [functionType]: "lambda",
};

export function identitiesOf(resources: readonly PulumiResource[]): Identities {
  const own = resources.filter(({ type }) => Object.hasOwn(services, type));
  const places = placesOf(own);
  const byUrn = new Map(own.map((each) => [each.urn, identityOf(each, places)]));
  const isNew = ({ properties }: PulumiResource): boolean => hasUnknown(properties["arn"]);
  const madeUp = new Set(own.filter((each) => isNew(each)).flatMap(({ urn }) => byUrn.get(urn)?.arn ?? []));
  // Where the place of a provider is known, nothing but what AWS will say in the end is put in.
  const placeless = new Set([...madeUp].filter((arn) => arn.includes(unknownPlace)));
  const byUrl = new Map([...byUrn.values()].filter(({ type }) => type === queueType).map((each) => [each.url, each]));
  const areToldOf = resources.some(({ propertyDependencies = {} }) => Object.keys(propertyDependencies).length > 0);
  const madeOf = (wanted: string, { propertyDependencies = {} }: PulumiResource, property: string) => {
    const [urn, ...others] = propertyDependencies[property] ?? [];
    const identity = urn === undefined || others.length > 0 ? undefined : byUrn.get(urn);
    return identity?.type === wanted ? identity : undefined;
  };
  return {
    of: (urn) => byUrn.get(urn),
    byUrl: (url) => (typeof url === "string" ? byUrl.get(url) : undefined),
    madeOf: (resource, property) => madeOf(queueType, resource, property),
    topicOf: (resource, property) => madeOf(topicType, resource, property)?.arn,
    functionOf: (resource, property) => madeOf(functionType, resource, property)?.arn,
    isLeftOut: (resource, property) =>
      areToldOf && isNew(resource) && (resource.propertyDependencies?.[property] ?? []).length === 0,
    isMadeUp: (arn) => placeless.has(arn),
    namesMadeUp: new Set([...placeless].map(nameIn)),
    areMadeUp: placeless.size > 0,
  };
}

const unknownPlace = "not-known-yet";

/** A provider makes everything in one account, and in its region where the program names no other. */
function placeKeyOf({ provider, properties, propertyDependencies = {} }: PulumiResource): string {
  const isGiven = Object.hasOwn(propertyDependencies, "region");
  return JSON.stringify([provider, isGiven ? String(properties["region"]) : null]);
}

/** The places that are known by what is there already: `["aws", "eu-west-1", "123456789012"]`. */
function placesOf(own: readonly PulumiResource[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    own.flatMap((each) => {
      const { arn } = each.properties;
      if (typeof arn !== "string" || hasUnknown(arn) || !arn.startsWith("arn:")) return [];
      return [[placeKeyOf(each), JSON.parse(placeIn(arn)) as readonly string[]] as const];
    }),
  );
}

function identityOf(resource: PulumiResource, places: ReadonlyMap<string, readonly string[]>): Identity {
  const { type, urn, provider, properties } = resource;
  const { arn, url, name, fifoQueue, fifoTopic } = properties;
  const key = placeKeyOf(resource);
  const elsewhere = `${providerName(provider)}-${unknownPlace}`.replaceAll(":", "-");
  const [partition = "aws", region = elsewhere, account = key.replaceAll(":", "-")] = places.get(key) ?? [];
  const suffix = fifoQueue === true || fifoTopic === true ? ".fifo" : "";
  const ownName = typeof name === "string" && !hasUnknown(name) ? name : `${nameInUrn(urn)}${suffix}`;
  const path = type === functionType ? `function:${ownName}` : ownName;
  const madeUp = ["arn", partition, services[type] ?? "", region, account, path].join(":");
  return {
    type,
    arn: typeof arn === "string" && !hasUnknown(arn) ? arn : madeUp,
    url: typeof url === "string" && !hasUnknown(url) ? url : `the URL of ${urn}`,
  };
}
