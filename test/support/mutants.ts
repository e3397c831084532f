import type { QueueResource, Topology } from "../../src/index.ts";

// Every way in which a person might break a topology.

export interface Mutant {
  readonly name: string;
  readonly topology: Topology;
}

const without = <Item>(items: readonly Item[], index: number): Item[] => items.filter((_, each) => each !== index);
const replaced = <Item>(items: readonly Item[], index: number, item: Item): Item[] => items.with(index, item);

export function mutantsOf(topology: Topology): Mutant[] {
  const isOurs = (consumer: string | null): boolean => consumer !== "shipping";
  const queues = [...topology.queues.entries()].filter(([, queue]) => isOurs(queue.consumer));
  const argued = (
    index: number,
    queue: QueueResource,
    change: Record<string, QueueResource["arguments"][string] | undefined>,
  ): Topology => ({
    ...topology,
    queues: replaced(topology.queues, index, {
      ...queue,
      arguments: JSON.parse(JSON.stringify({ ...queue.arguments, ...change })),
    }),
  });
  return [
    ...added(topology),
    ...retyped(topology),
    ...queues.flatMap(([index, queue]) =>
      [
        { "x-max-length": 1 },
        { "x-queue-type": "classic" },
        { "x-queue-type": "stream" },
        { "x-queue-type": undefined },
        { "x-message-ttl": "1000" },
        { "x-expires": "1000" },
        { "x-max-priority": 5 },
      ].map((change) => ({
        name: `${Object.keys(change)[0]} ${JSON.stringify(Object.values(change)[0])} on ${queue.name}`,
        topology: argued(index, queue, change as Record<string, string | number | undefined>),
      })),
    ),
    ...[...topology.bindings.entries()]
      .filter(([, binding]) => !`${binding.source} ${binding.destination}`.includes("shipping"))
      .map(([index, each]) => ({
        name: `without the binding ${each.source} → ${each.destination} (${each.arguments["x-last-death-exchange"] ?? each.routingKey})`,
        topology: { ...topology, bindings: without(topology.bindings, index) },
      })),
    ...[...topology.exchanges.entries()]
      .filter(([, exchange]) => isOurs(exchange.consumer))
      .map(([index, each]) => ({
        name: `without the exchange ${each.name}`,
        topology: { ...topology, exchanges: without(topology.exchanges, index) },
      })),
    ...[...topology.exchanges.entries()]
      .filter(([, exchange]) => isOurs(exchange.consumer) && "alternate-exchange" in exchange.arguments)
      .map(([index, each]) => ({
        name: `without the alternate of ${each.name}`,
        topology: { ...topology, exchanges: replaced(topology.exchanges, index, { ...each, arguments: {} }) },
      })),
    ...[...topology.policies.entries()]
      .filter(
        ([, policy]) =>
          (policy.applyTo === "exchanges" && !policy.name.includes("shipping")) ||
          queues.some(
            ([, queue]) => queue.name === policy.name && queue.role !== "dead" && queue.role !== "undeliverable",
          ),
      )
      .map(([index, each]) => ({
        name: `without the policy of ${each.name}`,
        topology: { ...topology, policies: without(topology.policies, index) },
      })),
    ...queues
      .filter(([, queue]) => "x-dead-letter-exchange" in queue.arguments)
      .flatMap(([index, queue]) => [
        {
          name: `no dead-letter exchange on ${queue.name}`,
          topology: argued(index, queue, {
            "x-dead-letter-exchange": undefined,
            "x-dead-letter-routing-key": undefined,
          }),
        },
        {
          name: `a dead-letter exchange that is not there on ${queue.name}`,
          topology: argued(index, queue, { "x-dead-letter-exchange": "nowhere" }),
        },
        {
          name: `dead letters of ${queue.name} back to the source`,
          topology: argued(index, queue, { "x-dead-letter-exchange": "shop.orders" }),
        },
      ]),
    ...queues
      .filter(([, queue]) => "x-delivery-limit" in queue.arguments)
      .map(([index, queue]) => ({
        name: `no limit of its own on ${queue.name}`,
        topology: argued(index, queue, { "x-delivery-limit": undefined }),
      })),
    ...queues
      .filter(([, queue]) => "x-dead-letter-strategy" in queue.arguments)
      .map(([index, queue]) => ({
        name: `at-most-once dead-lettering on ${queue.name}`,
        topology: argued(index, queue, { "x-dead-letter-strategy": undefined }),
      })),
    ...queues
      .filter(([, queue]) => "x-dead-letter-routing-key" in queue.arguments)
      .flatMap(([index, queue], _place, tiers) =>
        tiers
          .filter(([other]) => other !== index)
          .slice(0, 1)
          .map(([, other]) => ({
            name: `the key of ${other.name} on ${queue.name}`,
            topology: argued(index, queue, {
              "x-dead-letter-routing-key": other.arguments["x-dead-letter-routing-key"],
            }),
          })),
      ),
    ...queues
      .filter(([, queue]) => "x-dead-letter-routing-key" in queue.arguments)
      .flatMap(([index, queue]) => [
        {
          name: `another attempt key on ${queue.name}`,
          topology: argued(index, queue, { "x-dead-letter-routing-key": "redeliver:shop.billing:attempt:2x" }),
        },
        {
          name: `no attempt key on ${queue.name}`,
          topology: argued(index, queue, { "x-dead-letter-routing-key": undefined }),
        },
      ]),
    ...misled(topology),
    ...[...topology.bindings.entries()]
      .filter(([, binding]) => "x-last-death-reason" in binding.arguments)
      .map(([index, each]) => ({
        name: "the reason swapped",
        topology: {
          ...topology,
          bindings: replaced(topology.bindings, index, {
            ...each,
            arguments: { ...each.arguments, "x-last-death-reason": "delivery_limit" },
          }),
        },
      })),
    ...[...topology.policies.entries()].flatMap(([index, policy]) => {
      if (policy.name.includes("shipping") || policy.applyTo === "exchanges") return [];
      const defined = (definition: Record<string, string | number>): Topology => ({
        ...topology,
        policies: replaced(topology.policies, index, { ...policy, definition }),
      });
      const overlapping = (name: string, pattern: string, priority: number): Mutant => ({
        name: `${name} over ${policy.name}`,
        topology: {
          ...topology,
          // The first of two policies with the same priority wins, so the intruder comes first.
          policies: [
            { name: "intruder", pattern, applyTo: "queues", priority, definition: { "max-length": 10 } },
            ...topology.policies,
          ],
        },
      });
      const limit = policy.definition["delivery-limit"];
      const ttlMs = policy.definition["message-ttl"];
      return [
        overlapping("a policy with a higher priority", `${policy.name}$`, 2_000),
        overlapping("a policy with the same priority", policy.pattern, policy.priority),
        {
          name: `drop-head on ${policy.name}`,
          topology: defined({ ...policy.definition, overflow: "drop-head" }),
        },
        {
          name: `a time to live of a second on ${policy.name}`,
          topology: defined({ ...policy.definition, "message-ttl": 900 }),
        },
        ...(limit === undefined
          ? []
          : [
              {
                name: `a delivery limit of -1 on ${policy.name}`,
                topology: defined({ ...policy.definition, "delivery-limit": -1 }),
              },
              {
                name: `the delivery limit as a text on ${policy.name}`,
                topology: defined({ ...policy.definition, "delivery-limit": String(limit) }),
              },
              {
                name: `one delivery more on ${policy.name}`,
                topology: defined({ ...policy.definition, "delivery-limit": Number(limit) + 1 }),
              },
              {
                name: `one delivery less on ${policy.name}`,
                topology: defined({ ...policy.definition, "delivery-limit": Number(limit) - 1 }),
              },
            ]),
        ...(typeof ttlMs === "number"
          ? [
              {
                name: `1 ms less on ${policy.name}`,
                topology: defined({ ...policy.definition, "message-ttl": ttlMs - 1 }),
              },
              {
                name: `the time to live as a text on ${policy.name}`,
                topology: defined({ ...policy.definition, "message-ttl": String(ttlMs) }),
              },
              {
                name: `1 ms more on ${policy.name}`,
                topology: defined({ ...policy.definition, "message-ttl": ttlMs + 1 }),
              },
            ]
          : []),
        ...("delayed-retry-min" in policy.definition
          ? [
              {
                name: "delayed retry 1 ms shorter",
                topology: defined({
                  ...policy.definition,
                  "delayed-retry-min": Number(policy.definition["delayed-retry-min"]) - 1,
                  "delayed-retry-max": Number(policy.definition["delayed-retry-max"]) - 1,
                }),
              },
            ]
          : []),
      ];
    }),
  ];
}

