import { type Linked, certainOf } from "../../../../foreign/certain.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { type PulumiResource, hasUnknown, unknownText } from "../../../../foreign/pulumi-resource.ts";
import { isQueueArn, nameIn, placeIn } from "../deployment.ts";
import { unreadable } from "./attributes.ts";
import { type Identities, identitiesOf } from "./identities.ts";
import {
  attributeTypes,
  functionType,
  judgedNumbers,
  mappingType,
  queueProperties,
  queueType,
  subscriptionType,
} from "./resource-types.ts";

/**
 * The resources of SQS with only certain findings in a preview.
 *
 * A preview does not know the ARN of a new queue, nor any value that contains it. Redeliver makes up an ARN and uses it
 * in each place that means the queue. If a program makes a value from one queue alone, the value stands for that queue.
 * A receive count in such a value stays unknown.
 */
export function certainResources(resources: readonly PulumiResource[]): readonly PulumiResource[] {
  if (!resources.some(({ properties }) => hasUnknown(properties))) return resources;
  const identities = identitiesOf(resources);
  return certainOf(resources.map((resource) => linkedOf(resource, identities)));
}

function linkedOf(resource: PulumiResource, identities: Identities): Linked {
  const { type } = resource;
  if (Object.hasOwn(linkers, type)) return linkers[type as keyof typeof linkers](resource, identities);
  return Object.hasOwn(attributeTypes, type) ? attributeLinked(resource, identities) : { ...apart, resource };
}

const linkers = {
  [queueType]: queueLinked,
  [subscriptionType]: subscriptionLinked,
  [mappingType]: mappingLinked,
  [functionType]: functionLinked,
};

const apart = { scope: "", places: [], unknown: "nothing" } as const;

function queueLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties, urn } = resource;
  const { arn, url } = identities.of(urn) ?? { arn: properties["arn"], url: properties["url"] };
  const redrive = redriveOf(resource, "redrivePolicy", identities);
  const told = [...queueProperties.values()].map((key) => [key, documentOf(resource, key, identities)] as const);
  const isOpen = hasUnknown(["name", "fifoQueue", ...judgedNumbers].map((key) => properties[key]));
  const filled = { ...properties, ...Object.fromEntries(told), arn, url, redrivePolicy: redrive.value };
  return linked(resource, filled, arn, redrive, isOpen || isAmbiguous(arn, redrive, identities));
}

function attributeLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties, type } = resource;
  const property = queueProperties.get(attributeTypes[type] ?? "") ?? "";
  const queue = identities.byUrl(properties["queueUrl"]) ?? identities.madeOf(resource, "queueUrl");
  if (queue === undefined) {
    // A queue outside of the stack does not concern the stack.
    return hasUnknown(properties["queueUrl"]) ? lost(resource) : { ...apart, resource };
  }
  const redrive = redriveOf(resource, property, identities);
  if (property !== "redrivePolicy") {
    const filled = { ...properties, queueUrl: queue.url, [property]: documentOf(resource, property, identities) };
    return linked(resource, filled, queue.arn, noRedrive, false);
  }
  const filled = { ...properties, queueUrl: queue.url, redrivePolicy: redrive.value };
  return linked(resource, filled, queue.arn, redrive, isAmbiguous(queue.arn, redrive, identities));
}

function subscriptionLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties } = resource;
  const { protocol, topic, endpoint } = properties;
  if (hasUnknown(protocol)) return lost(resource);
  if (protocol !== "sqs") return { ...apart, resource };
  const queueArn = hasUnknown(endpoint) ? identities.madeOf(resource, "endpoint")?.arn : endpoint;
  if (queueArn === undefined) return lost(resource);
  const topicArn = hasUnknown(topic) ? identities.topicOf(resource, "topic") : topic;
  const redrive = redriveOf(resource, "redrivePolicy", identities);
  const filterPolicy = wholeOrNothing(properties["filterPolicy"]);
  const filled = { ...properties, topic: topicArn, endpoint: queueArn, redrivePolicy: redrive.value, filterPolicy };
  const isOpen = topicArn === undefined || isAmbiguous(queueArn, redrive, identities);
  return linked(resource, filled, queueArn, redrive, isOpen);
}

/** A list with an unknown part does not show which elements it lacks. */
function wholeOrNothing(value: unknown): unknown {
  return hasUnknown(value) ? unknownText : value;
}

