import type { SkuCapabilities } from "../compile/capabilities.ts";
import { type Field, propertiesOf, sqlOf } from "../compile/fields.ts";
import { isoDuration } from "../compile/iso-duration.ts";
import type { DeadLetterAlert, RuleFilter } from "../compile/topology.ts";

/** The properties of each kind of entity that no topology decides. */
export const constantProperties = {
  queue: { enableExpress: false, enablePartitioning: false },
  topic: { enableExpress: false, enablePartitioning: false, supportOrdering: true },
  subscription: { isClientAffine: false },
} as const;

/**
 * The properties of an entity by ARM's names: those in its table, and those that the topology leaves alone. Azure fills
 * in a property that is left out, and a refresh would show it as a difference. A tier refuses a property that it does
 * not have.
 *
 * @param nameOf writes the name of another queue
 */
export function bodyOf(
  fields: readonly Field[],
  entity: object,
  capabilities: SkuCapabilities,
  nameOf: (queue: string) => unknown,
): Readonly<Record<string, unknown>> {
  const taken = fields.filter(
    ({ arm }) => arm !== "duplicateDetectionHistoryTimeWindow" || capabilities.duplicateDetection,
  );
  const properties = propertiesOf(taken, entity, (name) => (name === null ? undefined : nameOf(name)));
  return {
    ...Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)),
    ...(capabilities.autoDelete ? { autoDeleteOnIdle: isoDuration(null) } : {}),
    enableBatchedOperations: true,
    status: "Active",
  };
}

/**
 * The properties of an entity that an update leaves as they are: its owner may set them by hand. Azure answers with
 * them, so an import makes them inputs, and so does a refresh if they change. Without this, the next update takes them
 * away. A property that the tier refuses is not among them, because each update would send it back. Source:
 * azure-native, `responseToSdkInputs.go` and `diff.go`; azure-rest-api-specs, `SBQueueGet.json` and its siblings.
 */
export function leftAlone(kind: keyof typeof constantProperties, { messageSize }: SkuCapabilities): string[] {
  if (kind === "subscription") return ["userMetadata"];
  return ["userMetadata", "maxSizeInMegabytes", ...(messageSize ? ["maxMessageSizeInKilobytes"] : [])];
}

/** The kind of an alert's criteria. */
export const alertCriteria = "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria";

/** The properties of a rule by ARM's names. */
export function ruleBodyOf(filter: RuleFilter) {
  const requiresPreprocessing = false;
  if (filter.kind !== "correlation")
    return { filterType: "SqlFilter" as const, sqlFilter: { sqlExpression: sqlOf(filter), requiresPreprocessing } };
  const correlationFilter = { label: filter.subject, requiresPreprocessing };
  return { filterType: "CorrelationFilter" as const, correlationFilter };
}

/**
 * The properties of an alert by ARM's names, without the kind of its criteria.
 *
 * @param name the watched entity
 */
export function alertBodyOf<Name>({ entity, metric, threshold, windowMinutes }: DeadLetterAlert, name: Name) {
  return {
    description: `More than ${threshold} ${metric === "ActiveMessages" ? "messages" : "dead letters"} in ${entity}`,
    enabled: true,
    severity: 2,
    evaluationFrequency: "PT1M",
    windowSize: `PT${windowMinutes}M`,
    autoMitigate: true,
    allOf: [
      {
        criterionType: "StaticThresholdCriterion" as const,
        name: metric,
        metricNamespace: "Microsoft.ServiceBus/namespaces",
        metricName: metric,
        dimensions: [{ name: "EntityName", operator: "Include", values: [name] }],
        operator: "GreaterThan",
        threshold,
        timeAggregation: "Maximum",
      },
    ],
  };
}