/** Ways on that lead to another place, for exchanges and tiers that consumers share. */
function misled(topology: Topology): Mutant[] {
  const bindings = [...topology.bindings.entries()];
  const rebound = (name: string, index: number, change: Partial<Topology["bindings"][number]>): Mutant[] => {
    const old = topology.bindings[index];
    return old === undefined
      ? []
      : [{ name, topology: { ...topology, bindings: replaced(topology.bindings, index, { ...old, ...change }) } }];
  };
  const again = new Set(topology.exchanges.filter(({ role }) => role === "again").map(({ name }) => name));
  return [
    ...bindings.flatMap(([index, { source, destination, routingKey }]) =>
      again.has(source) && destination === "shop.billing" && routingKey.includes("billing")
        ? [
            ...rebound(`the way back with the other consumer's key instead of ${routingKey}`, index, {
              routingKey: routingKey.replace("billing", "shipping"),
            }),
            ...rebound(`the way back with the key ${routingKey} to the other consumer`, index, {
              destination: "shop.shipping",
            }),
          ]
        : [],
    ),
    ...bindings.flatMap(([index, { destination, destinationKind, arguments: given }]) => {
      const exchange = given["x-last-death-exchange"];
      if (exchange === undefined || destinationKind === "exchange") return [];
      const { "x-last-death-exchange": _, ...others } = given;
      return [
        ...rebound(`after ${exchange} to the dead queue instead of ${destination}`, index, {
          destination: "shop.dead",
          destinationKind: "exchange",
        }),
        ...rebound(`to ${destination} after every attempt`, index, { arguments: others }),
        ...rebound(`to ${destination} after the attempt before`, index, {
          arguments: { ...given, "x-last-death-exchange": `${exchange.slice(0, -1)}${Number(exchange.slice(-1)) + 1}` },
        }),
      ];
    }),
    ...[...topology.policies.entries()].flatMap(([index, policy]) =>
      policy.applyTo === "exchanges" && policy.name.includes("billing")
        ? ["shop.dead", "shop.again", "nowhere", "shop.orders"].map((to) => ({
            name: `${policy.name} led on to ${to}`,
            topology: {
              ...topology,
              policies: replaced(topology.policies, index, { ...policy, definition: { "alternate-exchange": to } }),
            },
          }))
        : [],
    ),
    ...[...topology.queues.entries()].flatMap(([index, queue]) => {
      const out = queue.arguments["x-dead-letter-exchange"];
      const isTier = queue.role === "tier" && typeof out === "string";
      const others = topology.exchanges.filter(({ role, name }) => role === "attempt" && name !== out);
      return isTier
        ? others.map(({ name }) => ({
            name: `${queue.name} leads to ${name}`,
            topology: {
              ...topology,
              queues: replaced(topology.queues, index, {
                ...queue,
                arguments: { ...queue.arguments, "x-dead-letter-exchange": name },
              }),
            },
          }))
        : [];
    }),
  ];
}

