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
import { Properties } from "../apply-resources.ts";
import type { RegisteredResource } from "../pulumi.ts";

/** Resources that are not created, by their type. Every other resource must be created, or the test fails. */
const leftOutBecause: Readonly<Record<string, string>> = {
  "azure-native:monitor:MetricAlert": "the emulator has no Azure Monitor",
};

/**
 * Creates registered resources in the namespace of an emulator as Pulumi's Azure provider would, one after the other in
 * the order of registration. It updates existing ones to the program's settings. It is strict, so that a test cannot
 * pass by leaving a property out.
 *
 * @returns the resources that were not created, and the reason: `<type> <logical name>: <reason>`
 * @throws Error if a type or a property is unknown, or a value has another kind than the provider takes. Also if a
 *   resource comes before one that it depends on, or is for another namespace than the first
 */
export async function applyToEmulator(
  administration: ServiceBusAdministrationClient,
  resources: readonly RegisteredResource[],
  sku: Sku = "standard",
): Promise<readonly string[]> {
  const applied = new Set<string>();
  const namespaces = new Set<string>();
  const leftOut: string[] = [];
  for (const resource of resources) {
    const { type, name, urn, dependencies } = resource;
    const missing = dependencies.find((each) => !applied.has(each));
    if (missing !== undefined) throw new Error(`${name} is registered before ${missing}, which it depends on`);
    const reason = leftOutBecause[type];
    if (reason === undefined) await apply(administration, resource, namespaces, sku);
    else leftOut.push(`${type} ${name}: ${reason}`);
    if (namespaces.size > 1) throw new Error(`${name} is in another namespace: ${[...namespaces].join(", ")}`);
    applied.add(urn);
  }
  return leftOut;
}

async function apply(
  administration: ServiceBusAdministrationClient,
  { type, name, inputs }: RegisteredResource,
  namespaces: Set<string>,
  sku: Sku,
): Promise<void> {
  const properties = new Properties(`${name} (${type})`, inputs);
  if (type.startsWith("azure-native:")) {
    namespaces.add(`${properties.text("resourceGroupName")}/${properties.text("namespaceName")}`);
  }
  switch (type) {
    case "pulumi:pulumi:Stack":
      break;
    case "pulumi:providers:azure-native":
      properties.take("subscriptionId", "string");
      // The SDK's own: Azure's public cloud.
      properties.take("environment", "string");
      break;
    case "redeliver:servicebus:RetryTopology":
      properties.take("declaration", "object");
      properties.optionalText("owner");
      properties.take("target", "object");
      break;
    case "azure-native:servicebus:Queue":
      await applyQueue(administration, properties, sku);
      break;
    case "azure-native:servicebus:Topic":
      await applyTopic(administration, properties);
      break;
    case "azure-native:servicebus:Subscription":
      await applySubscription(administration, properties);
      break;
    case "azure-native:servicebus:Rule":
      await applyRule(administration, properties, properties.text("ruleName"));
      break;
    case "azure-native:servicebus:DefaultRule":
      await applyRule(administration, properties, "$Default");
      break;
    default:
      throw new Error(`${name} is of the type ${type}, which nobody has taught this test to apply`);
  }
  properties.end();
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

function takeForwards(properties: Properties): { forwardTo?: string; forwardDeadLetteredMessagesTo?: string } {
  const [to, dead] = ["forwardTo", "forwardDeadLetteredMessagesTo"].map((name) => properties.optionalText(name));
  return {
    ...(to === undefined ? {} : { forwardTo: to }),
    ...(dead === undefined ? {} : { forwardDeadLetteredMessagesTo: dead }),
  };
}

async function applyQueue(
  administration: ServiceBusAdministrationClient,
  properties: Properties,
  sku: Sku,
): Promise<void> {
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

async function applySubscription(
  administration: ServiceBusAdministrationClient,
  properties: Properties,
): Promise<void> {
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

async function applyRule(
  administration: ServiceBusAdministrationClient,
  properties: Properties,
  name: string,
): Promise<void> {
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