/** A mapping only adds findings. So a mapping with too many unknown values is skipped. */
function mappingLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties } = resource;
  const { eventSourceArn, functionName, functionArn, enabled } = properties;
  const queueArn = hasUnknown(eventSourceArn) ? identities.madeOf(resource, "eventSourceArn")?.arn : eventSourceArn;
  const called = hasUnknown(functionName) ? identities.functionOf(resource, "functionName") : functionName;
  if (queueArn === undefined || called === undefined || hasUnknown(enabled)) {
    return { ...apart, resource: { ...resource, properties: { ...properties, eventSourceArn: "", functionArn: "" } } };
  }
  const lists = Object.fromEntries(
    ["functionResponseTypes", "filterCriteria"].map((key) => [key, wholeOrNothing(properties[key])]),
  );
  const calls = { functionName: called, functionArn: hasUnknown(functionArn) ? undefined : functionArn };
  const filled = { ...properties, eventSourceArn: queueArn, ...calls, ...lists };
  return linked(resource, filled, queueArn, noRedrive, isAmbiguous(queueArn, noRedrive, identities));
}

function functionLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties, urn } = resource;
  const arn = identities.of(urn)?.arn ?? properties["arn"];
  const { deadLetterConfig } = properties;
  const dead = hasUnknown(deadLetterConfig)
    ? identities.madeOf(resource, "deadLetterConfig")?.arn
    : isEntry(deadLetterConfig)
      ? deadLetterConfig["targetArn"]
      : undefined;
  const isTopic = identities.topicOf(resource, "deadLetterConfig") !== undefined;
  const isLost = hasUnknown(deadLetterConfig) && dead === undefined && !isTopic;
  const filled = { ...properties, arn, deadLetterConfig: { targetArn: dead } };
  return linked(resource, filled, dead, { ...noRedrive, isLost }, isAmbiguous(dead, noRedrive, identities));
}

interface Redrive {
  readonly value: unknown;
  readonly arns: readonly string[];
  readonly isLost: boolean;
}

const noRedrive: Redrive = Object.freeze({ value: undefined, arns: [], isLost: false });

function redriveOf(resource: PulumiResource, property: string, identities: Identities): Redrive {
  const value = resource.properties[property];
  if (!hasUnknown(value)) return { value, arns: arnsIn(value), isLost: false };
  if (identities.isLeftOut(resource, property)) return noRedrive;
  const queue = identities.madeOf(resource, property);
  if (queue === undefined) return { value: undefined, arns: [], isLost: true };
  const policy = { deadLetterTargetArn: queue.arn, maxReceiveCount: unreadable };
  return { value: policy, arns: [queue.arn], isLost: false };
}

function arnsIn(value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return (text.match(/arn:[^"\\\s]+/g) ?? []).filter(isQueueArn);
}

/**
 * A policy document. It is untold if it names ARNs while those of the stack are made up, because none of them would
 * match.
 */
function documentOf(resource: PulumiResource, property: string, identities: Identities): unknown {
  const value = resource.properties[property];
  if (hasUnknown(value)) return identities.isLeftOut(resource, property) ? undefined : unreadable;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const namesPlaces = /arn:|Condition|Not(Action|Resource|Principal)/.test(text);
  return identities.areMadeUp && namesPlaces && property !== "kmsMasterKeyId" ? unreadable : value;
}

/** True if several queues may be meant, or if the queues seem to be in two places. A made-up ARN has no true place. */
function isAmbiguous(own: unknown, { arns }: Redrive, { isMadeUp, namesMadeUp }: Identities): boolean {
  const all = [own, ...arns].filter(isQueueArn);
  const isMixed = all.some(isMadeUp) && new Set(all.map(placeIn)).size > 1;
  return isMixed || all.some((arn) => !isMadeUp(arn) && namesMadeUp.has(nameIn(arn)));
}

function lost(resource: PulumiResource): Linked {
  return { ...apart, resource, unknown: "where it leads" };
}

/** Connects a resource with all queues of the same name, because only names tell queues apart here. */
function linked(
  resource: PulumiResource,
  properties: Entry,
  own: unknown,
  { arns, isLost }: Redrive,
  isOpen: boolean,
): Linked {
  return {
    resource: { ...resource, properties },
    scope: "",
    places: [own, ...arns].filter(isQueueArn).map(nameIn),
    unknown: isLost ? "where it leads" : isOpen ? "a value" : "nothing",
  };
}
