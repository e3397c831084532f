// One file of @pulumi/azure-native for each kind of resource, because the whole package has thousands of them.
import { DefaultRule } from "@pulumi/azure-native/servicebus/defaultRule.js";
import { Queue } from "@pulumi/azure-native/servicebus/queue.js";
import { Rule } from "@pulumi/azure-native/servicebus/rule.js";
import { Subscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { Topic } from "@pulumi/azure-native/servicebus/topic.js";
import { MetricAlert } from "@pulumi/azure-native/monitor/metricAlert.js";
import * as pulumi from "@pulumi/pulumi";

import { find, goesUnlessWith, kept } from "../../../deploy/resource-options.ts";
import { type SkuCapabilities, capabilitiesOf } from "../compile/capabilities.ts";
import { type Field, entityFields } from "../compile/fields.ts";
import { defaultRuleName } from "../compile/names.ts";
import { alertBodyOf, alertCriteria, bodyOf, constantProperties, leftAlone, ruleBodyOf } from "./bodies.ts";
import type {
  DeadLetterAlert,
  ServicebusQueue,
  ServicebusSubscription,
  ServicebusTopic,
  ServicebusTopology,
} from "../compile/topology.ts";

export interface ServicebusPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  readonly parent: pulumi.Resource;
  /** The Azure resource id of the namespace, which must exist. */
  readonly namespaceId: pulumi.Input<string>;
  /** The Azure resource ids of the action groups that every alert notifies. */
  readonly actionGroupIds: readonly pulumi.Input<string>[];
}

/** The resources made so far, by their names in the namespace. */
interface Made extends ServicebusPlacement {
  readonly queues: Map<string, Queue>;
  readonly topics: Map<string, Topic>;
  /** The names of topics that others own. */
  readonly foreignTopics: ReadonlySet<string>;
  readonly subscriptions: Map<string, Subscription>;
  readonly capabilities: SkuCapabilities;
  readonly resourceGroupName: pulumi.Output<string>;
  readonly namespaceName: pulumi.Output<string>;
}

/**
 * Creates the Pulumi resources of a topology, each exactly once and no others.
 *
 * A queue that others forward to comes before them, because they refer to its output. Azure refuses a missing
 * destination. The subscriptions come last, so no message enters before the whole way out exists. In a deletion they
 * are the first to go.
 *
 * **Deletion.** Queues, topics and subscriptions stay in the namespace when they leave the program. They are protected:
 * a user has to remove the protection before they can leave it. A rule is deleted when its consumer no longer wants its
 * messages. It stays if the subscription leaves the program in the same update. The same holds for the alerts of a
 * queue or a topic.
 *
 * **Replacement.** Pulumi creates the new resource before it deletes the old one. So Azure itself refuses a second
 * entity of the same name with other sessions, before anything is gone. A logical name contains the name in the
 * namespace, so that a renamed resource is a new one beside the old one.
 *
 * @throws Error if the topology refers to a resource that it does not have, which is a bug in Redeliver
 */
export function deployServicebus(topology: ServicebusTopology, placement: ServicebusPlacement) {
  const capabilities = capabilitiesOf(topology.target);
  const empty = { queues: new Map(), topics: new Map(), subscriptions: new Map() };
  const foreign = topology.topics.filter(({ owner }) => owner === "other");
  const foreignTopics = new Set(foreign.map(({ name }) => name));
  const made: Made = { ...placement, ...empty, foreignTopics, capabilities, ...whereIs(placement) };
  for (const queue of inOrder(topology.queues)) addQueue(made, queue);
  for (const topic of topology.topics) if (topic.owner !== "other") addTopic(made, topic);
  for (const subscription of topology.subscriptions) addSubscription(made, subscription, topology);
  for (const alert of topology.alerts) addAlert(made, alert);
  return {
    workQueues: workQueuesOf(made, topology),
    topics: Object.fromEntries(topology.topics.map(({ source, name }) => [source, nameOfTopic(made, name)])),
  };
}

/** A known id is checked before any resource is registered; an output is checked when its value arrives. */
function whereIs({ namespaceId }: ServicebusPlacement): Pick<Made, "resourceGroupName" | "namespaceName"> {
  const parts = typeof namespaceId === "string" ? partsOf(namespaceId) : pulumi.output(namespaceId).apply(partsOf);
  const { resourceGroupName, namespaceName } = pulumi.output(parts);
  return { resourceGroupName, namespaceName };
}

/** The id contains the resource group and the name of the namespace. */
function partsOf(id: string): { readonly resourceGroupName: string; readonly namespaceName: string } {
  const match = /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.ServiceBus\/namespaces\/([^/]+)$/i.exec(id);
  if (match === null)
    throw new pulumi.RunError(`${JSON.stringify(id)} is not a resource id of a Service Bus namespace`);
  return { resourceGroupName: match[1] ?? "", namespaceName: match[2] ?? "" };
}

/** Puts each queue after those that it forwards to. The compiler makes no rings. */
function inOrder(queues: readonly ServicebusQueue[]): readonly ServicebusQueue[] {
  const ordered = new Set<ServicebusQueue>();
  const add = (queue: ServicebusQueue): void => {
    for (const name of [queue.forwardTo, queue.forwardDeadLetteredTo]) {
      const next = queues.find((each) => each.name === name);
      if (next !== undefined && !ordered.has(next)) add(next);
    }
    ordered.add(queue);
  };
  for (const queue of queues) add(queue);
  return [...ordered];
}

