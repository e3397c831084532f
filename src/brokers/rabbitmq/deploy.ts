import type * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import type { BindingResource, ExchangeResource, PolicyResource, QueueResource, Topology } from "./topology.ts";

/** Where the resources of a topology go. */
export interface RabbitmqPlacement {
  /** The start of every logical name: `<name>-<the resource's own name>`. */
  readonly name: string;
  /** The component that the resources are children of. */
  readonly parent: pulumi.Resource;
  /** The virtual host. It has to be there. */
  readonly namespace: pulumi.Input<string>;
}

/** What other resources may refer to. */
export interface RabbitmqDeployed {
  /** The name of each consumer's work queue, known as soon as the queue is there. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;
}

/** The resources made so far, by their names on the broker. */
interface Made {
  readonly exchanges: Map<string, rabbitmq.Exchange>;
  readonly policies: Map<string, rabbitmq.Policy>;
  readonly queues: Map<string, rabbitmq.Queue>;
}

/**
 * Creates the Pulumi resources of a topology, each exactly once and nothing else.
 *
 * A resource waits for what it refers to: an exchange for its alternate exchange, a queue for its policy and its
 * dead-letter exchange, a binding for both of its ends. Tiers lead back to the work queue, so waiting for everything
 * behind a dead-letter exchange would be a circle. It is cut where nothing can be lost: a binding out of a source waits
 * for every other binding of its consumer, so no message comes in before the whole way out is there, and on the way
 * down the sources are the first to be cut off.
 *
 * Queues and their policies stay on the broker when they leave the program; work and dead queues cannot leave it until
 * somebody takes the protection off. A logical name contains the name on the broker, so that a renamed resource is a
 * new one beside the old one, never a replacement.
 *
 * @throws Error where the topology refers to something that it does not have, which is a bug in Redeliver
 */
export function deployRabbitmq(topology: Topology, placement: RabbitmqPlacement): RabbitmqDeployed {
  const made: Made = { exchanges: new Map(), policies: new Map(), queues: new Map() };
  for (const exchange of topology.exchanges) addExchange(made, placement, exchange);
  for (const policy of topology.policies) addPolicy(made, placement, policy);
  for (const queue of topology.queues) addQueue(made, placement, queue);
  addBindings(made, placement, topology);
  const workQueues = topology.queues.flatMap(({ role, consumer, name }) =>
    role === "work" && consumer !== null ? [[consumer, find(made.queues, name).name] as const] : [],
  );
  return { workQueues: Object.fromEntries(workQueues) };
}

function addExchange(made: Made, { name, parent, namespace }: RabbitmqPlacement, exchange: ExchangeResource): void {
  const alternate = exchange.arguments["alternate-exchange"];
  const resource = new rabbitmq.Exchange(
    `${name}-${exchange.name}`,
    {
      name: exchange.name,
      vhost: namespace,
      settings: {
        type: exchange.kind,
        durable: exchange.durable,
        autoDelete: exchange.autoDelete,
        ...(alternate === undefined ? {} : { arguments: exchange.arguments }),
      },
    },
    alternate === undefined ? { parent } : { parent, dependsOn: find(made.exchanges, alternate) },
  );
  made.exchanges.set(exchange.name, resource);
}

/** A queue that is retained keeps its policy: a tier without its time to live would hold its messages for ever. */
function addPolicy(made: Made, { name, parent, namespace }: RabbitmqPlacement, policy: PolicyResource): void {
  const { pattern, applyTo, priority } = policy;
  // The provider takes texts only, and turns those that are whole numbers back into numbers.
  const definition: Record<string, string> = {};
  for (const key in policy.definition) definition[key] = String(policy.definition[key]);
  const resource = new rabbitmq.Policy(
    `${name}-${policy.name}`,
    { name: policy.name, vhost: namespace, policy: { pattern, applyTo, priority, definition } },
    { parent, retainOnDelete: true },
  );
  made.policies.set(policy.name, resource);
}

function addQueue(made: Made, { name, parent, namespace }: RabbitmqPlacement, queue: QueueResource): void {
  const deadLetterExchange = queue.arguments["x-dead-letter-exchange"];
  const policy = find(made.policies, queue.name);
  const resource = new rabbitmq.Queue(
    `${name}-${queue.name}`,
    {
      name: queue.name,
      vhost: namespace,
      settings: {
        durable: queue.durable,
        autoDelete: queue.autoDelete,
        // As `arguments` every value would be sent as a text, and RabbitMQ ignores a delivery limit that is a text.
        argumentsJson: JSON.stringify(queue.arguments),
      },
    },
    {
      parent,
      protect: queue.role === "work" || queue.role === "dead",
      retainOnDelete: true,
      dependsOn: deadLetterExchange === undefined ? policy : [policy, find(made.exchanges, String(deadLetterExchange))],
    },
  );
  made.queues.set(queue.name, resource);
}

function addBindings(made: Made, placement: RabbitmqPlacement, topology: Topology): void {
  const exchanges = new Map(topology.exchanges.map((exchange) => [exchange.name, exchange]));
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  const destinations = { exchange: exchanges, queue: queues };
  const entries: BindingResource[] = [];
  const shared: rabbitmq.Binding[] = [];
  const waysOut = new Map<string, pulumi.Resource[]>();
  const add = (owner: string, resource: pulumi.Resource): void => {
    const own = waysOut.get(owner);
    if (own === undefined) waysOut.set(owner, [resource]);
    else own.push(resource);
  };
  // A tier that no exchange leads to is published to by its name.
  const bound = new Set(topology.bindings.map((binding) => binding.destination));
  for (const { name, role, consumer } of topology.queues) {
    if (role === "tier" && consumer !== null && !bound.has(name)) add(consumer, find(made.queues, name));
  }
  const sharing = new Set<string>();
  for (const binding of topology.bindings) {
    const from = find(exchanges, binding.source);
    if (from.role === "source") {
      entries.push(binding);
      continue;
    }
    const resource = addBinding(made, placement, binding, undefined);
    const owner =
      from.consumer ??
      find<ExchangeResource | QueueResource>(destinations[binding.destinationKind], binding.destination).consumer;
    if (owner === null) {
      shared.push(resource);
      continue;
    }
    add(owner, resource);
    // What everybody's messages come through leads to this consumer, so it takes part in what is shared.
    if (from.consumer === null) sharing.add(owner);
  }
  for (const binding of entries) {
    const { consumer } = find(queues, binding.destination);
    const own = waysOut.get(consumer ?? "") ?? [];
    addBinding(made, placement, binding, sharing.has(consumer ?? "") ? [...shared, ...own] : own);
  }
}

/** The ends are passed as outputs: when a queue or an exchange is replaced, its bindings are made again. */
function addBinding(
  made: Made,
  { name, parent, namespace }: RabbitmqPlacement,
  binding: BindingResource,
  dependsOn: pulumi.Resource[] | undefined,
): rabbitmq.Binding {
  const destinations = binding.destinationKind === "queue" ? made.queues : made.exchanges;
  const headers = Object.entries(binding.arguments);
  // No name on the broker has a / in it (RD204), so no two bindings have the same logical name.
  const identity = [
    binding.source,
    binding.destinationKind,
    binding.destination,
    ...(binding.routingKey === "" ? [] : [binding.routingKey]),
    ...headers.map(([key, value]) => `${key}=${value}`),
  ].join("/");
  return new rabbitmq.Binding(
    `${name}-${identity}`,
    {
      vhost: namespace,
      source: find(made.exchanges, binding.source).name,
      destination: find<rabbitmq.Queue | rabbitmq.Exchange>(destinations, binding.destination).name,
      destinationType: binding.destinationKind,
      routingKey: binding.routingKey,
      ...(headers.length === 0 ? {} : { argumentsJson: JSON.stringify(binding.arguments) }),
    },
    dependsOn === undefined ? { parent } : { parent, dependsOn },
  );
}

function find<Resource>(resources: ReadonlyMap<string, Resource>, name: string): Resource {
  const resource = resources.get(name);
  if (resource === undefined) throw new Error(`the topology refers to ${JSON.stringify(name)} before it is made`);
  return resource;
}
