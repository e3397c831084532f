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
  readonly queues: Map<string, rabbitmq.Queue>;
  readonly policies: Map<string, rabbitmq.Policy>;
}

/**
 * Creates the Pulumi resources of a topology, each exactly once and nothing else.
 *
 * **Order.** Queues come first, and nothing leads into them yet. A queue's policy comes next, then the exchanges, then the bindings. A
 * binding waits for its source, its queue, that queue's policy and its dead-letter exchange, so no message comes into a queue that it could
 * not leave. A binding out of a source also waits for every other binding of its consumer. Where a queue cannot be made as it should
 * be, because one with other arguments is there, its policy stays as it is, and the consumer that runs keeps working.
 *
 * **Deletion.** Nothing that a message may still need is ever deleted on the broker: it stays there when it leaves the program. Pulumi
 * asks only the state for this, so it holds for `destroy` and without a preview, too. Two kinds of bindings do go while their consumer
 * stays: a routing key that it no longer wants, and the way from an attempt to a next one that is no longer there. They stay where the
 * work queue leaves the program together with them.
 *
 * **Protection.** What every message of a consumer needs cannot leave the program until somebody takes the protection off. Tiers and waits
 * can, since fewer attempts and other delays are everyday changes.
 *
 * **Replacement.** A new one is made before the old one is deleted. So the broker itself refuses a second queue or exchange of the same name
 * with other arguments, before anything is gone. Names are passed as texts: as outputs they would have Pulumi replace the bindings, too.
 *
 * Source: `continueStepsFromDiff`, `DeleteStep.Apply` in Pulumi's `pkg/resource/deploy`.
 *
 * @throws Error where the topology refers to something that it does not have, which is a bug in Redeliver
 */
export function deployRabbitmq(topology: Topology, placement: RabbitmqPlacement): RabbitmqDeployed {
  const made: Made = { exchanges: new Map(), queues: new Map(), policies: new Map() };
  for (const queue of topology.queues) addQueue(made, placement, queue);
  const roles = new Map(topology.queues.map(({ name, role }) => [name, role]));
  for (const policy of topology.policies) addPolicy(made, placement, policy, roles.get(policy.name));
  for (const exchange of topology.exchanges) addExchange(made, placement, exchange);
  addBindings(made, placement, topology);
  const workQueues = topology.queues.flatMap(({ role, consumer, name }) =>
    role === "work" && consumer !== null ? [[consumer, find(made.queues, name).name] as const] : [],
  );
  return { workQueues: Object.fromEntries(workQueues) };
}

/** The options of everything that stays on the broker when it leaves the program. */
function kept(parent: pulumi.Resource, isProtected: boolean): pulumi.CustomResourceOptions {
  return { parent, retainOnDelete: true, deleteBeforeReplace: false, ...(isProtected ? { protect: true } : {}) };
}

/** Tiers and waits come and go with the number of attempts and with delays. */
function isLasting(role: QueueResource["role"] | ExchangeResource["role"] | undefined): boolean {
  return role !== "tier" && role !== "wait";
}

function addQueue(made: Made, { name, parent, namespace }: RabbitmqPlacement, queue: QueueResource): void {
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
    kept(parent, isLasting(queue.role)),
  );
  made.queues.set(queue.name, resource);
}

/** A queue keeps its policy: a tier without its time to live would hold its messages for ever. */
function addPolicy(
  made: Made,
  { name, parent, namespace }: RabbitmqPlacement,
  policy: PolicyResource,
  role: QueueResource["role"] | undefined,
): void {
  const { pattern, applyTo, priority } = policy;
  // The provider takes texts only, and turns those that are whole numbers back into numbers.
  const definition: Record<string, string> = {};
  for (const key in policy.definition) definition[key] = String(policy.definition[key]);
  const resource = new rabbitmq.Policy(
    `${name}-${policy.name}`,
    { name: policy.name, vhost: namespace, policy: { pattern, applyTo, priority, definition } },
    { ...kept(parent, isLasting(role)), dependsOn: find(made.queues, policy.name) },
  );
  made.policies.set(policy.name, resource);
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
    {
      ...kept(parent, isLasting(exchange.role)),
      ...(alternate === undefined ? {} : { dependsOn: find(made.exchanges, alternate) }),
    },
  );
  made.exchanges.set(exchange.name, resource);
}

