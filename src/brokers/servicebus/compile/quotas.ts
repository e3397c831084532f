import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Quota, beyond } from "../../../contract/quota.ts";
import { type ServicebusTarget, servicebusLimits, skus } from "./capabilities.ts";
import type { ServicebusSubscription, ServicebusTopology } from "./topology.ts";

const page = 'Service Bus documentation, "Service Bus quotas"';

/**
 * Counts the entities of a namespace and of each topic. Azure would refuse the excess in the middle of a deployment.
 */
export function diagnoseQuotas(topology: ServicebusTopology, { sku }: ServicebusTarget): Diagnostic[] {
  const { queues, topics, subscriptions } = topology;
  return [
    ...entityProblem(queues.length, topics.filter(({ owner }) => owner !== "other").length, sku),
    ...topics.flatMap(({ name, source }) =>
      topicProblems(
        name,
        source,
        subscriptions.filter(({ topic }) => topic === name),
      ),
    ),
  ];
}

function entityProblem(queues: number, topics: number, sku: ServicebusTarget["sku"]): Diagnostic[] {
  const { entities, entitiesPerUnit } = skus[sku];
  const count = queues + topics;
  const namespace = { what: "queues and topics", source: page };
  const help = "divide the consumers among two systems, each in its own namespace";
  const report = (quota: Quota): Diagnostic[] =>
    beyond(quota, count, ["consumers"], `the namespace of the ${sku} tier would have`);
  if (count > entities) return report({ ...namespace, code: "RD219", most: entities, help });
  if (entitiesPerUnit === null) return [];
  return report({
    ...namespace,
    code: "RD220",
    most: entitiesPerUnit,
    unless: "for each of its messaging units",
    help: `deploy to a namespace with ${Math.ceil(count / entitiesPerUnit)} messaging units or more`,
  });
}

function topicProblems(topic: string, source: string, subscriptions: readonly ServicebusSubscription[]): Diagnostic[] {
  const { subscriptions: most, sqlFilters, correlationFilters } = servicebusLimits;
  const report = (what: string, count: number, limit: number, help: string): Diagnostic[] =>
    beyond(
      { code: "RD219", what, most: limit, source: page, help },
      count,
      ["sources", source],
      `the topic ${topic} would have`,
    );
  const sql = filtersIn(subscriptions, "sql");
  const correlation = filtersIn(subscriptions, "correlation");
  return [
    ...report("subscriptions", subscriptions.length, most, "divide its messages between two sources"),
    ...report("SQL filters", sql, sqlFilters, "list routing keys instead of patterns that match few"),
    ...report("correlation filters", correlation, correlationFilters, "take patterns instead of keys"),
  ];
}

/** `$Default` does not count. Every subscription has one, and a topic may have as many subscriptions as SQL filters. */
function filtersIn(subscriptions: readonly ServicebusSubscription[], kind: "sql" | "correlation"): number {
  return subscriptions.reduce((sum, { rules }) => sum + rules.filter(({ filter }) => filter.kind === kind).length, 0);
}
