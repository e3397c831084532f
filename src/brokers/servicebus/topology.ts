/** What of a topic's messages a rule lets into its subscription. */
export type RuleFilter =
  | { readonly kind: "true" }
  | { readonly kind: "false" }
  /** The subject (`Label`) of the message has to be this, letter by letter. */
  | { readonly kind: "correlation"; readonly subject: string }
  /** An expression in the SQL of Service Bus, such as `sys.Label LIKE 'order.%'`. */
  | { readonly kind: "sql"; readonly expression: string };

/** A subscription takes a message that one of its rules lets in. Service Bus makes a rule named `$Default` with each, which lets in all. */
export interface SubscriptionRule {
  readonly name: string;
  readonly filter: RuleFilter;
}

/** What a queue and a subscription have in common, every property spelled out. Times are in milliseconds. */
export interface MessageEntity {
  /** How long a delivery is its receiver's alone, if nobody renews it. 5 s to 5 min. */
  readonly lockDurationMs: number;
  /** A message that was delivered so often without being settled goes to the dead-letter queue. */
  readonly maxDeliveryCount: number;
  /** What a message lives at most from its enqueueing on, its own time to live notwithstanding; null for ever. */
  readonly timeToLiveMs: number | null;
  /** Off, a message whose time is over is dropped. */
  readonly deadLetterOnExpiration: boolean;
  /** One receiver at a time for all messages of one session, in their order. It cannot be changed afterwards. */
  readonly requiresSession: boolean;
  /** The queue or topic to which everything goes on at once; null where receivers take it. */
  readonly forwardTo: string | null;
  /** The queue or topic to which dead letters go on; null where they stay in the entity's own dead-letter queue. */
  readonly forwardDeadLetteredTo: string | null;
}

export interface ServicebusQueue extends MessageEntity {
  readonly kind: "queue";
  /** Also the way in which other resources name it. */
  readonly name: string;
  readonly role: "work" | "tier" | "dead";
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  /** A message whose id came within this time before is dropped, without a word to its sender; null for no such check. */
  readonly duplicateDetectionMs: number | null;
}

/** A declared source. Publishers send to it, and every consumer that asks for a message gets its own copy. */
export interface ServicebusTopic {
  readonly name: string;
  readonly source: string;
  readonly timeToLiveMs: number | null;
  readonly duplicateDetectionMs: number | null;
}

export interface ServicebusSubscription extends MessageEntity {
  readonly kind: "subscription";
  readonly topic: string;
  readonly name: string;
  readonly consumer: string;
  /** Off, a message that no rule could be evaluated for is dropped. */
  readonly deadLetterOnFilterError: boolean;
  /** `$Default` is always among them. */
  readonly rules: readonly SubscriptionRule[];
}

/** An alert of Azure Monitor that goes off above the threshold. Dead-letter queues are counted with the entity that they belong to. */
export interface DeadLetterAlert {
  readonly name: string;
  /** A queue or a topic: the metric counts all dead letters of a topic's subscriptions together. */
  readonly entity: string;
  readonly metric: "DeadletteredMessages" | "ActiveMessages";
  readonly threshold: number;
  readonly windowMinutes: number;
}

/** Everything that has to be in the namespace, in an order in which it can be created. */
export interface ServicebusTopology {
  readonly broker: "servicebus";
  readonly target: string;
  readonly system: string;
  readonly queues: readonly ServicebusQueue[];
  readonly topics: readonly ServicebusTopic[];
  readonly subscriptions: readonly ServicebusSubscription[];
  readonly alerts: readonly DeadLetterAlert[];
}

/** How clients name a subscription. */
export function subscriptionPath({ topic, name }: Pick<ServicebusSubscription, "topic" | "name">): string {
  return `${topic}/Subscriptions/${name}`;
}
