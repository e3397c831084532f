import type { DeadQueueKind } from "../../../contract/shared-dead-queue.ts";

/**
 * The features of a tier of Service Bus. Source: Service Bus documentation, "Service Bus Premium and Standard messaging
 * tiers".
 */
export interface SkuCapabilities {
  /** Topics, and with them subscriptions and their rules. */
  readonly topics: boolean;
  readonly sessions: boolean;
  readonly duplicateDetection: boolean;
  /** Forwarding of messages and of dead letters to other entities. */
  readonly forwarding: boolean;
  /**
   * True if a program may set `autoDeleteOnIdle`, even to never. Sources: MassTransit issue 657,
   * terraform-provider-azurerm issue 27285.
   */
  readonly autoDelete: boolean;
  /** True if a program may set `maxMessageSizeInKilobytes`. Source: azurerm, `servicebus_queue_resource.go`. */
  readonly messageSize: boolean;
  /** The longest time to live of an entity; null for no limit. Source: azure-service-bus issue 306. */
  readonly longestTimeToLiveMs: number | null;
  /** Queues and topics of one namespace, together. Source: "Service Bus quotas". */
  readonly entities: number;
  /** The number of them that each messaging unit brings; null if the tier has no such units. */
  readonly entitiesPerUnit: number | null;
}

const all = { topics: true, sessions: true, duplicateDetection: true, forwarding: true, autoDelete: true } as const;
const secondMs = 1_000;
const dayMs = 86_400_000;

export const skus = Object.freeze({
  basic: {
    topics: false,
    sessions: false,
    duplicateDetection: false,
    forwarding: false,
    autoDelete: false,
    messageSize: false,
    longestTimeToLiveMs: 14 * dayMs,
    entities: 10_000,
    entitiesPerUnit: null,
  },
  standard: { ...all, messageSize: false, longestTimeToLiveMs: null, entities: 10_000, entitiesPerUnit: null },
  // 64 units at most, in four partitions. Source: reference of .NET, `ServiceBusSku.Capacity`.
  premium: { ...all, messageSize: true, longestTimeToLiveMs: null, entities: 64_000, entitiesPerUnit: 1_000 },
} as const satisfies Readonly<Record<string, SkuCapabilities>>);

export type Sku = keyof typeof skus;
export const skuNames = Object.freeze(Object.keys(skus)) as readonly Sku[];

/** Limits that all tiers share. Unless said otherwise: Service Bus documentation, "Service Bus quotas". */
export const servicebusLimits = Object.freeze({
  /** Of the name of a queue or topic. */
  nameLength: 260,
  /** Of the name of a subscription or a rule. */
  subscriptionNameLength: 50,
  /** Of the id of a message. */
  messageIdLength: 128,
  /** The bytes of one application property: of its name, and of its value. */
  propertyBytes: 32_768,
  /** The bytes of all properties of a message together, including the system's. */
  propertiesBytes: 65_536,
  /** Of the reason or the description of a dead letter: azure-sdk-for-net, `Constants.MaxDeadLetterReasonLength`. */
  deadLetterTextLength: 4_096,
  /** Of the expression of a SQL filter. */
  filterLength: 1_024,
  /** Subscriptions of one topic. */
  subscriptions: 2_000,
  /** Rules with a SQL filter, in all subscriptions of a topic together. */
  sqlFilters: 2_000,
  /** Rules with a correlation filter, counted in the same way. */
  correlationFilters: 100_000,
  /** `LockDuration`, at least: issue 53 of azure-service-bus-emulator-installer. */
  leastLockMs: 5 * secondMs,
  /** `LockDuration`, at most. "Message transfers, locks, and settlement". */
  lockMs: 300 * secondMs,
  /** `DuplicateDetectionHistoryTimeWindow`. "Duplicate message detection". */
  leastDuplicateDetectionMs: 20 * secondMs,
  duplicateDetectionMs: 7 * dayMs,
  /** The longest time of a client's timer: 2^31 − 1 ms is a little more. No SDK renews a lock for longer. */
  renewalMs: 24 * dayMs,
});

/** Redeliver's choices where Service Bus leaves a choice. */
export const servicebusDefaults = Object.freeze({
  /** Service Bus's own default. */
  lockMs: 60 * secondMs,
  /** The time that the SDKs renew a lock by default: the same in JavaScript, .NET and Java. */
  renewalMs: 300 * secondMs,
  /** The time that a consumer has after its handler to settle the message. */
  settleMs: 10 * secondMs,
  /** Service Bus publishes its metrics once a minute; Azure Monitor looks at five minutes of them. */
  alertMinutes: 5,
});

/** Service Bus in one tier, with the settings for all of its queues. */
export interface ServicebusTarget {
  readonly broker: "servicebus";
  readonly sku: Sku;
  readonly strategy: "auto" | StrategyName;
  readonly strategies?: Readonly<Record<string, "auto" | StrategyName>>;
  readonly lockMs: number;
  /** Of work queues; null for none. */
  readonly duplicateDetectionMs: number | null;
  /** By consumer, if only some detect duplicates, or each within another time. The others then have none. */
  readonly ownDuplicateDetectionMs?: Readonly<Record<string, number>>;
  /** `own`: dead letters stay in each entity's own dead-letter queue. `shared`: one queue has them by forwarding. */
  readonly deadQueue: DeadQueueKind;
}

/** The strategies for Service Bus, in the order that `auto` tries them. The last one only runs if the user names it. */
export const strategyNames = ["immediate", "scheduled", "ttl-tier"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** Writes a target as on the command line: `servicebus@standard`. */
export function formatTarget({ sku }: ServicebusTarget): string {
  return `servicebus@${sku}`;
}

/** The features of the tier in a target such as `servicebus@standard`. */
export function capabilitiesOf(target: string): SkuCapabilities {
  const sku = skuNames.find((each) => target === `servicebus@${each}`);
  if (sku === undefined) throw new Error(`${target} is no target on Service Bus`);
  return skus[sku];
}

/** A duration for a name: one number and one unit. */
export function inOneUnit(durationMs: number): string {
  return durationMs % secondMs === 0 ? `${durationMs / secondMs}s` : `${durationMs}ms`;
}
