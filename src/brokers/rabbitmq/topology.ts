/** What a queue is for. A `wait` queue is a tier that consumers share. */
export type QueueRole = "work" | "tier" | "wait" | "dead" | "undeliverable";

/** A queue, with every attribute that is relied on. */
export interface QueueResource {
  readonly name: string;
  readonly role: QueueRole;
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  readonly durable: true;
  readonly autoDelete: false;
  /** The broker's own keys. They cannot be changed once the queue is there. */
  readonly arguments: Readonly<Record<string, string | number>>;
}

export type ExchangeRole =
  | "source"
  | "failed"
  | "retry"
  | "past"
  | "first"
  | "again"
  | "dead"
  | "wait"
  | "undeliverable";

export interface ExchangeResource {
  readonly name: string;
  readonly role: ExchangeRole;
  readonly consumer: string | null;
  readonly kind: "direct" | "fanout" | "topic" | "headers";
  readonly durable: true;
  readonly autoDelete: false;
  /** `alternate-exchange`, where there is one. */
  readonly arguments: Readonly<Record<string, string>>;
}

export interface BindingResource {
  readonly source: string;
  readonly destination: string;
  readonly destinationKind: "queue" | "exchange";
  readonly routingKey: string;
  /** What a headers exchange matches on; empty elsewhere. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** The values of a queue that may be tuned while messages wait in it. Exactly one policy matches each queue. */
export interface PolicyResource {
  /** The queue's own name. */
  readonly name: string;
  readonly pattern: string;
  readonly applyTo: "queues" | "quorum_queues";
  readonly priority: number;
  readonly definition: Readonly<Record<string, string | number>>;
}

/** Everything that has to be on the broker, in an order in which it can be created. */
export interface Topology {
  readonly broker: "rabbitmq";
  readonly target: string;
  readonly system: string;
  readonly exchanges: readonly ExchangeResource[];
  readonly policies: readonly PolicyResource[];
  readonly queues: readonly QueueResource[];
  readonly bindings: readonly BindingResource[];
}

/** Collects the resources of a topology while the consumers are compiled one after the other. */
export interface TopologyDraft {
  readonly exchanges: ExchangeResource[];
  readonly policies: PolicyResource[];
  readonly queues: QueueResource[];
  readonly bindings: BindingResource[];
}
