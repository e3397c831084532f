import type { PulumiResource } from "../../pulumi-resource.ts";
import { hasUnknown, nameIn as nameInUrn, providerName, unknownText } from "../../pulumi-resource.ts";
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
  const known = knownPlaces(own);
  const places = withMadeUpPlaces(own, known);
  const byUrn = new Map(own.map((each) => [each.urn, identityOf(each, places)]));
  const isNew = ({ properties }: PulumiResource): boolean => hasUnknown(properties["arn"]);
  // Where the place of a provider is known, nothing but what AWS will say in the end is put in.
  const isMadeUp = (each: PulumiResource): boolean => isNew(each) && !known.has(placeKeyOf(each));
  const madeUp = new Set(own.filter(isMadeUp).flatMap(({ urn }) => byUrn.get(urn)?.arn ?? []));
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
    isMadeUp: (arn) => madeUp.has(arn),
    namesMadeUp: new Set([...madeUp].map(nameIn)),
    areMadeUp: madeUp.size > 0,
  };
}

/** The partition, the region and the account. */
type Place = readonly [partition: string, region: string, account: string];

/** The region that the program names for the resource alone; null where that is left to the provider. */
function ownRegion({ properties, propertyDependencies = {} }: PulumiResource): string | null {
  return Object.hasOwn(propertyDependencies, "region") ? String(properties["region"]) : null;
}

/** A provider makes everything in one account, and in its region where the program names no other. */
function placeKeyOf(resource: PulumiResource): string {
  return JSON.stringify([resource.provider, ownRegion(resource)]);
}

/** The places that are known by what is there already: `["aws", "eu-west-1", "123456789012"]`. */
function knownPlaces(own: readonly PulumiResource[]): ReadonlyMap<string, Place> {
  return new Map(
    own.flatMap((each) => {
      const { arn } = each.properties;
      if (typeof arn !== "string" || hasUnknown(arn) || !arn.startsWith("arn:")) return [];
      return [[placeKeyOf(each), JSON.parse(placeIn(arn)) as Place] as const];
    }),
  );
}

/** The places, with one for whatever nothing is known of: no two are the same, and people read their names in what is found. */
function withMadeUpPlaces(
  own: readonly PulumiResource[],
  known: ReadonlyMap<string, Place>,
): ReadonlyMap<string, Place> {
  const open = new Map(own.map((each) => [placeKeyOf(each), each] as const).filter(([key]) => !known.has(key)));
  const madeUp = [...open].map(([key, resource], index): readonly [string, Place] => {
    const region = ownRegion(resource) ?? unknownText;
    const account = `${providerName(resource.provider)}-${index + 1}`.replaceAll(":", "-");
    return [key, ["aws", region === unknownText ? "not-known-yet" : region, account]];
  });
  return new Map([...known, ...madeUp]);
}

function identityOf(resource: PulumiResource, places: ReadonlyMap<string, Place>): Identity {
  const { type, urn, properties } = resource;
  const { arn, url, name, fifoQueue, fifoTopic } = properties;
  const [partition, region, account] = places.get(placeKeyOf(resource)) ?? ["", "", ""];
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
