import type { RegisteredResource } from "../pulumi.ts";
import type { Backend } from "./engine-model.ts";

/** The resources that would be at AWS or in a namespace of Azure. */
export interface Inventory extends Backend {
  /** The deleted resources, in order. */
  readonly removed: readonly RegisteredResource[];
}

/**
 * The inputs that name a resource, and those that Azure never changes. Azure refuses a second request with another
 * value.
 */
const identities: Readonly<Record<string, readonly string[]>> = {
  "aws:sqs/queue:Queue": ["name", "region"],
  "aws:sqs/queuePolicy:QueuePolicy": ["queueUrl"],
  "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy": ["queueUrl"],
  "aws:sns/topic:Topic": ["name", "region"],
  "aws:sns/topicSubscription:TopicSubscription": ["topic", "endpoint"],
  "aws:cloudwatch/metricAlarm:MetricAlarm": ["name", "region"],
  "aws:lambda/eventSourceMapping:EventSourceMapping": ["eventSourceArn", "functionName"],
  "azure-native:servicebus:Queue": ["queueName"],
  "azure-native:servicebus:Topic": ["topicName"],
  "azure-native:servicebus:Subscription": ["topicName", "subscriptionName"],
  "azure-native:servicebus:Rule": ["topicName", "subscriptionName", "ruleName"],
  "azure-native:servicebus:DefaultRule": ["topicName", "subscriptionName"],
  "azure-native:monitor:MetricAlert": ["ruleName"],
};
const immutable = ["requiresSession", "requiresDuplicateDetection"];

export function cloudInventory(): Inventory {
  const things = new Map<string, RegisteredResource>();
  const removed: RegisteredResource[] = [];
  const put = (resource: RegisteredResource): void => {
    const key = keyOf(resource);
    const old = things.get(key);
    const differs = immutable.find((name) => old !== undefined && old.inputs[name] !== resource.inputs[name]);
    if (differs !== undefined) throw new Error(`400 ${differs} cannot be changed`);
    things.set(key, resource);
  };
  return {
    removed,
    create: put,
    update: (_, now) => put(now),
    remove: (resource) => {
      things.delete(keyOf(resource));
      removed.push(resource);
    },
  };
}

function keyOf({ type, inputs }: RegisteredResource): string {
  const identity = identities[type];
  if (identity === undefined) throw new Error(`nobody has said what names a ${type}`);
  return JSON.stringify([type, ...identity.map((name) => inputs[name])]);
}
