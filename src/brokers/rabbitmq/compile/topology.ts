import type { ForeignPolicy } from "./foreign-policies.ts";
import type { Draft } from "../../../contract/compile-consumer.ts";

/** The purpose of a queue. Consumers share tiers (`staged`) and wait queues (`waits`). */
export type QueueRole = "work" | "tier" | "wait" | "dead" | "undeliverable";

/** A queue, with every attribute that Redeliver relies on. */
export interface QueueResource {
  /** Its name on the broker. */
  readonly name: string;
  /** Its place in the way of a message. */
  readonly role: QueueRole;
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  /** The queue and its messages survive a restart of the broker. */
  readonly durable: true;
  /** The queue stays when its last consumer leaves. */
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
  /** Its name on the broker. */
  readonly name: string;
  /** Its place in the way of a message. */
  readonly role: ExchangeRole;
  /** The consumer that it belongs to. Null for a shared one. */
  readonly consumer: string | null;
  /** The way in which it compares routing keys or headers. */
  readonly kind: "direct" | "fanout" | "topic" | "headers";
  /** The type by a plugin. Such an exchange counts as a fanout: any message may come by any binding. */
  readonly pluginType?: string;
  /** It survives a restart of the broker. */
  readonly durable: true;
  /** It stays when its last binding goes. */
  readonly autoDelete: false;
  /** `alternate-exchange`, if there is one. */
  readonly arguments: Readonly<Record<string, string>>;
  /**
   * Set if somebody else made it. Then only its name and its kind are known, and the rest is what an exchange has without
   * arguments. It is never created, changed or deleted.
   */
  readonly owner?: "other";
  /** The arguments that it must have. A comparison needs them, and nothing writes them. Left out if none are declared. */
  readonly assumedArguments?: Readonly<Record<string, string | number | boolean>>;
}

export interface BindingResource {
  /** The exchange that messages come from. */
  readonly source: string;
  /** The queue or the exchange that they go to. */
  readonly destination: string;
  /** The kind of resource that `destination` names. */
  readonly destinationKind: "queue" | "exchange";
  /** The pattern that a routing key must match. Fanout and headers exchanges ignore it. */
  readonly routingKey: string;
  /** The headers that a headers exchange matches; empty elsewhere. */
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

/**
 * The values of a queue or an exchange that may change while messages are on their way. Exactly one policy matches each
 * queue.
 */
export interface PolicyResource {
  /** The name of the queue or the exchange. */
  readonly name: string;
  /** A regular expression that matches this one name. */
  readonly pattern: string;
  /** The kind of resource that it applies to. */
  readonly applyTo: "queues" | "quorum_queues" | "exchanges";
  /** Among several policies that match, the broker takes only the one with the highest priority. */
  readonly priority: number;
  /** The broker's own keys and values. */
  readonly definition: Readonly<Record<string, string | number>>;
}

/** All resources on the broker, in an order of creation that works. */
export interface Topology {
  /** Tells the topologies of brokers apart. */
  readonly broker: "rabbitmq";
  /** The target as on the command line. */
  readonly target: string;
  /** The name of the system, which begins the names of its resources. */
  readonly system: string;
  /** Begins the names of queues and exchanges that consumers share. Left out if the system's name does. */
  readonly prefix?: string;
  /** Those of sources, and those that move messages between queues. */
  readonly exchanges: readonly ExchangeResource[];
  /** Delays and limits, which a deployment can change without a new queue. */
  readonly policies: readonly PolicyResource[];
  /** Work queues, queues to wait in, and dead queues. */
  readonly queues: readonly QueueResource[];
  /** The ways from exchanges to queues and other exchanges. */
  readonly bindings: readonly BindingResource[];
  /** The policies on the broker that others own, if the target names some. */
  readonly assumed?: {
    /** As the target names them. */
    readonly policies: readonly ForeignPolicy[];
    /** By resource, the values of all policies together: its own one, and those of others. */
    readonly inForce: readonly PolicyResource[];
  };
}

/** The topology as the broker behaves: with the policies in force, and without those that others own. */
export function asInForce<Whole extends Pick<Topology, "policies" | "assumed">>({ assumed, ...own }: Whole): Whole {
  return { ...own, ...(assumed === undefined ? {} : { policies: assumed.inForce }) } as Whole;
}

/**
 * The exchange that a queue dead-letters to, and the key that it gives. Its arguments go before its policy. Source:
 * `rabbit_quorum_queue:dlh/5`.
 */
export function deadLetteringOf(
  given: Readonly<Record<string, unknown>>,
  policy: Readonly<Record<string, unknown>> | undefined,
) {
  const [exchange, key] = ["dead-letter-exchange", "dead-letter-routing-key"].map((name) => {
    const value = given[`x-${name}`] ?? policy?.[name];
    return typeof value === "string" ? value : null;
  });
  return { exchange: exchange ?? null, key: key ?? null };
}

/** True for the policy of a queue that has its dead-letter exchange there, and not in its arguments. */
export function isStructure({ definition }: PolicyResource): boolean {
  return definition["dead-letter-exchange"] !== undefined;
}

export type TopologyDraft = Draft<Topology, "exchanges" | "policies" | "queues" | "bindings">;
