import type * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { bindingIdentity } from "../compile/parts.ts";
import type { BindingResource, PolicyResource, QueueResource, Topology } from "../compile/topology.ts";
import { assumed } from "./assumed.ts";
import { find, goesUnlessWith, kept } from "../../../deploy/resource-options.ts";
import { type Made, type PolicyOrder, type RabbitmqPlacement, addPolicy, argumentInputs } from "./resources.ts";

/**
 * Adds the bindings, and the policies of exchanges, against the flow of messages: each waits for all that a message
 * needs behind it. The way back to a work queue closes a circle, so the bindings out of the sources come last of all.
 */
export function addBindings(made: Made, placement: RabbitmqPlacement, order: PolicyOrder, topology: Topology): void {
  const exchanges = new Map(topology.exchanges.map((exchange) => [exchange.name, exchange]));
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  const bySource = Map.groupBy(topology.bindings, ({ source }) => source);
  const waysOn = new Map(
    topology.policies.map((policy) => [policy.name, policy.applyTo === "exchanges" ? policy : null]),
  );
  const seen = new Map<string, readonly pulumi.Resource[]>();
  /** The key of a way into a shared dead queue is the name of a consumer's work queue. */
  const ownerOf = ({ destination, routingKey }: BindingResource): string | null =>
    find(queues, destination).consumer ?? queues.get(routingKey)?.consumer ?? null;
  const isShared = (binding: BindingResource): boolean =>
    binding.destinationKind === "exchange" || ownerOf(binding) === null;

  const add = (binding: BindingResource, more: readonly pulumi.Resource[] = []): rabbitmq.Binding => {
    const { source, destination, destinationKind } = binding;
    const from = find(exchanges, source);
    const behind =
      destinationKind === "exchange" ? behindExchange(destination) : behindQueue(find(queues, destination));
    return addBinding(placement, binding, from.owner === "other" ? assumed(placement, from) : source, {
      ...(from.role === "source"
        ? goesUnlessWith(placement.parent, find(made.queues, destination))
        : kept(placement.parent, from.role === "dead" || from.role === "undeliverable")),
      dependsOn: [...(from.owner === "other" ? [] : [find(made.exchanges, source)]), ...behind, ...more],
    });
  };
  const behindQueue = ({ name, arguments: given }: QueueResource): readonly pulumi.Resource[] => {
    const exchange = given["x-dead-letter-exchange"];
    return [
      find(made.queues, name),
      find(made.policies, name),
      ...(exchange === undefined ? [] : behindExchange(String(exchange))),
    ];
  };
  const behindExchange = (name: string): readonly pulumi.Resource[] => {
    const known = seen.get(name);
    if (known !== undefined) return known;
    const exchange = find(made.exchanges, name);
    const policy = waysOn.get(name) ?? null;
    const alternate = find(exchanges, name).arguments["alternate-exchange"] ?? policy?.definition["alternate-exchange"];
    const onward = alternate === undefined ? [] : behindExchange(String(alternate));
    const bindings = (bySource.get(name) ?? []).filter(isShared).map((binding) => add(binding));
    const found = [exchange, ...bindings, ...(policy === null ? onward : [addWayOn(policy, [exchange, ...onward])])];
    seen.set(name, found);
    return found;
  };

  const addWayOn = (policy: PolicyResource, after: readonly pulumi.Resource[]): rabbitmq.Policy => {
    const dependsOn = order.beforePolicy(policy.name, after);
    const added = addPolicy(placement, policy, { ...kept(placement.parent, true), dependsOn });
    made.policies.set(policy.name, added);
    return added;
  };

  const own = new Map<string | null, pulumi.Resource[]>();
  const waits = topology.exchanges.flatMap(({ name, role }) => (role === "wait" ? behindExchange(name) : []));
  for (const { name, role } of topology.exchanges) {
    if (role === "source") continue;
    behindExchange(name);
    for (const binding of bySource.get(name) ?? []) {
      if (isShared(binding)) continue;
      const consumer = ownerOf(binding);
      own.set(consumer, [...(own.get(consumer) ?? []), add(binding)]);
    }
  }
  for (const binding of topology.bindings) {
    if (find(exchanges, binding.source).role !== "source") continue;
    const { consumer, arguments: given } = find(queues, binding.destination);
    // A consumer whose work queue does not lead to waiting publishes its copies there itself.
    const publishes = exchanges.get(String(given["x-dead-letter-exchange"]))?.role === "dead";
    add(binding, [...(own.get(consumer) ?? []), ...(publishes ? waits : [])]);
  }
}

function addBinding(
  { name, namespace, areImported }: RabbitmqPlacement,
  binding: BindingResource,
  source: pulumi.Input<string>,
  options: pulumi.CustomResourceOptions,
): rabbitmq.Binding {
  const { destination, destinationKind, routingKey, arguments: given } = binding;
  return new rabbitmq.Binding(
    `${name}-${bindingIdentity(binding)}`,
    {
      vhost: namespace,
      source,
      destination,
      destinationType: destinationKind,
      routingKey,
      ...(Object.keys(given).length === 0 ? {} : argumentInputs(given, areImported)),
    },
    options,
  );
}
