import type { Draft } from "../../../contract/compile-consumer.ts";

/** The purpose of a queue. Consumers share tiers (`staged`) and wait queues (`waits`). */
export type QueueRole = "work" | "tier" | "wait" | "dead" | "undeliverable";

/** A queue, with every attribute that Redeliver relies on. */
export interface QueueResource {
  readonly name: string;
  readonly role: QueueRole;
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  readonly durable: true;
  readonly autoDelete: false;
  /** The broker's own keys. They cannot change after the queue is created. */
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

export type ExchangeRole =
  | "source"
  /** A work queue dead-letters to it. It belongs to one consumer, and a policy names the next exchange. */
  | "failed"
  /** A schedule's exchange by the reason of a death. */
  | "reasons"
  /** A schedule's exchange by the attempt that failed. */
  | "attempts"
  | "tier"
  /** Its name is the number of the attempt that a message is due for. */
  | "attempt"
  | "again"
  | "dead"
  | "wait"
  | "undeliverable";

export interface ExchangeResource {
  readonly name: string;
  readonly role: ExchangeRole;
  readonly consumer: string | null;
  readonly kind: "direct" | "fanout" | "topic" | "headers";
  /** The type by a plugin. Such an exchange counts as a fanout: any message may come by any binding. */
  readonly pluginType?: string;
  readonly durable: true;
  readonly autoDelete: false;
  /** `alternate-exchange`, if there is one. */
  readonly arguments: Readonly<Record<string, string>>;
  /**
   * Set if somebody else made it. Then only its name and its kind are known, and the rest is what an exchange has without
   * arguments. It is never created, changed or deleted.
   */
  readonly owner?: "other";
}

export interface BindingResource {
  readonly source: string;
  readonly destination: string;
  readonly destinationKind: "queue" | "exchange";
  readonly routingKey: string;
  /** The headers that a headers exchange matches; empty elsewhere. */
  readonly arguments: Readonly<Record<string, string>>;
}

/**
 * The values of a queue or an exchange that may change while messages are on their way. Exactly one policy matches each
 * queue.
 */
export interface PolicyResource {
  /** The name of the queue or the exchange. */
  readonly name: string;
  readonly pattern: string;
  readonly applyTo: "queues" | "quorum_queues" | "exchanges";
  readonly priority: number;
  readonly definition: Readonly<Record<string, string | number>>;
}

/** All resources on the broker, in an order of creation that works. */
export interface Topology {
  readonly broker: "rabbitmq";
  readonly target: string;
  readonly system: string;
  readonly exchanges: readonly ExchangeResource[];
  readonly policies: readonly PolicyResource[];
  readonly queues: readonly QueueResource[];
  readonly bindings: readonly BindingResource[];
}

export type TopologyDraft = Draft<Topology, "exchanges" | "policies" | "queues" | "bindings">;
