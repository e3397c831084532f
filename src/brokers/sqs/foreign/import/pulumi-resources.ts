import type { Checked } from "../../../../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { type PulumiResource, isUnreadable, nameIn } from "../../../../foreign/pulumi-resource.ts";
import { mappingFields, pulumiNamesOf, subscriptionFields } from "../../compile/fields.ts";
import { type Deployment, assembleDeployment, isQueueArn, nameIn as nameInArn, regionNamer } from "../deployment.ts";
import { type QueueAttributes, queueOf, readEach, unreadable } from "./attributes.ts";
import { type AuditedFunction, functionOf, mappingOf, subscriptionOf } from "./neighbours.ts";
import {
  attributeTypes,
  functionType,
  mappingType,
  queueProperties,
  queueType,
  subscriptionType,
  topicType,
} from "./resource-types.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";
import { readWithout } from "../../../../foreign/unread.ts";

/**
 * True if the resource describes a queue. Without a queue there is nothing to judge, because topics and functions also
 * serve other purposes.
 */
export function isSqsResource({ type }: Pick<PulumiResource, "type">): boolean {
  return type === queueType || Object.hasOwn(attributeTypes, type);
}

/** True also for the resources around queues. */
export function isReadResource(resource: Pick<PulumiResource, "type">): boolean {
  return isSqsResource(resource) || [functionType, mappingType, subscriptionType, topicType].includes(resource.type);
}

/**
 * The content of an account after a program with resources of @pulumi/aws.
 *
 * A queue with a secret or unknown ARN cannot be identified, so it is left out with a warning that names it. The audit
 * says nothing about other values that cannot be read.
 *
 * @param resources those of services other than SQS, SNS and Lambda are skipped
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const leftOut: string[] = [];
  const read = <Value>(wanted: string, reader: (properties: Entry) => Value): Value[] =>
    readEach(
      resources.filter(({ type }) => type === wanted),
      ({ properties }) => reader(properties),
      ({ urn }) => leftOut.push(nameIn(urn)),
    );
  const byUrl = attributesByUrl(resources);
  const functions = read(functionType, (properties) => functionOf(functionAnswer(properties)));
  const queues = read(queueType, (properties) => queueOf(attributesOf(properties, byUrl)));
  const subscriptions = read(subscriptionType, (properties) =>
    subscriptionOf({
      ...answerOf(pulumiNamesOf(subscriptionFields), properties),
      SubscriptionArn: told(properties["arn"]),
    }),
  );
  const mappings = read(mappingType, (properties) => mappingOf(mappingAnswer(properties, functions), functions));
  const value = assembleDeployment({
    queues,
    subscriptions: subscriptions.filter((each) => each !== null),
    mappings: mappings.filter((each) => each !== null),
    knowsMappings: true,
    otherDeadLetterArns: functions.flatMap(({ deadLetterArn }) => deadLetterArn ?? []),
    isWhole: false,
    listedNames: new Set(),
  });
  return readWithout(value, leftOut, "ARNs of queues, topics and functions");
}

/** The place of each queue, as findings write it. Findings name no other resources. */
export function placesOf(resources: readonly PulumiResource[]): ReadonlyMap<string, readonly string[]> {
  const queues = resources.flatMap(({ type, urn, properties: { arn } }) =>
    type === queueType && isQueueArn(arn) ? [{ urn, arn }] : [],
  );
  const regionOf = regionNamer(queues.map(({ arn }) => arn));
  return new Map(queues.map(({ urn, arn }) => [urn, ["regions", regionOf(arn), "queues", nameInArn(arn)]]));
}

/**
 * The attributes that resources of their own set, by the URL of the queue. If there are two, the last counts, as at
 * AWS.
 */
function attributesByUrl(resources: readonly PulumiResource[]): ReadonlyMap<string, QueueAttributes> {
  const byUrl = new Map<string, QueueAttributes>();
  for (const { type, properties } of resources) {
    const attribute = attributeTypes[type];
    const { queueUrl } = properties;
    if (attribute === undefined || typeof queueUrl !== "string") continue;
    const value = told(properties[queueProperties.get(attribute) ?? ""]);
    byUrl.set(queueUrl, { ...byUrl.get(queueUrl), [attribute]: value });
  }
  return byUrl;
}

function attributesOf(properties: Entry, byUrl: ReadonlyMap<string, QueueAttributes>): QueueAttributes {
  const { url, arn } = properties;
  const own = answerOf(queueProperties, properties);
  return { QueueArn: told(arn), ...own, ...(typeof url === "string" ? byUrl.get(url) : {}) };
}

/** Properties of the provider as AWS would return them. */
function answerOf(names: ReadonlyMap<string, string>, properties: Entry): Entry {
  return Object.fromEntries([...names].map(([name, property]) => [name, told(properties[property])]));
}

/** Keeps a readable value. A secret and an unknown value are not readable. */
function told(value: unknown): unknown {
  return isUnreadable(value) ? unreadable : value;
}

function functionAnswer({ arn, timeout, deadLetterConfig }: Entry): Entry {
  const target = isEntry(deadLetterConfig) ? deadLetterConfig["targetArn"] : undefined;
  // The provider and AWS have the same default.
  return { FunctionArn: arn, Timeout: told(timeout) ?? 3, DeadLetterConfig: { TargetArn: target } };
}

/** A mapping names the function by its name or its ARN. The provider reads back the ARN. */
function mappingAnswer(properties: Entry, functions: readonly AuditedFunction[]): Entry {
  const { functionName, functionArn, enabled } = properties;
  const byName = functions.find(({ arn }) => arn === functionName || arn.endsWith(`:function:${wordOf(functionName)}`));
  const [filters, scaling] = ["filterCriteria", "scalingConfig"].map((name) => told(properties[name]));
  return {
    ...answerOf(pulumiNamesOf(mappingFields), properties),
    ScalingConfig: isEntry(scaling) ? { MaximumConcurrency: scaling["maximumConcurrency"] } : scaling,
    UUID: told(properties["uuid"] ?? properties["id"]),
    FunctionArn: typeof functionArn === "string" ? functionArn : (byName?.arn ?? functionName),
    FilterCriteria: isEntry(filters) ? { Filters: filters["filters"] } : filters,
    State: enabled === false ? "Disabled" : "Enabled",
  };
}
