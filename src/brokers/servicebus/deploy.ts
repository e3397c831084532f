// One file of @pulumi/azure-native for each kind of resource: the whole package has thousands of them.
import { DefaultRule } from "@pulumi/azure-native/servicebus/defaultRule.js";
import { Queue } from "@pulumi/azure-native/servicebus/queue.js";
import { Rule } from "@pulumi/azure-native/servicebus/rule.js";
import { Subscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { Topic } from "@pulumi/azure-native/servicebus/topic.js";
import { MetricAlert } from "@pulumi/azure-native/monitor/metricAlert.js";
import * as pulumi from "@pulumi/pulumi";

import { isoDuration } from "./iso-duration.ts";
import { defaultRuleName } from "./names.ts";
import type {
  DeadLetterAlert,
  MessageEntity,
  RuleFilter,
  ServicebusQueue,
  ServicebusSubscription,
  ServicebusTopic,
  ServicebusTopology,
} from "./topology.ts";

/** Where the resources of a topology go. */
export interface ServicebusPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  /** The component that the resources are children of. */
  readonly parent: pulumi.Resource;
  /** The Azure resource id of the namespace, which has to be there. */
  readonly namespaceId: pulumi.Input<string>;
  /** The Azure resource ids of the action groups that every alert tells. */
  readonly actionGroupIds: readonly pulumi.Input<string>[];
}

