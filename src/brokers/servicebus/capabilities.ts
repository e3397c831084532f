/** What a tier of Service Bus can do. Source: Service Bus documentation, "Service Bus Premium and Standard messaging tiers". */
export interface SkuCapabilities {
  /** Topics, and with them subscriptions and their rules. */
  readonly topics: boolean;
  readonly sessions: boolean;
  readonly duplicateDetection: boolean;
  /** Forwarding of messages and of dead letters to other entities. */
  readonly forwarding: boolean;
  /** The longest time to live of an entity; null for no limit. Source: azure-service-bus issue 306. */
  readonly longestTimeToLiveMs: number | null;
  /** Queues and topics of one namespace, together. Source: "Service Bus quotas". */
  readonly entities: number;
  /** How many of them each messaging unit brings, where a namespace is bought in such units; null where it is not. */
  readonly entitiesPerUnit: number | null;
}

const all = { topics: true, sessions: true, duplicateDetection: true, forwarding: true } as const;
const secondMs = 1_000;
const dayMs = 86_400_000;

export const skus = Object.freeze({
  basic: {
    topics: false,
    sessions: false,
    duplicateDetection: false,
    forwarding: false,
    longestTimeToLiveMs: 14 * dayMs,
    entities: 10_000,
    entitiesPerUnit: null,
  },
  standard: { ...all, longestTimeToLiveMs: null, entities: 10_000, entitiesPerUnit: null },
  // 64 units at most, in four partitions. Source: reference of .NET, `ServiceBusSku.Capacity`.
  premium: { ...all, longestTimeToLiveMs: null, entities: 64_000, entitiesPerUnit: 1_000 },
} as const satisfies Readonly<Record<string, SkuCapabilities>>);

export type Sku = keyof typeof skus;
export const skuNames = Object.freeze(Object.keys(skus)) as readonly Sku[];

/** Limits that all tiers share. Unless said otherwise: Service Bus documentation, "Service Bus quotas". */
export const servicebusLimits = Object.freeze({
  /** Of the name of a queue or topic. */
  nameLength: 260,
  /** Of the name of a subscription, and of a rule. */
  subscriptionNameLength: 50,
  /** Of the id of a message. */
  messageIdLength: 128,
  /** Of the expression of a SQL filter. */
  filterLength: 1_024,
  /** Subscriptions of one topic. */
  subscriptions: 2_000,
  /** Rules with a SQL filter, of all subscriptions of a topic together. */
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
  /** The longest that a client's timer runs: 2^31 − 1 ms is a little more. No SDK renews a lock for longer. */
  renewalMs: 24 * dayMs,
});

/** What Redeliver chooses where Service Bus leaves the choice. */
export const servicebusDefaults = Object.freeze({
  /** Service Bus's own. */
  lockMs: 60 * secondMs,
  /** How long the SDKs renew a lock where nothing else is said: the same in JavaScript, .NET and Java. */
  renewalMs: 300 * secondMs,
  /** How long a consumer has, after the handler's own time, to say what came of it. */
  settleMs: 10 * secondMs,
  /** Metrics of Service Bus come once a minute; Azure Monitor looks at five minutes of them. */
  alertMinutes: 5,
});

/** Where dead letters are: each entity's own dead-letter queue, or one queue for the whole system, where they come by forwarding. */
export const deadQueueKinds = ["own", "shared"] as const;

/** Service Bus in one tier, and what is chosen for all of its queues. */
export interface ServicebusTarget {
  readonly broker: "servicebus";
  readonly sku: Sku;
  readonly strategy: "auto" | StrategyName;
  readonly lockMs: number;
  /** Of work queues; null for none. */
  readonly duplicateDetectionMs: number | null;
  readonly deadQueue: (typeof deadQueueKinds)[number];
}

/** The ways of using Service Bus that `auto` tries, in this order, and one that has to be asked for. */
export const strategyNames = ["immediate", "scheduled", "ttl-tier"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** Writes a target as it is written on the command line: `servicebus@standard`. */
export function formatTarget({ sku }: ServicebusTarget): string {
  return `servicebus@${sku}`;
}

/** A duration for a name: one number and one unit. */
export function inOneUnit(durationMs: number): string {
  return durationMs % secondMs === 0 ? `${durationMs / secondMs}s` : `${durationMs}ms`;
}
