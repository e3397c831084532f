import type { Checked } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import { nameSome } from "../../finding.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { isUnreadable, nameIn } from "../../pulumi-resource.ts";
import type { AuditedQueue, AuditedSubscription, Deployment, LambdaMapping } from "../deployment.ts";
import { assembleDeployment, isQueueArn, nameIn as nameInArn, regionNamer } from "../deployment.ts";
import type { QueueAttributes } from "./attributes.ts";
import { MalformedValue, queueOf, unreadable } from "./attributes.ts";
import type { AuditedFunction } from "./neighbours.ts";
import { functionOf, mappingOf, subscriptionOf } from "./neighbours.ts";
import { attributeTypes, functionType, mappingType, queueType, subscriptionType, topicType } from "./resource-types.ts";

/** Without a queue there is nothing to judge: topics and functions alone may be there for other things. */
export function isSqsResource({ type }: Pick<PulumiResource, "type">): boolean {
  return type === queueType || Object.hasOwn(attributeTypes, type);
}

/** What is around queues is read where there are queues. */
export function isReadResource(resource: Pick<PulumiResource, "type">): boolean {
  return isSqsResource(resource) || [functionType, mappingType, subscriptionType, topicType].includes(resource.type);
}

/** The attributes of a queue by the properties of the provider. */
const queueProperties: Readonly<Record<string, string>> = {
  QueueArn: "arn",
  VisibilityTimeout: "visibilityTimeoutSeconds",
  MessageRetentionPeriod: "messageRetentionSeconds",
  DelaySeconds: "delaySeconds",
  RedrivePolicy: "redrivePolicy",
  RedriveAllowPolicy: "redriveAllowPolicy",
  Policy: "policy",
  KmsMasterKeyId: "kmsMasterKeyId",
  SqsManagedSseEnabled: "sqsManagedSseEnabled",
};

/**
 * What resources of @pulumi/aws make in an account.
 *
 * A queue whose ARN is secret or not known yet cannot be told from others, and is left out with a warning that names it; of any other
 * value that cannot be read nothing is said.
 *
 * @param resources others than those of SQS, SNS and Lambda are passed over
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const leftOut: string[] = [];
  const read = <Value>(wanted: string, reader: (properties: Entry) => Value): Value[] =>
    resources.flatMap(({ type, urn, properties }) => {
      if (type !== wanted) return [];
      try {
        return [reader(properties)];
      } catch (cause) {
        if (!(cause instanceof MalformedValue)) throw cause;
        leftOut.push(nameIn(urn));
        return [];
      }
    });
  const byUrl = attributesByUrl(resources);
  const functions = read<AuditedFunction>(functionType, (properties) => functionOf(functionAnswer(properties)));
  const queues = read<AuditedQueue>(queueType, (properties) => queueOf(attributesOf(properties, byUrl)));
  const subscriptions = read<AuditedSubscription | null>(subscriptionType, (properties) =>
    subscriptionOf(subscriptionAnswer(properties)),
  );
  const mappings = read<LambdaMapping | null>(mappingType, (properties) =>
    mappingOf(mappingAnswer(properties, functions), functions),
  );
  const value = assembleDeployment({
    queues,
    subscriptions: subscriptions.filter((each) => each !== null),
    mappings: mappings.filter((each) => each !== null),
    otherDeadLetterArns: functions.flatMap(({ deadLetterArn }) => deadLetterArn ?? []),
    isWhole: false,
    listedNames: new Set(),
  });
  if (leftOut.length === 0) return { ok: true, value, warnings: [] };
  const warning = diagnostic("RD409", {
    path: "",
    message: `left out, since what says where messages go is secret, malformed or not known yet: ${nameSome(leftOut)}`,
    notes: ["ARNs of queues, topics and functions are no secrets, and come from one by accident"],
    help: "take the value out of the secret that it comes from, and run pulumi up",
  });
  return { ok: true, value, warnings: [warning] };
}

/** Where findings say that each of the queues is; they speak of nothing else. */
export function placesOf(resources: readonly PulumiResource[]): ReadonlyMap<string, readonly string[]> {
  const queues = resources.flatMap(({ type, urn, properties: { arn } }) =>
    type === queueType && isQueueArn(arn) ? [{ urn, arn }] : [],
  );
  const regionOf = regionNamer(queues.map(({ arn }) => arn));
  return new Map(queues.map(({ urn, arn }) => [urn, ["regions", regionOf(arn), "queues", nameInArn(arn)]]));
}

/** By the URL of a queue: what resources of their own say of it. Where there are two the last counts, as at AWS. */
function attributesByUrl(resources: readonly PulumiResource[]): ReadonlyMap<string, QueueAttributes> {
  const byUrl = new Map<string, QueueAttributes>();
  for (const { type, properties } of resources) {
    const wanted = attributeTypes[type];
    const { queueUrl } = properties;
    if (wanted === undefined || typeof queueUrl !== "string") continue;
    byUrl.set(queueUrl, { ...byUrl.get(queueUrl), [wanted.attribute]: told(properties[wanted.property]) });
  }
  return byUrl;
}

function attributesOf(properties: Entry, byUrl: ReadonlyMap<string, QueueAttributes>): QueueAttributes {
  const { url } = properties;
  const inline = Object.entries(queueProperties).map(([attribute, property]) => [
    attribute,
    told(properties[property]),
  ]);
  return { ...Object.fromEntries(inline), ...(typeof url === "string" ? byUrl.get(url) : {}) };
}

/** Keeps what can be read; a secret and a value that is not known yet are not. */
function told(value: unknown): unknown {
  return isUnreadable(value) ? unreadable : value;
}

function subscriptionAnswer({ protocol, endpoint, topic, redrivePolicy, filterPolicy }: Entry): Entry {
  const values = { Protocol: protocol, Endpoint: endpoint, TopicArn: topic };
  return { ...values, RedrivePolicy: told(redrivePolicy), FilterPolicy: told(filterPolicy) };
}

function functionAnswer({ arn, timeout, deadLetterConfig }: Entry): Entry {
  const target = isEntry(deadLetterConfig) ? deadLetterConfig["targetArn"] : undefined;
  // The provider's own default is that of AWS.
  return { FunctionArn: arn, Timeout: told(timeout) ?? 3, DeadLetterConfig: { TargetArn: target } };
}

/** The function is named by its name or its ARN; the provider reads back the ARN. */
function mappingAnswer(properties: Entry, functions: readonly AuditedFunction[]): Entry {
  const { eventSourceArn, functionName, functionArn, batchSize, enabled, functionResponseTypes } = properties;
  const byName = functions.find(({ arn }) => arn === functionName || arn.endsWith(`:function:${String(functionName)}`));
  const filters = told(properties["filterCriteria"]);
  return {
    EventSourceArn: eventSourceArn,
    FunctionArn: typeof functionArn === "string" ? functionArn : (byName?.arn ?? functionName),
    BatchSize: told(batchSize),
    MaximumBatchingWindowInSeconds: told(properties["maximumBatchingWindowInSeconds"]),
    FunctionResponseTypes: told(functionResponseTypes),
    FilterCriteria: isEntry(filters) ? { Filters: filters["filters"] } : filters,
    State: enabled === false ? "Disabled" : "Enabled",
  };
}