/**
 * The arguments of an entity, which are its properties in ARM.
 *
 * @param _type its arguments have to include every name in the table
 */
function argsOf<Args>(
  _type: new (name: string, args: Args, options: pulumi.CustomResourceOptions) => unknown,
  fields: readonly (Field & { readonly arm: keyof Args })[],
  entity: object,
  { capabilities, queues, resourceGroupName, namespaceName }: Made,
): Args {
  const body = bodyOf(fields, entity, capabilities, (name) => find(queues, name).name);
  return { ...body, resourceGroupName, namespaceName } as Args;
}

function addQueue(made: Made, queue: ServicebusQueue): void {
  const args = argsOf(Queue, entityFields.queue, queue, made);
  const resource = new Queue(
    `${made.name}-${queue.name}`,
    { ...args, queueName: queue.name, ...constantProperties.queue },
    { ...kept(made.parent), ignoreChanges: leftAlone("queue", made.capabilities) },
  );
  made.queues.set(queue.name, resource);
}

function addTopic(made: Made, topic: ServicebusTopic): void {
  const args = argsOf(Topic, entityFields.topic, topic, made);
  const own = { topicName: topic.name, ...constantProperties.topic };
  const options = { ...kept(made.parent), ignoreChanges: leftAlone("topic", made.capabilities) };
  made.topics.set(topic.name, new Topic(`${made.name}-${topic.name}`, { ...args, ...own }, options));
}

function nameOfTopic({ topics, foreignTopics }: Made, name: string): pulumi.Output<string> {
  return foreignTopics.has(name) ? pulumi.output(name) : find(topics, name).name;
}

/** A subscription waits for every queue of its consumer, because the way out must exist before the way in. */
function addSubscription(made: Made, subscription: ServicebusSubscription, { queues }: ServicebusTopology): void {
  const { name, parent, resourceGroupName, namespaceName } = made;
  const topicName = nameOfTopic(made, subscription.topic);
  const waysOut = queues.filter(({ consumer }) => consumer === subscription.consumer || consumer === null);
  const logicalName = `${name}-${subscription.topic}/${subscription.name}`;
  const resource = new Subscription(
    logicalName,
    {
      ...argsOf(Subscription, entityFields.subscription, subscription, made),
      topicName,
      subscriptionName: subscription.name,
      ...constantProperties.subscription,
    },
    {
      ...kept(parent),
      ignoreChanges: leftAlone("subscription", made.capabilities),
      dependsOn: waysOut.map((queue) => find(made.queues, queue.name)),
    },
  );
  made.subscriptions.set(`${subscription.topic}/${subscription.name}`, resource);
  const options = goesUnlessWith(parent, resource);
  for (const rule of subscription.rules) {
    const args = {
      resourceGroupName,
      namespaceName,
      topicName,
      subscriptionName: resource.name,
      ...ruleBodyOf(rule.filter),
    };
    const ruleLogicalName = `${logicalName}/${rule.name}`;
    // Azure creates `$Default` with the subscription. Only this kind of resource takes it over as it is.
    if (rule.name === defaultRuleName) void new DefaultRule(ruleLogicalName, args, options);
    else void new Rule(ruleLogicalName, { ...args, ruleName: rule.name }, options);
  }
}

function addAlert(made: Made, alert: DeadLetterAlert): void {
  const { name, parent, namespaceId, actionGroupIds } = made;
  const { entity } = alert;
  const isForeign = made.foreignTopics.has(entity);
  const [, subscription] = [...made.subscriptions].find(([path]) => path.startsWith(`${entity}/`)) ?? [];
  // The alert on the topic of another owner goes with a subscription of the system.
  const watched = (isForeign ? subscription : made.queues.get(entity)) ?? find(made.topics, entity);
  const { allOf, ...body } = alertBodyOf(alert, isForeign ? entity : watched.name);
  void new MetricAlert(
    `${name}-${alert.name}`,
    {
      ...body,
      resourceGroupName: made.resourceGroupName,
      ruleName: alert.name,
      location: "global",
      scopes: [namespaceId],
      criteria: { odataType: alertCriteria, allOf },
      actions: actionGroupIds.map((actionGroupId) => ({ actionGroupId })),
    },
    goesUnlessWith(parent, watched),
  );
}

/** The entity that each consumer receives from, under the name that clients use. */
function workQueuesOf(made: Made, { queues, subscriptions }: ServicebusTopology) {
  return Object.fromEntries([
    ...queues.flatMap(({ role, consumer, name }) =>
      role === "work" && consumer !== null ? [[consumer, find(made.queues, name).name] as const] : [],
    ),
    // With order, a consumer receives from its subscription itself.
    ...subscriptions.flatMap(({ requiresSession, consumer, topic, name }) => {
      const subscription = find(made.subscriptions, `${topic}/${name}`);
      const path = pulumi.interpolate`${nameOfTopic(made, topic)}/Subscriptions/${subscription.name}`;
      return requiresSession ? [[consumer, path] as const] : [];
    }),
  ]);
}
