/** The messages of a topic that a rule lets into its subscription. */
export type RuleFilter =
  | { readonly kind: "true" }
  | { readonly kind: "false" }
  /** The subject (`Label`) of the message must equal this, letter by letter. */
  | { readonly kind: "correlation"; readonly subject: string }
  /** An expression in the SQL of Service Bus, such as `sys.Label LIKE 'order.%'`. */
  | { readonly kind: "sql"; readonly expression: string };

/**
 * A subscription takes a message if one of its rules lets it in. Service Bus creates a rule named `$Default` with each
 * subscription, which lets in all.
 */
export interface SubscriptionRule {
  readonly name: string;
  readonly filter: RuleFilter;
}

/** The properties that queues and subscriptions share, each one spelled out. Times are in milliseconds. */
export interface MessageEntity {
  /** The time that a receiver holds a delivery alone without renewal. 5 s to 5 min. */
  readonly lockDurationMs: number;
  /** A message with this many deliveries without settlement goes to the dead-letter queue. */
  readonly maxDeliveryCount: number;
  /**
   * The longest life of a message from its enqueueing on. The message's own time to live cannot extend it. Null for no
   * limit.
   */
  readonly timeToLiveMs: number | null;
  /** If false, Service Bus drops a message when its time to live ends. */
  readonly deadLetterOnExpiration: boolean;
  /** One receiver at a time for all messages of one session, in their order. It cannot change later. */
  readonly requiresSession: boolean;
  /** The queue or topic that receives everything at once; null if receivers take it. */
  readonly forwardTo: string | null;
  /** The queue or topic that receives dead letters; null if they stay in the entity's own dead-letter queue. */
  readonly forwardDeadLetteredTo: string | null;
}

export interface ServicebusQueue extends MessageEntity {
  readonly kind: "queue";
  /** Other resources use this name too. */
  readonly name: string;
  readonly role: "work" | "tier" | "dead";
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  /** Service Bus silently drops a message if one with the same id came within this time. Null for no such check. */
  readonly duplicateDetectionMs: number | null;
}

/** A declared source. Publishers send to it, and each consumer that asks for a message receives its own copy. */
export interface ServicebusTopic {
  readonly name: string;
  readonly source: string;
  /** Somebody else made it. Redeliver subscribes to it, and never makes or changes it. */
  readonly owner?: "other";
  readonly timeToLiveMs: number | null;
  readonly duplicateDetectionMs: number | null;
}

export interface ServicebusSubscription extends MessageEntity {
  readonly kind: "subscription";
  readonly topic: string;
  readonly name: string;
  readonly consumer: string;
  /** If false, Service Bus drops a message when no rule could be evaluated for it. */
  readonly deadLetterOnFilterError: boolean;
  /** `$Default` is always among them. */
  readonly rules: readonly SubscriptionRule[];
}

/** An alert of Azure Monitor that fires above the threshold. Dead-letter queues count with their entity. */
export interface DeadLetterAlert {
  readonly name: string;
  /** A queue or a topic. The metric counts all dead letters of a topic's subscriptions together. */
  readonly entity: string;
  readonly metric: "DeadletteredMessages" | "ActiveMessages";
  readonly threshold: number;
  readonly windowMinutes: number;
}

/** All resources of the namespace, in an order of creation that works. */
export interface ServicebusTopology {
  readonly broker: "servicebus";
  readonly target: string;
  readonly system: string;
  readonly queues: readonly ServicebusQueue[];
  readonly topics: readonly ServicebusTopic[];
  readonly subscriptions: readonly ServicebusSubscription[];
  readonly alerts: readonly DeadLetterAlert[];
}

/** The name that clients use for a subscription. */
export function subscriptionPath({ topic, name }: Pick<ServicebusSubscription, "topic" | "name">): string {
  return `${topic}/Subscriptions/${name}`;
}
