import type {
  CreateQueueOptions,
  CreateSubscriptionOptions,
  CreateTopicOptions,
  QueueProperties,
  ServiceBusAdministrationClient,
  SqlRuleFilter,
  SubscriptionProperties,
  TopicProperties,
} from "@azure/service-bus";

import type { Sku } from "../../../src/brokers/servicebus/compile/capabilities.ts";
import { applyInOrder, type Make, type Properties } from "../apply-resources.ts";
import type { RegisteredResource } from "../pulumi.ts";

/** Resources that are not created, by their type. Every other resource must be created, or the test fails. */
const leftOutBecause: Readonly<Record<string, string>> = {
  "azure-native:monitor:MetricAlert": "the emulator has no Azure Monitor",
};

/**
 * Creates registered resources in the namespace of an emulator as Pulumi's Azure provider would. It updates existing
 * ones to the program's settings.
 *
 * @returns the resources that were not created, and the reason
 * @throws Error if a resource is for another namespace than the first, and as `applyInOrder`
 */
export async function applyToEmulator(
  administration: ServiceBusAdministrationClient,
  resources: readonly RegisteredResource[],
  sku: Sku = "standard",
): Promise<readonly string[]> {
  const namespaces = new Set<string>();
  const inNamespace =
    (make: Make): Make =>
    async (properties) => {
      namespaces.add(`${properties.text("resourceGroupName")}/${properties.text("namespaceName")}`);
      if (namespaces.size > 1) throw new Error(`a resource is in another namespace: ${[...namespaces].join(", ")}`);
      await make(properties);
    };
  const makes: Readonly<Record<string, Make>> = {
    Queue: (properties) => applyQueue(administration, properties, sku),
    Topic: (properties) => applyTopic(administration, properties),
    Subscription: (properties) => applySubscription(administration, properties),
    Rule: (properties) => applyRule(administration, properties, properties.text("ruleName")),
    DefaultRule: (properties) => applyRule(administration, properties, "$Default"),
  };
  const ofServicebus = Object.entries(makes).map(([type, make]) => [
    `azure-native:servicebus:${type}`,
    inNamespace(make),
  ]);
  return applyInOrder(
    resources,
    { "pulumi:providers:azure-native": takeProvider, ...(Object.fromEntries(ofServicebus) as typeof makes) },
    leftOutBecause,
  );
}

function takeProvider(properties: Properties): void {
  properties.take("subscriptionId", "string");
  // The SDK's own: Azure's public cloud.
  properties.take("environment", "string");
}

type Kind = "string" | "boolean" | "number";

/** Settings with the same name in the management API and in Azure Resource Manager, each with the kind of its value. */
const receivable = {
  lockDuration: "string",
  maxDeliveryCount: "number",
  defaultMessageTimeToLive: "string",
  deadLetteringOnMessageExpiration: "boolean",
  requiresSession: "boolean",
  autoDeleteOnIdle: "string",
  enableBatchedOperations: "boolean",
  status: "string",
} as const;
const detection = {
  requiresDuplicateDetection: "boolean",
  duplicateDetectionHistoryTimeWindow: "string",
  enableExpress: "boolean",
  enablePartitioning: "boolean",
} as const;

/** Settings that a namespace of the basic tier refuses or ignores. */
const notOnBasic: ReadonlySet<string> = new Set(["autoDeleteOnIdle", "duplicateDetectionHistoryTimeWindow"]);

/** The program must set each property that the tier takes, because Azure would fill in a value of its own. */
function takeAll(properties: Properties, sku: Sku, kinds: Readonly<Record<string, Kind>>): Record<string, unknown> {
  const taken = Object.entries(kinds).filter(([name]) => sku !== "basic" || !notOnBasic.has(name));
  return Object.fromEntries(taken.map(([name, kind]) => [name, properties.take(name, kind)]));
}

