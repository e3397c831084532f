import type { Topology } from "./topology.ts";

/** The body that `rabbitmqctl import_definitions` and `POST /api/definitions` take. */
export interface Definitions {
  readonly vhosts: readonly { readonly name: string }[];
  readonly exchanges: readonly object[];
  readonly queues: readonly object[];
  readonly bindings: readonly object[];
  readonly policies: readonly object[];
}

/**
 * Writes a topology as a RabbitMQ definitions file.
 *
 * Importing it adds what is missing and changes nothing that is there: the broker keeps an existing queue as it is.
 * Source of the format: docs "Schema Definition Export and Import", `rabbit_definitions.erl`.
 */
export function exportDefinitions(topology: Topology, vhost = "/"): Definitions {
  return {
    vhosts: [{ name: vhost }],
    policies: topology.policies.map((policy) => ({
      vhost,
      name: policy.name,
      pattern: policy.pattern,
      "apply-to": policy.applyTo,
      priority: policy.priority,
      definition: policy.definition,
    })),
    exchanges: topology.exchanges.map((exchange) => ({
      name: exchange.name,
      vhost,
      type: exchange.kind,
      durable: exchange.durable,
      auto_delete: exchange.autoDelete,
      internal: false,
      arguments: exchange.arguments,
    })),
    queues: topology.queues.map((queue) => ({
      name: queue.name,
      vhost,
      durable: queue.durable,
      auto_delete: queue.autoDelete,
      arguments: queue.arguments,
    })),
    bindings: topology.bindings.map((binding) => ({
      source: binding.source,
      vhost,
      destination: binding.destination,
      destination_type: binding.destinationKind,
      routing_key: binding.routingKey,
      arguments: binding.arguments,
    })),
  };
}
