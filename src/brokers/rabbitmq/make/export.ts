import type { Topology } from "../compile/topology.ts";

/**
 * Writes a topology as a RabbitMQ definitions file, for `rabbitmqctl import_definitions` and `POST /api/definitions`.
 *
 * Importing it adds missing resources, replaces policies, and changes no other existing resource. The broker imports
 * exchanges and policies before queues and bindings. So on a system in use, the policies of exchanges have to come last,
 * in an import of their own. Source of the format and of the order: docs "Schema Definition Export and Import",
 * `rabbit_definitions.erl`.
 */
export function exportDefinitions(topology: Topology, vhost = "/") {
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
    exchanges: topology.exchanges
      .filter(({ owner }) => owner !== "other")
      .map((exchange) => ({
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
