import type * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { bindingIdentity } from "../compile/parts.ts";
import {
  type BindingResource,
  type QueueResource,
  type Topology,
  deadLetteringOf,
  isStructure,
} from "../compile/topology.ts";
import { assumed } from "./assumed.ts";
import { isLasting } from "./lasting.ts";
import { consumerBehind } from "./part.ts";
import { find, goesUnlessWith, kept } from "../../../deploy/resource-options.ts";
import { type Deploying, addPolicy, argumentInputs } from "./resources.ts";

/**
 * Adds the bindings, and the policies of exchanges, against the flow of messages: each waits for all that a message
 * needs behind it. The way back to a work queue closes a circle, so the bindings out of the sources come last of all.
 *
 * @param topology the whole one, or that of one stack's consumers with all that they share
 * @param own the part to make. The rest behind it is there already
 */
export function addBindings(deploying: Deploying, topology: Topology, own: Topology): void {
  const { made, outside, parent } = deploying;
  const { exchanges, queues, policies, deadExchangeOf } = byName(topology);
  const bySource = Map.groupBy(own.bindings, ({ source }) => source);
  const seen = new Map<string, readonly pulumi.Resource[]>([...outside.exchanges].map((name) => [name, []]));
  const isShared = (each: BindingResource) =>
    each.destinationKind === "exchange" || consumerBehind(queues, each) === null;

  const add = (binding: BindingResource, more: readonly pulumi.Resource[] = []): rabbitmq.Binding => {
    const { source, destination, destinationKind } = binding;
    const from = find(exchanges, source);
    const behind =
      destinationKind === "exchange" ? behindExchange(destination) : behindQueue(find(queues, destination));
    return addBinding(deploying, binding, from.owner === "other" ? assumed(deploying, from) : source, {
      ...(from.role === "source"
        ? goesUnlessWith(parent, find(made.queues, destination))
        : kept(parent, from.role === "dead" || from.role === "undeliverable")),
      dependsOn: [
        ...(from.owner === "other" || outside.exchanges.has(source) ? [] : [find(made.exchanges, source)]),
        ...behind,
        ...more,
      ],
    });
  };
  const behindQueue = (queue: QueueResource): readonly pulumi.Resource[] => {
    if (outside.queues.has(queue.name)) return [];
    const exchange = deadExchangeOf(queue);
    return [
      find(made.queues, queue.name),
      ...[made.policies.get(queue.name)].flatMap((policy) => policy ?? []),
      ...(exchange === null ? [] : behindExchange(exchange)),
    ];
  };
  const behindExchange = (name: string): readonly pulumi.Resource[] => {
    const known = seen.get(name);
    if (known !== undefined) return known;
    const exchange = find(made.exchanges, name);
    const named = policies.get(name);
    const policy = named?.applyTo === "exchanges" ? named : null;
    const alternate = find(exchanges, name).arguments["alternate-exchange"] ?? policy?.definition["alternate-exchange"];
    const onward = alternate === undefined ? [] : behindExchange(String(alternate));
    const bindings = (bySource.get(name) ?? []).filter(isShared).map((binding) => add(binding));
    const wayOn = policy === null ? onward : [addPolicy(deploying, policy, true, [exchange, ...onward])];
    const found = [exchange, ...bindings, ...wayOn];
    seen.set(name, found);
    return found;
  };

  const ofConsumer = new Map<string | null, pulumi.Resource[]>();
  const waits = topology.exchanges.flatMap(({ name, role }) => (role === "wait" ? behindExchange(name) : []));
  for (const { name, role } of topology.exchanges) {
    if (role === "source") continue;
    behindExchange(name);
    for (const binding of bySource.get(name) ?? []) {
      if (isShared(binding)) continue;
      const consumer = consumerBehind(queues, binding);
      ofConsumer.set(consumer, [...(ofConsumer.get(consumer) ?? []), add(binding)]);
    }
  }
  // Until the ways out of its queue are there, a queue that exists works as before.
  for (const policy of own.policies.filter(isStructure)) {
    const queue = find(queues, policy.name);
    const waysOut = [...behindExchange(deadExchangeOf(queue) ?? ""), ...(ofConsumer.get(queue.consumer) ?? [])];
    addPolicy(deploying, policy, isLasting(queue.role), [find(made.queues, queue.name), ...waysOut]);
  }
  for (const binding of own.bindings) {
    if (find(exchanges, binding.source).role !== "source") continue;
    const queue = find(queues, binding.destination);
    // A consumer whose work queue does not lead to waiting publishes its copies there itself.
    const publishes = exchanges.get(deadExchangeOf(queue) ?? "")?.role === "dead";
    add(binding, [...(ofConsumer.get(queue.consumer) ?? []), ...(publishes ? waits : [])]);
  }
}

function byName(topology: Topology) {
  const policies = new Map(topology.policies.map((policy) => [policy.name, policy]));
  return {
    exchanges: new Map(topology.exchanges.map((exchange) => [exchange.name, exchange])),
    queues: new Map(topology.queues.map((queue) => [queue.name, queue])),
    policies,
    deadExchangeOf: ({ name, arguments: given }: QueueResource): string | null =>
      deadLetteringOf(given, policies.get(name)?.definition).exchange,
  };
}

function addBinding(
  { made, name, namespace, areImported }: Deploying,
  binding: BindingResource,
  source: pulumi.Input<string>,
  options: pulumi.CustomResourceOptions,
): rabbitmq.Binding {
  const { destination, destinationKind, routingKey, arguments: given } = binding;
  const resource = new rabbitmq.Binding(
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
  made.bindings.push(resource);
  return resource;
}
