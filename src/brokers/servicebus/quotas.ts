import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ServicebusTarget } from "./capabilities.ts";
import { servicebusLimits, skus } from "./capabilities.ts";
import type { ServicebusSubscription, ServicebusTopology } from "./topology.ts";

const page = 'Service Bus documentation, "Service Bus quotas"';

/** How much there is in a namespace and at a topic. Azure would refuse what is beyond in the middle of a deployment. */
export function diagnoseQuotas(topology: ServicebusTopology, { sku }: ServicebusTarget): Diagnostic[] {
  const { queues, topics, subscriptions } = topology;
  return [
    ...entityProblem(queues.length, topics.length, sku),
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
  const made = `there would be ${written(count)} queues and topics`;
  if (count > entities) {
    return [
      diagnostic("RD719", {
        path: "consumers",
        message: `${made}; a namespace of the ${sku} tier has ${written(entities)} at most`,
        notes: [page],
        help: "divide the consumers among two systems, each in a namespace of its own",
      }),
    ];
  }
  if (entitiesPerUnit === null || count <= entitiesPerUnit) return [];
  const units = Math.ceil(count / entitiesPerUnit);
  return [
    diagnostic("RD720", {
      path: "consumers",
      message: `${made}; a namespace of the ${sku} tier has ${written(entitiesPerUnit)} for each of its messaging units`,
      notes: [page],
      help: `deploy to a namespace with ${units} messaging units or more`,
    }),
  ];
}

function topicProblems(topic: string, source: string, subscriptions: readonly ServicebusSubscription[]): Diagnostic[] {
  const { subscriptions: most, sqlFilters, correlationFilters } = servicebusLimits;
  const beyond = (code: "RD721" | "RD722", what: string, count: number, limit: number, help: string): Diagnostic[] => {
    if (count <= limit) return [];
    const message = `the topic ${topic} would have ${written(count)} ${what}; ${written(limit)} are allowed`;
    return [diagnostic(code, { path: ["sources", source], message, notes: [page], help })];
  };
  const sql = filtersIn(subscriptions, "sql");
  const correlation = filtersIn(subscriptions, "correlation");
  return [
    ...beyond("RD721", "subscriptions", subscriptions.length, most, "divide what is published there among two sources"),
    ...beyond("RD722", "SQL filters", sql, sqlFilters, "list routing keys in the place of patterns where they are few"),
    ...beyond("RD722", "correlation filters", correlation, correlationFilters, "take patterns in the place of keys"),
  ];
}

/** `$Default` is not counted: every subscription has one, and a topic may have as many subscriptions as SQL filters. */
function filtersIn(subscriptions: readonly ServicebusSubscription[], kind: "sql" | "correlation"): number {
  return subscriptions.reduce((sum, { rules }) => sum + rules.filter(({ filter }) => filter.kind === kind).length, 0);
}

function written(count: number): string {
  return count.toLocaleString("en");
}