/** A binding too many, from each source to each queue and by each kind of key. */
function added(topology: Topology): Mutant[] {
  const sources = topology.exchanges.filter(({ role }) => role === "source");
  return sources.flatMap((source) =>
    topology.queues
      .filter(({ consumer }) => consumer !== "shipping")
      .flatMap((queue) =>
        ["order.placed", "order.vip", "refund.made", "#"]
          // These are declared for the work queue, or add nothing to the existing ones.
          .filter((key) => queue.role !== "work" || !["order.placed", "order.vip"].includes(key))
          .map((routingKey) => ({
            name: `a binding ${source.name} → ${queue.name} (${routingKey}) added`,
            topology: {
              ...topology,
              bindings: [
                ...topology.bindings,
                {
                  source: source.name,
                  destination: queue.name,
                  destinationKind: "queue" as const,
                  routingKey,
                  arguments: {},
                },
              ],
            },
          })),
      ),
  );
}

/** Every exchange of every other kind. */
function retyped(topology: Topology): Mutant[] {
  return [...topology.exchanges.entries()]
    .filter(([, { consumer }]) => consumer !== "shipping")
    .flatMap(([index, exchange]) =>
      (["direct", "fanout", "topic", "headers"] as const)
        .filter((kind) => kind !== exchange.kind)
        .map((kind) => ({
          name: `${exchange.name} as a ${kind} exchange`,
          topology: { ...topology, exchanges: replaced(topology.exchanges, index, { ...exchange, kind }) },
        })),
    );
}
