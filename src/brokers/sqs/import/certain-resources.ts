import type { Linked } from "../../certain.ts";
import { certainOf } from "../../certain.ts";
import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { hasUnknown, unknownText } from "../../pulumi-resource.ts";
import { isQueueArn, nameIn, placeIn } from "../deployment.ts";
import { unreadable } from "./attributes.ts";
import type { Identities } from "./identities.ts";
import { identitiesOf } from "./identities.ts";
import { attributeTypes, functionType, mappingType, queueType, subscriptionType } from "./resource-types.ts";

/**
 * The resources of SQS about which everything that is found is certain in a preview.
 *
 * No ARN is known of a queue that is to be created, nor what it is a part of. What stands in its place is made up, the same wherever the
 * queue is meant: a value that the program makes of one queue, and of nothing else, names that queue. A receive count in it is not known.
 */
export function certainResources(resources: readonly PulumiResource[]): readonly PulumiResource[] {
  if (!resources.some(({ properties }) => hasUnknown(properties))) return resources;
  const identities = identitiesOf(resources);
  return certainOf(resources.map((resource) => linkedOf(resource, identities)));
}

function linkedOf(resource: PulumiResource, identities: Identities): Linked {
  switch (resource.type) {
    case queueType:
      return queueLinked(resource, identities);
    case subscriptionType:
      return subscriptionLinked(resource, identities);
    case mappingType:
      return mappingLinked(resource, identities);
    case functionType:
      return functionLinked(resource, identities);
    default:
      return Object.hasOwn(attributeTypes, resource.type)
        ? attributeLinked(resource, identities)
        : { ...apart, resource };
  }
}

const apart = { scope: "", places: [], unknown: "nothing" } as const;

/** The numbers of a queue that decide what is found about it. */
const numbers = ["visibilityTimeoutSeconds", "messageRetentionSeconds", "delaySeconds"] as const;

function queueLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties, urn } = resource;
  const { arn, url } = identities.of(urn) ?? { arn: properties["arn"], url: properties["url"] };
  const redrive = redriveOf(resource, "redrivePolicy", identities);
  const documents = Object.fromEntries(
    ["policy", "redriveAllowPolicy", "kmsMasterKeyId", "sqsManagedSseEnabled"].map((key) => [
      key,
      documentOf(resource, key, identities),
    ]),
  );
  const isOpen = hasUnknown([properties["name"], properties["fifoQueue"], ...numbers.map((key) => properties[key])]);
  const filled = { ...properties, ...documents, arn, url, redrivePolicy: redrive.value };
  return linked(
    resource,
    filled,
    [arn, ...redrive.arns],
    isOpen || isAmbiguous(arn, redrive, identities),
    redrive.isLost,
  );
}

function attributeLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties, type } = resource;
  const { property = "" } = attributeTypes[type] ?? {};
  const queue = identities.byUrl(properties["queueUrl"]) ?? identities.madeOf(resource, "queueUrl");
  if (queue === undefined) {
    // A queue that is not in the stack is no business of the stack's.
    return hasUnknown(properties["queueUrl"]) ? lost(resource) : { ...apart, resource };
  }
  const redrive = redriveOf(resource, property, identities);
  if (property !== "redrivePolicy") {
    const filled = { ...properties, queueUrl: queue.url, [property]: documentOf(resource, property, identities) };
    return linked(resource, filled, [queue.arn], false, false);
  }
  const filled = { ...properties, queueUrl: queue.url, redrivePolicy: redrive.value };
  const isOpen = isAmbiguous(queue.arn, redrive, identities);
  return linked(resource, filled, [queue.arn, ...redrive.arns], isOpen, redrive.isLost);
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
  return linked(resource, filled, [queueArn, ...redrive.arns], isOpen, redrive.isLost);
}

/** A list of which a part is not known says nothing of what is not in it. */
function wholeOrNothing(value: unknown): unknown {
  return hasUnknown(value) ? unknownText : value;
}

/** A mapping takes nothing away from what is found without it, so one of which too little is known is passed over. */
function mappingLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties } = resource;
  const { eventSourceArn, functionName, functionArn, enabled } = properties;
  const queueArn = hasUnknown(eventSourceArn) ? identities.madeOf(resource, "eventSourceArn")?.arn : eventSourceArn;
  const called = hasUnknown(functionName) ? identities.functionOf(resource, "functionName") : functionName;
  if (queueArn === undefined || called === undefined || hasUnknown(enabled)) {
    return { ...apart, resource: { ...resource, properties: { ...properties, eventSourceArn: "", functionArn: "" } } };
  }
  const known = hasUnknown(functionArn) ? {} : { functionArn };
  const lists = Object.fromEntries(
    ["functionResponseTypes", "filterCriteria"].map((key) => [key, wholeOrNothing(properties[key])]),
  );
  const filled = {
    ...properties,
    eventSourceArn: queueArn,
    functionName: called,
    functionArn: undefined,
    ...known,
    ...lists,
  };
  return linked(resource, filled, [queueArn], isAmbiguous(queueArn, noRedrive, identities), false);
}

function functionLinked(resource: PulumiResource, identities: Identities): Linked {
  const { properties, urn } = resource;
  const arn = identities.of(urn)?.arn ?? properties["arn"];
  const { deadLetterConfig } = properties;
  const dead = hasUnknown(deadLetterConfig)
    ? identities.madeOf(resource, "deadLetterConfig")?.arn
    : targetIn(deadLetterConfig);
  const isTopic = identities.topicOf(resource, "deadLetterConfig") !== undefined;
  const isLost = hasUnknown(deadLetterConfig) && dead === undefined && !isTopic;
  const filled = { ...properties, arn, deadLetterConfig: { targetArn: dead } };
  return linked(resource, filled, [dead], isAmbiguous(dead, noRedrive, identities), isLost);
}

function targetIn(config: unknown): unknown {
  return isEntry(config) ? config["targetArn"] : undefined;
}

/** A redrive policy as far as it is known. */
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

/** Who may do what; not told where it names ARNs and those of the stack are made up, since none of them would be met. */
function documentOf(resource: PulumiResource, property: string, identities: Identities): unknown {
  const value = resource.properties[property];
  if (hasUnknown(value)) return identities.isLeftOut(resource, property) ? undefined : unreadable;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const namesPlaces = /arn:|Condition|Not(Action|Resource|Principal)/.test(text);
  return identities.areMadeUp && namesPlaces && property !== "kmsMasterKeyId" ? unreadable : value;
}

/** Whether it is open which queue is meant, or whether two queues are in one place: a made-up ARN has no place. */
function isAmbiguous(own: unknown, { arns }: Redrive, { isMadeUp, namesMadeUp }: Identities): boolean {
  const all = [own, ...arns].filter(isQueueArn);
  const isMixed = all.some(isMadeUp) && new Set(all.map(placeIn)).size > 1;
  return isMixed || all.some((arn) => !isMadeUp(arn) && namesMadeUp.has(nameIn(arn)));
}

function lost(resource: PulumiResource): Linked {
  return { ...apart, resource, unknown: "where it leads" };
}

/** Queues are told apart by their names alone, so that one is connected with whatever may mean it. */
function linked(
  resource: PulumiResource,
  properties: Entry,
  arns: readonly unknown[],
  isOpen: boolean,
  isLost: boolean,
): Linked {
  return {
    resource: { ...resource, properties },
    scope: "",
    places: arns.filter(isQueueArn).map(nameIn),
    unknown: isLost ? "where it leads" : isOpen ? "a value" : "nothing",
  };
}