function addBindings(made: Made, placement: RabbitmqPlacement, topology: Topology): void {
  const exchanges = new Map(topology.exchanges.map((exchange) => [exchange.name, exchange]));
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  const destinations = { exchange: exchanges, queue: queues };
  const workQueues = new Map(
    topology.queues.flatMap(({ name, role, consumer }) => (role === "work" ? [[consumer, name] as const] : [])),
  );
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
    if (role === "tier" && consumer !== null && !bound.has(name)) add(consumer, find(made.policies, name));
  }
  const neededBy = (binding: BindingResource): pulumi.Resource[] => neededFor(made, queues, binding);
  const sharing = new Set<string>();
  for (const binding of topology.bindings) {
    const from = find(exchanges, binding.source);
    if (from.role === "source") {
      entries.push(binding);
      continue;
    }
    const to = find<ExchangeResource | QueueResource>(destinations[binding.destinationKind], binding.destination);
    const owner = from.consumer ?? to.consumer;
    const workQueue = from.role === "retry" ? find(made.queues, workQueues.get(owner) ?? "") : undefined;
    const options =
      workQueue === undefined
        ? // Attempts come and go, and so do the keys by which a shared exchange knows them.
          kept(placement.parent, from.consumer !== null || from.role === "undeliverable")
        : goesUnlessWith(placement.parent, workQueue);
    const resource = addBinding(placement, binding, { ...options, dependsOn: neededBy(binding) });
    if (owner === null) {
      shared.push(resource);
      continue;
    }
    add(owner, resource);
    // What everybody's messages come through leads to this consumer, so it takes part in what is shared.
    if (from.consumer === null) sharing.add(owner);
  }
  for (const binding of entries) {
    const consumer = find(queues, binding.destination).consumer ?? "";
    const own = [...(sharing.has(consumer) ? shared : []), ...(waysOut.get(consumer) ?? [])];
    addBinding(placement, binding, {
      ...goesUnlessWith(placement.parent, find(made.queues, binding.destination)),
      dependsOn: [...neededBy(binding), ...own],
    });
  }
}

/**
 * The options of a binding that goes when it leaves the program, unless the work queue leaves it in the same update. The queue stays on the
 * broker then, and so does its way in.
 */
function goesUnlessWith(parent: pulumi.Resource, workQueue: rabbitmq.Queue): pulumi.CustomResourceOptions {
  return { parent, deleteBeforeReplace: false, deletedWith: workQueue };
}

/** What has to be there before a message may come through a binding: both ends, and all that its queue sends it on by. */
function neededFor(
  made: Made,
  queues: ReadonlyMap<string, QueueResource>,
  { source, destination, destinationKind }: BindingResource,
): pulumi.Resource[] {
  const from = find(made.exchanges, source);
  if (destinationKind === "exchange") return [from, find(made.exchanges, destination)];
  const deadLetterExchange = find(queues, destination).arguments["x-dead-letter-exchange"];
  return [
    from,
    find(made.policies, destination),
    ...(deadLetterExchange === undefined ? [] : [find(made.exchanges, String(deadLetterExchange))]),
  ];
}

function addBinding(
  { name, namespace }: RabbitmqPlacement,
  { source, destination, destinationKind, routingKey, arguments: given }: BindingResource,
  options: pulumi.CustomResourceOptions,
): rabbitmq.Binding {
  const headers = Object.entries(given);
  // No name on the broker has a / in it (RD204), so no two bindings have the same logical name.
  const identity = [
    source,
    destinationKind,
    destination,
    ...(routingKey === "" ? [] : [routingKey]),
    ...headers.map(([key, value]) => `${key}=${value}`),
  ].join("/");
  return new rabbitmq.Binding(
    `${name}-${identity}`,
    {
      vhost: namespace,
      source,
      destination,
      destinationType: destinationKind,
      routingKey,
      ...(headers.length === 0 ? {} : { argumentsJson: JSON.stringify(given) }),
    },
    options,
  );
}

function find<Resource>(resources: ReadonlyMap<string, Resource>, name: string): Resource {
  const resource = resources.get(name);
  if (resource === undefined) throw new Error(`the topology refers to ${JSON.stringify(name)} before it is made`);
  return resource;
}