/** One that the program leaves out is undefined: an update ends it. */
function takeForwards(properties: Properties): Pick<QueueProperties, "forwardTo" | "forwardDeadLetteredMessagesTo"> {
  const [forwardTo, forwardDeadLetteredMessagesTo] = ["forwardTo", "forwardDeadLetteredMessagesTo"].map((name) =>
    properties.optionalText(name),
  );
  return { forwardTo, forwardDeadLetteredMessagesTo } as object;
}

async function applyQueue(administration: ServiceBusAdministrationClient, properties: Properties, sku: Sku) {
  const name = properties.text("queueName");
  const settings = { ...takeAll(properties, sku, { ...receivable, ...detection }), ...takeForwards(properties) };
  if (await administration.queueExists(name)) {
    const before = await administration.getQueue(name);
    await administration.updateQueue({ ...before, ...(settings as unknown as QueueProperties), name });
  } else await administration.createQueue(name, settings as CreateQueueOptions);
}

async function applyTopic(administration: ServiceBusAdministrationClient, properties: Properties): Promise<void> {
  const name = properties.text("topicName");
  const settings = takeAll(properties, "standard", {
    ...detection,
    defaultMessageTimeToLive: "string",
    autoDeleteOnIdle: "string",
    enableBatchedOperations: "boolean",
    supportOrdering: "boolean",
    status: "string",
  });
  if (await administration.topicExists(name)) {
    const before = await administration.getTopic(name);
    await administration.updateTopic({ ...before, ...(settings as unknown as TopicProperties), name });
  } else await administration.createTopic(name, settings as CreateTopicOptions);
}

async function applySubscription(administration: ServiceBusAdministrationClient, properties: Properties) {
  const [topicName, subscriptionName] = [properties.text("topicName"), properties.text("subscriptionName")];
  // The API for JMS. The management API does not know it, and the emulator does not have it.
  if (properties.take("isClientAffine", "boolean") === true) throw new Error(`${subscriptionName} is for JMS`);
  const own = { deadLetteringOnFilterEvaluationExceptions: "boolean" } as const;
  const settings = { ...takeAll(properties, "standard", { ...receivable, ...own }), ...takeForwards(properties) };
  if (await administration.subscriptionExists(topicName, subscriptionName)) {
    const before = await administration.getSubscription(topicName, subscriptionName);
    const names = { topicName, subscriptionName };
    await administration.updateSubscription({
      ...before,
      ...(settings as unknown as SubscriptionProperties),
      ...names,
    });
  } else {
    // Azure creates `$Default` along with it, as the emulator does.
    await administration.createSubscription(topicName, subscriptionName, settings as CreateSubscriptionOptions);
  }
}

async function applyRule(administration: ServiceBusAdministrationClient, properties: Properties, name: string) {
  const [topicName, subscriptionName] = [properties.text("topicName"), properties.text("subscriptionName")];
  const filter = takeFilter(properties);
  if (await administration.ruleExists(topicName, subscriptionName, name)) {
    const before = await administration.getRule(topicName, subscriptionName, name);
    await administration.updateRule(topicName, subscriptionName, { ...before, filter });
  } else await administration.createRule(topicName, subscriptionName, name, filter);
}

function takeFilter(properties: Properties): SqlRuleFilter | { subject: string } {
  const filterType = properties.text("filterType");
  const isSql = filterType === "SqlFilter";
  if (!isSql && filterType !== "CorrelationFilter") throw new Error(`there is no filter type ${filterType}`);
  const filter = properties.nested(isSql ? "sqlFilter" : "correlationFilter");
  const [expression, subject] = [filter.optionalText("sqlExpression"), filter.optionalText("label")];
  if (filter.take("requiresPreprocessing", "boolean") === true) throw new Error("a filter that is preprocessed");
  filter.end();
  if (isSql && expression !== undefined && subject === undefined) return { sqlExpression: expression };
  if (!isSql && expression === undefined && subject !== undefined) return { subject };
  throw new Error(`the filter is no ${filterType}`);
}
