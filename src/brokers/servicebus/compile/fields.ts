import { forEver, isoDuration } from "./iso-duration.ts";
import type { RuleFilter, ServicebusQueue } from "./topology.ts";

/** The type in JSON of each kind of property. Another entity is a name or an address. */
export const jsonTypes = { duration: "string", number: "number", flag: "boolean", entity: "string" } as const;

/** One property of an entity. */
export interface Field {
  /** Its name in ARM, @pulumi/azure-native and @azure/service-bus. The emulator's file has it with a capital letter. */
  readonly arm: string;
  readonly kind: keyof typeof jsonTypes;
  /** Its name in the topology. */
  readonly own?: string;
  /** Its value. Left out, it is the topology's. */
  readonly of?: (entity: Pick<ServicebusQueue, "duplicateDetectionMs">) => unknown;
  /** Its name in an audit. Left out, it is the topology's. */
  readonly audited?: string;
  /**
   * The value that Azure takes when the property is left out. An audit reads the properties that have one.
   * Source: ARM reference, `Microsoft.ServiceBus/namespaces/queues`.
   */
  readonly unsaid?: string | number | boolean | null;
}

/** Azure's own window for an entity without duplicate detection. */
const unusedWindowMs = 600_000;

const timeToLive = { arm: "defaultMessageTimeToLive", kind: "duration", own: "timeToLiveMs" } as const;

/** The fields that a queue and a subscription have in common. */
export const messageFields = [
  { arm: "deadLetteringOnMessageExpiration", kind: "flag", own: "deadLetterOnExpiration", unsaid: false },
  { ...timeToLive, audited: "timeToLive", unsaid: forEver },
  { arm: "forwardDeadLetteredMessagesTo", kind: "entity", own: "forwardDeadLetteredTo", unsaid: "" },
  { arm: "forwardTo", kind: "entity", own: "forwardTo", unsaid: "" },
  { arm: "lockDuration", kind: "duration", own: "lockDurationMs", audited: "lock", unsaid: "PT1M" },
  { arm: "maxDeliveryCount", kind: "number", own: "maxDeliveryCount", unsaid: 10 },
  { arm: "requiresSession", kind: "flag", own: "requiresSession", unsaid: false },
] as const satisfies readonly Field[];

const detectionFields = [
  {
    arm: "requiresDuplicateDetection",
    kind: "flag",
    of: ({ duplicateDetectionMs }) => duplicateDetectionMs !== null,
    unsaid: false,
  },
  {
    arm: "duplicateDetectionHistoryTimeWindow",
    kind: "duration",
    own: "duplicateDetectionMs",
    of: ({ duplicateDetectionMs }) => duplicateDetectionMs ?? unusedWindowMs,
    audited: "duplicateWindow",
    unsaid: "PT10M",
  },
] as const satisfies readonly Field[];

/** The properties of each kind of entity that the topology decides. */
export const entityFields = {
  queue: [...messageFields, ...detectionFields],
  topic: [timeToLive, ...detectionFields],
  subscription: [
    ...messageFields,
    { arm: "deadLetteringOnFilterEvaluationExceptions", kind: "flag", own: "deadLetterOnFilterError" },
  ],
} as const satisfies Readonly<Record<string, readonly Field[]>>;

/** The properties of queues and subscriptions that an audit reads. */
export const auditedFields: readonly Field[] = [
  ...entityFields.queue,
  { arm: "autoDeleteOnIdle", kind: "duration", audited: "autoDelete", unsaid: null },
];

/**
 * The properties of an entity, by ARM's names.
 *
 * @param nameOf writes the name of another entity, or null for none
 */
export function propertiesOf(
  fields: readonly Field[],
  entity: object,
  nameOf: (entity: string | null) => unknown,
): Readonly<Record<string, unknown>> {
  const values = entity as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    fields.map(({ arm, kind, own = "", of }) => {
      const value = of === undefined ? values[own] : of(entity as ServicebusQueue);
      if (kind === "duration") return [arm, isoDuration(value as number | null)];
      return [arm, kind === "entity" ? nameOf(value as string | null) : value];
    }),
  );
}

/** A destination is a name or a URL: `sb://shop.servicebus.windows.net/orders`. */
export function destinationIn(destination: string): string {
  return destination.replace(/^(sb|https?):\/\/[^/]+\//, "");
}

/** A filter in the SQL of Service Bus. */
export function sqlOf(filter: Exclude<RuleFilter, { readonly kind: "correlation" }>): string {
  return filter.kind === "sql" ? filter.expression : filter.kind === "true" ? "1=1" : "1=0";
}
