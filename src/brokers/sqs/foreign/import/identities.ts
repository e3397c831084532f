import type { PulumiResource } from "../../../../foreign/pulumi-resource.ts";
import { hasUnknown, nameIn as nameInUrn, providerName, unknownText } from "../../../../foreign/pulumi-resource.ts";
import { nameIn, placeIn } from "../deployment.ts";
import { functionType, queueType, topicType } from "./resource-types.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";

/** The resources that values of a preview stand for. */
export type Identities = ReturnType<typeof identitiesOf>;

const services: Readonly<Record<string, string>> = {
  [queueType]: "sqs",
  [topicType]: "sns",
  [functionType]: "lambda",
};

export function identitiesOf(resources: readonly PulumiResource[]) {
  const own = resources.filter(({ type }) => Object.hasOwn(services, type));
  const known = knownPlaces(own);
  const places = withMadeUpPlaces(own, known);
  const byUrn = new Map(own.map((each) => [each.urn, identityOf(each, places)]));
  const isNew = ({ properties }: PulumiResource): boolean => hasUnknown(properties["arn"]);
  // If the place of a provider is known, the ARN is exactly the one that AWS will assign.
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
    of: (urn: string) => byUrn.get(urn),
    byUrl: (url: unknown) => (typeof url === "string" ? byUrl.get(url) : undefined),
    /**
     * The queue that an unknown value is made from. Undefined if the value is made from several resources, or from
     * another one.
     */
    madeOf: (resource: PulumiResource, property: string) => madeOf(queueType, resource, property),
    /** The ARNs of the topic and of the function that an unknown value is made from. */
    topicOf: (resource: PulumiResource, property: string) => madeOf(topicType, resource, property)?.arn,
    functionOf: (resource: PulumiResource, property: string) => madeOf(functionType, resource, property)?.arn,
    /** True if a new resource leaves a property to AWS. AWS then adds nothing. */
    isLeftOut: (resource: PulumiResource, property: string) =>
      areToldOf && isNew(resource) && (resource.propertyDependencies?.[property] ?? []).length === 0,
    isMadeUp: (arn: string) => madeUp.has(arn),
    /** The names of all resources with made-up ARNs. */
    namesMadeUp: new Set([...madeUp].map(nameIn)),
    areMadeUp: madeUp.size > 0,
  };
}

/** The partition, the region and the account. */
type Place = readonly [partition: string, region: string, account: string];

/** The region that the program names for this resource alone. Null if the provider decides. */
function ownRegion({ properties, propertyDependencies = {} }: PulumiResource): string | null {
  return Object.hasOwn(propertyDependencies, "region") ? wordOf(properties["region"]) : null;
}

/** A provider makes everything in one account. It uses its own region if the program names no other. */
function placeKeyOf(resource: PulumiResource): string {
  return JSON.stringify([resource.provider, ownRegion(resource)]);
}

/** The places that existing resources show: `["aws", "eu-west-1", "123456789012"]`. */
function knownPlaces(own: readonly PulumiResource[]): ReadonlyMap<string, Place> {
  return new Map(
    own.flatMap((each) => {
      const { arn } = each.properties;
      if (typeof arn !== "string" || hasUnknown(arn) || !arn.startsWith("arn:")) return [];
      return [[placeKeyOf(each), JSON.parse(placeIn(arn)) as Place] as const];
    }),
  );
}

/** The known places, with a made-up place for each unknown one. All differ, and people read their names in findings. */
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

/** The identity of a resource. It is made up if only the update knows it. */
function identityOf(resource: PulumiResource, places: ReadonlyMap<string, Place>) {
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