/** What other resources may refer to. */
export interface ServicebusDeployed {
  /** What each consumer receives from, as clients name it, known as soon as it is there. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;
  /** The name of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;
}

/** The resources made so far, by their names in the namespace. */
interface Made {
  readonly queues: Map<string, Queue>;
  readonly topics: Map<string, Topic>;
  readonly subscriptions: Map<string, Subscription>;
  readonly resourceGroupName: pulumi.Output<string>;
  readonly namespaceName: pulumi.Output<string>;
}

/**
 * Creates the Pulumi resources of a topology, each exactly once and nothing else.
 *
 * A queue that others forward to comes before them, since it is named by its output: Azure refuses a destination that is not there. The
 * subscriptions come last, so no message comes in before the whole way out is there; on the way down they are the first to be taken away.
 *
 * **Deletion.** Queues, topics and subscriptions stay in the namespace when they leave the program, and cannot leave it until somebody takes
 * the protection off. A rule goes when its consumer no longer wants its messages, but it stays where the subscription leaves the program
 * with it. So do the alerts of a queue or a topic.
 *
 * **Replacement.** A new one is made before the old one is deleted. So Azure itself refuses a second entity of the same name with other
 * sessions, before anything is gone. A logical name contains the name in the namespace, so that a renamed resource is a new one beside
 * the old one.
 *
 * @throws Error where the topology refers to something that it does not have, which is a bug in Redeliver
 */
export function deployServicebus(topology: ServicebusTopology, placement: ServicebusPlacement): ServicebusDeployed {
  const made: Made = { queues: new Map(), topics: new Map(), subscriptions: new Map(), ...whereIs(placement) };
  for (const queue of inOrder(topology.queues)) addQueue(made, placement, queue);
  for (const topic of topology.topics) addTopic(made, placement, topic);
  for (const subscription of topology.subscriptions) addSubscription(made, placement, subscription, topology);
  for (const alert of topology.alerts) addAlert(made, placement, alert);
  return {
    workQueues: workQueuesOf(made, topology),
    topics: Object.fromEntries(topology.topics.map(({ source, name }) => [source, find(made.topics, name).name])),
  };
}

/** An id that is known is judged before anything is registered, one that is an output when it comes. */
function whereIs({ namespaceId }: ServicebusPlacement): Pick<Made, "resourceGroupName" | "namespaceName"> {
  const parts = typeof namespaceId === "string" ? partsOf(namespaceId) : pulumi.output(namespaceId).apply(partsOf);
  const { resourceGroupName, namespaceName } = pulumi.output(parts);
  return { resourceGroupName, namespaceName };
}

/** The resource group and the name of the namespace are in its id. */
function partsOf(id: string): { readonly resourceGroupName: string; readonly namespaceName: string } {
  const match = /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.ServiceBus\/namespaces\/([^/]+)$/i.exec(id);
  if (match === null) throw new pulumi.RunError(`${JSON.stringify(id)} is no resource id of a Service Bus namespace`);
  return { resourceGroupName: match[1] ?? "", namespaceName: match[2] ?? "" };
}

/** Each queue after those that it forwards to. The compiler makes no rings. */
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

/** Every property, since Azure fills in those that are left out, and a refresh would show them as differences. */
function propertiesOf(made: Made, entity: MessageEntity) {
  const { forwardTo, forwardDeadLetteredTo } = entity;
  return {
    resourceGroupName: made.resourceGroupName,
    namespaceName: made.namespaceName,
    lockDuration: isoDuration(entity.lockDurationMs),
    maxDeliveryCount: entity.maxDeliveryCount,
    defaultMessageTimeToLive: isoDuration(entity.timeToLiveMs),
    deadLetteringOnMessageExpiration: entity.deadLetterOnExpiration,
    requiresSession: entity.requiresSession,
    autoDeleteOnIdle: isoDuration(null),
    enableBatchedOperations: true,
    status: "Active" as const,
    ...(forwardTo === null ? {} : { forwardTo: find(made.queues, forwardTo).name }),
    ...(forwardDeadLetteredTo === null
      ? {}
      : { forwardDeadLetteredMessagesTo: find(made.queues, forwardDeadLetteredTo).name }),
  };
}

/** What a window is where there is no duplicate detection: Azure's own. */
const unusedWindowMs = 600_000;

function addQueue(made: Made, { name, parent }: ServicebusPlacement, queue: ServicebusQueue): void {
  const resource = new Queue(
    `${name}-${queue.name}`,
    {
      ...propertiesOf(made, queue),
      queueName: queue.name,
      requiresDuplicateDetection: queue.duplicateDetectionMs !== null,
      duplicateDetectionHistoryTimeWindow: isoDuration(queue.duplicateDetectionMs ?? unusedWindowMs),
      enableExpress: false,
      enablePartitioning: false,
    },
    kept(parent),
  );
  made.queues.set(queue.name, resource);
}

function addTopic(made: Made, { name, parent }: ServicebusPlacement, topic: ServicebusTopic): void {
  const resource = new Topic(
    `${name}-${topic.name}`,
    {
      resourceGroupName: made.resourceGroupName,
      namespaceName: made.namespaceName,
      topicName: topic.name,
      defaultMessageTimeToLive: isoDuration(topic.timeToLiveMs),
      requiresDuplicateDetection: topic.duplicateDetectionMs !== null,
      duplicateDetectionHistoryTimeWindow: isoDuration(topic.duplicateDetectionMs ?? unusedWindowMs),
      autoDeleteOnIdle: isoDuration(null),
      enableBatchedOperations: true,
      enableExpress: false,
      enablePartitioning: false,
      supportOrdering: true,
      status: "Active",
    },
    kept(parent),
  );
  made.topics.set(topic.name, resource);
}

/** It waits for every queue of its consumer: the way in comes after the way out. */
function addSubscription(
  made: Made,
  placement: ServicebusPlacement,
  subscription: ServicebusSubscription,
  { queues }: ServicebusTopology,
): void {
  const { name, parent } = placement;
  const topicName = find(made.topics, subscription.topic).name;
  const waysOut = queues.filter(({ consumer }) => consumer === subscription.consumer || consumer === null);
  const logicalName = `${name}-${subscription.topic}/${subscription.name}`;
  const resource = new Subscription(
    logicalName,
    {
      ...propertiesOf(made, subscription),
      topicName,
      subscriptionName: subscription.name,
      deadLetteringOnFilterEvaluationExceptions: subscription.deadLetterOnFilterError,
      isClientAffine: false,
    },
    { ...kept(parent), dependsOn: waysOut.map((queue) => find(made.queues, queue.name)) },
  );
  made.subscriptions.set(`${subscription.topic}/${subscription.name}`, resource);
  const options = goesUnlessWith(parent, resource);
  for (const rule of subscription.rules) {
    const args = {
      resourceGroupName: made.resourceGroupName,
      namespaceName: made.namespaceName,
      topicName,
      subscriptionName: resource.name,
      ...filterProperties(rule.filter),
    };
    const ruleLogicalName = `${logicalName}/${rule.name}`;
    // Azure makes `$Default` with the subscription; only this kind of resource takes it over as it is.
    if (rule.name === defaultRuleName) void new DefaultRule(ruleLogicalName, args, options);
    else void new Rule(ruleLogicalName, { ...args, ruleName: rule.name }, options);
  }
}

function filterProperties(filter: RuleFilter) {
  const sql = (sqlExpression: string) => ({
    filterType: "SqlFilter" as const,
    sqlFilter: { sqlExpression, requiresPreprocessing: false },
  });
  switch (filter.kind) {
    case "true":
      return sql("1=1");
    case "false":
      return sql("1=0");
    case "sql":
      return sql(filter.expression);
    case "correlation":
      return {
        filterType: "CorrelationFilter" as const,
        correlationFilter: { label: filter.subject, requiresPreprocessing: false },
      };
    default:
      return filter satisfies never;
  }
}

function addAlert(
  made: Made,
  { name, parent, namespaceId, actionGroupIds }: ServicebusPlacement,
  alert: DeadLetterAlert,
): void {
  const { entity, metric, threshold, windowMinutes } = alert;
  const watched = made.queues.get(entity) ?? find(made.topics, entity);
  void new MetricAlert(
    `${name}-${alert.name}`,
    {
      resourceGroupName: made.resourceGroupName,
      ruleName: alert.name,
      location: "global",
      description: `More than ${threshold} ${metric === "ActiveMessages" ? "messages" : "dead letters"} in ${entity}`,
      enabled: true,
      severity: 2,
      scopes: [namespaceId],
      evaluationFrequency: "PT1M",
      windowSize: `PT${windowMinutes}M`,
      autoMitigate: true,
      criteria: {
        odataType: "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria",
        allOf: [
          {
            criterionType: "StaticThresholdCriterion",
            name: metric,
            metricNamespace: "Microsoft.ServiceBus/namespaces",
            metricName: metric,
            dimensions: [{ name: "EntityName", operator: "Include", values: [watched.name] }],
            operator: "GreaterThan",
            threshold,
            timeAggregation: "Maximum",
          },
        ],
      },
      actions: actionGroupIds.map((actionGroupId) => ({ actionGroupId })),
    },
    goesUnlessWith(parent, watched),
  );
}

/** The options of what others know and use: it is protected, and it stays in the namespace when it leaves the program. */
function kept(parent: pulumi.Resource): pulumi.CustomResourceOptions {
  return { parent, protect: true, retainOnDelete: true, deleteBeforeReplace: false };
}

/** The options of what goes when it leaves the program, unless the entity leaves it in the same update: that stays in the namespace. */
function goesUnlessWith(parent: pulumi.Resource, entity: pulumi.Resource): pulumi.CustomResourceOptions {
  return { parent, deleteBeforeReplace: false, deletedWith: entity };
}

function workQueuesOf(made: Made, { queues, subscriptions }: ServicebusTopology): ServicebusDeployed["workQueues"] {
  return Object.fromEntries([
    ...queues.flatMap(({ role, consumer, name }) =>
      role === "work" && consumer !== null ? [[consumer, find(made.queues, name).name] as const] : [],
    ),
    // In order a consumer receives from its subscription itself.
    ...subscriptions.flatMap(({ requiresSession, consumer, topic, name }) => {
      const subscription = find(made.subscriptions, `${topic}/${name}`);
      const path = pulumi.interpolate`${find(made.topics, topic).name}/Subscriptions/${subscription.name}`;
      return requiresSession ? [[consumer, path] as const] : [];
    }),
  ]);
}

function find<Resource>(resources: ReadonlyMap<string, Resource>, name: string): Resource {
  const resource = resources.get(name);
  if (resource === undefined) throw new Error(`the topology refers to ${JSON.stringify(name)} before it is made`);
  return resource;
}
