import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import { isUnreadable } from "../../pulumi-resource.ts";
import type { Sku } from "../capabilities.ts";
import { skuNames } from "../capabilities.ts";
import type { AuditedEntity, AuditedNamespace, AuditedRule } from "../deployment.ts";
import { readIsoDuration } from "../iso-duration.ts";
import { subscriptionPath } from "../topology.ts";

/** A resource as Azure names it, whoever told of it. The names of its properties are the same in ARM and in @pulumi/azure-native. */
export interface NamedResource {
  readonly kind: "namespace" | "queue" | "topic" | "subscription" | "rule";
  readonly namespace: string;
  /** Below the namespace, so none for itself: `["orders"]`, `["orders", "billing"]`, `["orders", "billing", "$Default"]`. */
  readonly names: readonly string[];
  readonly properties: Entry;
}

/** What is read of a resource besides its names, and of which type it is. */
export const propertyTypes = {
  lockDuration: "string",
  defaultMessageTimeToLive: "string",
  autoDeleteOnIdle: "string",
  duplicateDetectionHistoryTimeWindow: "string",
  maxDeliveryCount: "number",
  deadLetteringOnMessageExpiration: "boolean",
  requiresSession: "boolean",
  requiresDuplicateDetection: "boolean",
  forwardTo: "string",
  forwardDeadLetteredMessagesTo: "string",
  filterType: "string",
  sqlFilter: "object",
  sku: "object",
} as const;

/** Whether what is read has the form that it has in @pulumi/azure-native 3; a secret, or what is not known yet, may have it. */
export function isWellFormed(properties: Entry): boolean {
  return Object.entries(propertyTypes).every(([key, type]) => {
    const value = properties[key] ?? null;
    return value === null || isUnreadable(value) || (typeof value === type && !Array.isArray(value));
  });
}

/** Puts resources together, namespace by namespace. Of something that is there twice the last counts. */
export function namespacesOf(resources: readonly NamedResource[], isWhole: boolean): readonly AuditedNamespace[] {
  const rules = Map.groupBy(
    resources.filter(({ kind }) => kind === "rule"),
    ({ namespace, names }) => JSON.stringify([namespace, names.slice(0, 2)]),
  );
  return [...Map.groupBy(resources, ({ namespace }) => namespace)].flatMap(([name, own]) => {
    if (own.every(({ kind }) => kind === "namespace")) return [];
    const entities = own.flatMap((each): AuditedEntity[] => {
      if (each.kind !== "queue" && each.kind !== "subscription") return [];
      const ownRules = rules.get(JSON.stringify([name, each.names])) ?? [];
      return [entityOf(each, each.kind, ownRules.map(ruleOf))];
    });
    return {
      name,
      tier: tierOf(own.findLast(({ kind }) => kind === "namespace")),
      entities: [...new Map(entities.map((entity) => [entity.name, entity])).values()],
      topics: [...new Set(own.flatMap(({ kind, names }) => (kind === "topic" ? (names[0] ?? []) : [])))],
      isWhole,
    };
  });
}

function tierOf(namespace: NamedResource | undefined): Sku | null {
  const sku = namespace?.properties["sku"];
  const name = isEntry(sku) && typeof sku["name"] === "string" ? sku["name"].toLowerCase() : "";
  return skuNames.find((each) => each === name) ?? null;
}

/** What Azure takes where nothing is said. Source: ARM reference, `Microsoft.ServiceBus/namespaces/queues`. */
const unsaid = { maxDeliveryCount: 10, deadLetterOnExpiration: false } as const;

function entityOf(
  { names, properties }: NamedResource,
  kind: AuditedEntity["kind"],
  rules: readonly AuditedRule[],
): AuditedEntity {
  const [first = "", second = ""] = names;
  const duration = (key: string, otherwise: string | null): AuditedEntity["lock"] => {
    const value = properties[key] ?? otherwise;
    return typeof value === "string" && !isUnreadable(value) ? (readIsoDuration(value) ?? null) : null;
  };
  const flag = (key: string, otherwise: boolean): boolean | null => {
    const value = properties[key] ?? otherwise;
    return typeof value === "boolean" ? value : null;
  };
  const name = (key: string): string | null => {
    const value = properties[key] ?? "";
    return typeof value === "string" && !isUnreadable(value) && !value.startsWith("[") ? destinationIn(value) : null;
  };
  const deliveries = properties["maxDeliveryCount"] ?? unsaid.maxDeliveryCount;
  return {
    kind,
    name: kind === "queue" ? first : subscriptionPath({ topic: first, name: second }),
    topic: kind === "queue" ? null : first,
    lock: duration("lockDuration", "PT1M"),
    timeToLive: duration("defaultMessageTimeToLive", "P10675199DT2H48M5.4775807S"),
    autoDelete: duration("autoDeleteOnIdle", null),
    duplicateWindow: duration("duplicateDetectionHistoryTimeWindow", "PT10M"),
    maxDeliveryCount: typeof deliveries === "number" ? deliveries : null,
    deadLetterOnExpiration: flag("deadLetteringOnMessageExpiration", unsaid.deadLetterOnExpiration),
    requiresSession: flag("requiresSession", false),
    requiresDuplicateDetection: flag("requiresDuplicateDetection", false),
    forwardTo: name("forwardTo"),
    forwardDeadLetteredTo: name("forwardDeadLetteredMessagesTo"),
    rules,
  };
}

/** A destination is told by its name, or by its URL: `sb://shop.servicebus.windows.net/orders`. */
export function destinationIn(destination: string): string {
  return destination.replace(/^(sb|https?):\/\/[^/]+\//, "");
}

function ruleOf({ names, properties }: NamedResource): AuditedRule {
  const { filterType, sqlFilter } = properties;
  const expression = isEntry(sqlFilter) ? sqlFilter["sqlExpression"] : undefined;
  const isCorrelation = filterType === "CorrelationFilter";
  const isTrue = expression === undefined || (typeof expression === "string" && /^1\s*=\s*1$/.test(expression.trim()));
  return { name: names[2] ?? "", letsInAll: !isCorrelation && isTrue };
}
