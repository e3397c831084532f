import type { QueueResource, Topology } from "../../src/index.ts";

// Every way in which a person might break a topology.

export interface Mutant {
  readonly name: string;
  readonly topology: Topology;
}

type Kind = "queues" | "exchanges" | "bindings" | "policies";
type Resource<Of extends Kind> = Topology[Of][number];
type Policy = Resource<"policies">;
type Break = (topology: Topology) => readonly Mutant[];

export function mutantsOf(topology: Topology): Mutant[] {
  return [added, retyped, argued, missing, misdirected, misled, exchanged, overlapping, redefined].flatMap((each) =>
    each(topology),
  );
}

/** A topology in which other resources stand for one; none leaves it out. */
function replaced<Of extends Kind>(topology: Topology, kind: Of, old: Resource<Of>, ...by: Resource<Of>[]): Topology {
  const all: readonly Resource<Of>[] = topology[kind];
  return { ...topology, [kind]: all.flatMap((each) => (each === old ? by : [each])) };
}

function without<Of extends Kind>(topology: Topology, kind: Of, old: Resource<Of>): Topology {
  return replaced(topology, kind, old);
}

function withArguments(
  topology: Topology,
  queue: QueueResource,
  change: Readonly<Record<string, string | number | boolean | undefined>>,
): Topology {
  const given = JSON.parse(JSON.stringify({ ...queue.arguments, ...change })) as QueueResource["arguments"];
  return replaced(topology, "queues", queue, { ...queue, arguments: given });
}

const isOurs = ({ consumer }: { readonly consumer: string | null }): boolean => consumer !== "shipping";

const argued: Break = (topology) =>
  topology.queues.filter(isOurs).flatMap((queue) =>
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
      topology: withArguments(topology, queue, change as Record<string, string>),
    })),
  );

const missing: Break = (topology) => {
  const { bindings, exchanges, policies } = topology;
  const queues = topology.queues.filter(isOurs);
  const hasPolicy = ({ name, role }: QueueResource): boolean =>
    role !== "dead" && role !== "undeliverable" && policies.some((policy) => policy.name === name);
  const needed = new Set(queues.filter(hasPolicy).map(({ name }) => name));
  return [
    ...bindings
      .filter(({ source, destination }) => !`${source} ${destination}`.includes("shipping"))
      .map((each) => ({
        name: `without the binding ${each.source} → ${each.destination} (${each.arguments["x-last-death-exchange"] ?? each.routingKey})`,
        topology: without(topology, "bindings", each),
      })),
    ...exchanges
      .filter(isOurs)
      .map((each) => ({ name: `without the exchange ${each.name}`, topology: without(topology, "exchanges", each) })),
    ...exchanges
      .filter((each) => isOurs(each) && "alternate-exchange" in each.arguments)
      .map((each) => ({
        name: `without the alternate of ${each.name}`,
        topology: replaced(topology, "exchanges", each, { ...each, arguments: {} }),
      })),
    ...policies
      .filter(({ applyTo, name }) => (applyTo === "exchanges" && !name.includes("shipping")) || needed.has(name))
      .map((each) => ({ name: `without the policy of ${each.name}`, topology: without(topology, "policies", each) })),
  ];
};

/** Dead letters that go astray, and limits that are gone. */
const misdirected: Break = (topology) => {
  const having = (argument: string): readonly QueueResource[] =>
    topology.queues.filter((queue) => isOurs(queue) && argument in queue.arguments);
  const mutant = (name: string, queue: QueueResource, change: Parameters<typeof withArguments>[2]): Mutant => ({
    name: `${name} ${queue.name}`,
    topology: withArguments(topology, queue, change),
  });
  const [exchange, key] = ["x-dead-letter-exchange", "x-dead-letter-routing-key"] as const;
  return [
    ...having(exchange).flatMap((queue) => [
      mutant("no dead-letter exchange on", queue, { [exchange]: undefined, [key]: undefined }),
      mutant("a dead-letter exchange that is not there on", queue, { [exchange]: "nowhere" }),
      {
        name: `dead letters of ${queue.name} back to the source`,
        topology: withArguments(topology, queue, { [exchange]: "shop.orders" }),
      },
    ]),
    ...having("x-delivery-limit").map((queue) =>
      mutant("no limit of its own on", queue, { "x-delivery-limit": undefined }),
    ),
    ...having("x-dead-letter-strategy").map((queue) =>
      mutant("at-most-once dead-lettering on", queue, { "x-dead-letter-strategy": undefined }),
    ),
    ...having(key).flatMap((queue, _, tiers) => [
      ...tiers
        .filter((other) => other !== queue)
        .slice(0, 1)
        .map((other) => mutant(`the key of ${other.name} on`, queue, { [key]: other.arguments[key] })),
      mutant("another attempt key on", queue, { [key]: "redeliver:shop.billing:attempt:2x" }),
      mutant("no attempt key on", queue, { [key]: undefined }),
    ]),
  ];
};

/** Ways on that lead to another place, for exchanges and tiers that consumers share. */
const misled: Break = (topology) => {
  const { bindings, exchanges, policies, queues } = topology;
  const rebound = (name: string, old: Resource<"bindings">, change: Partial<Resource<"bindings">>): Mutant => ({
    name,
    topology: replaced(topology, "bindings", old, { ...old, ...change }),
  });
  const again = new Set(exchanges.filter(({ role }) => role === "again").map(({ name }) => name));
  return [
    ...bindings
      .filter(({ source, destination }) => again.has(source) && destination === "shop.billing")
      .filter(({ routingKey }) => routingKey.includes("billing"))
      .flatMap((each) => [
        rebound(`the way back with the other consumer's key instead of ${each.routingKey}`, each, {
          routingKey: each.routingKey.replace("billing", "shipping"),
        }),
        rebound(`the way back with the key ${each.routingKey} to the other consumer`, each, {
          destination: "shop.shipping",
        }),
      ]),
    ...bindings.flatMap((each) => {
      const { "x-last-death-exchange": exchange, ...others } = each.arguments;
      if (typeof exchange !== "string" || each.destinationKind === "exchange") return [];
      const before = `${exchange.slice(0, -1)}${Number(exchange.slice(-1)) + 1}`;
      return [
        rebound(`after ${exchange} to the dead queue instead of ${each.destination}`, each, {
          destination: "shop.dead",
          destinationKind: "exchange",
        }),
        rebound(`to ${each.destination} after every attempt`, each, { arguments: others }),
        rebound(`to ${each.destination} after the attempt before`, each, {
          arguments: { ...each.arguments, "x-last-death-exchange": before },
        }),
      ];
    }),
    ...bindings
      .filter((each) => "x-last-death-reason" in each.arguments)
      .map((each) =>
        rebound("the reason swapped", each, {
          arguments: { ...each.arguments, "x-last-death-reason": "delivery_limit" },
        }),
      ),
    ...policies
      .filter(({ applyTo, name }) => applyTo === "exchanges" && name.includes("billing"))
      .flatMap((policy) =>
        ["shop.dead", "shop.again", "nowhere", "shop.orders"].map((to) => ({
          name: `${policy.name} led on to ${to}`,
          topology: replaced(topology, "policies", policy, { ...policy, definition: { "alternate-exchange": to } }),
        })),
      ),
    ...queues.flatMap((queue) => {
      const out = queue.arguments["x-dead-letter-exchange"];
      if (queue.role !== "tier" || typeof out !== "string") return [];
      return exchanges
        .filter(({ role, name }) => role === "attempt" && name !== out)
        .map(({ name }) => ({
          name: `${queue.name} leads to ${name}`,
          topology: withArguments(topology, queue, { "x-dead-letter-exchange": name }),
        }));
    }),
  ];
};

/** The mutants in which two consumers swap their keys. No key is missing, and none is there twice. */
export const swappedKeys = [
  "the keys that lead two consumers' messages back swapped",
  "the keys that two work queues give to failed messages swapped",
] as const;

const exchanged: Break = (topology) => {
  const swapped = (text: string): string =>
    text.replace(/billing|shipping/, (name) => (name === "billing" ? "shipping" : "billing"));
  const again = new Set(topology.exchanges.filter(({ role }) => role === "again").map(({ name }) => name));
  if (again.size === 0) return [];
  const bindings = topology.bindings.map((each) =>
    again.has(each.source) ? { ...each, routingKey: swapped(each.routingKey) } : each,
  );
  const key = "x-dead-letter-routing-key";
  const queues = topology.queues.map((queue) =>
    queue.role === "work"
      ? { ...queue, arguments: { ...queue.arguments, [key]: swapped(String(queue.arguments[key])) } }
      : queue,
  );
  const [back, failed] = swappedKeys;
  return [
    { name: back, topology: { ...topology, bindings } },
    { name: failed, topology: { ...topology, queues } },
  ];
};

const ofQueues = ({ policies }: Topology): readonly Policy[] =>
  policies.filter(({ name, applyTo }) => !name.includes("shipping") && applyTo !== "exchanges");

/** A second policy for a queue. The first of two policies with the same priority wins, so the intruder comes first. */
const overlapping: Break = (topology) => {
  const intruded = (name: string, pattern: string, priority: number): Mutant => {
    const intruder = { name: "intruder", pattern, applyTo: "queues", priority, definition: { "max-length": 10 } };
    return { name, topology: { ...topology, policies: [intruder as Policy, ...topology.policies] } };
  };
  return ofQueues(topology).flatMap(({ name, pattern, priority }) => [
    intruded(`a policy with a higher priority over ${name}`, `${name}$`, 2_000),
    intruded(`a policy with the same priority over ${name}`, pattern, priority),
  ]);
};

const redefined: Break = (topology) =>
  ofQueues(topology).flatMap((policy) => {
    const { definition } = policy;
    const mutant = (name: string, change: Policy["definition"]): Mutant => ({
      name,
      topology: replaced(topology, "policies", policy, { ...policy, definition: { ...definition, ...change } }),
    });
    const limit = definition["delivery-limit"];
    const ttlMs = definition["message-ttl"];
    const [min, max] = [definition["delayed-retry-min"], definition["delayed-retry-max"]].map(Number) as [
      number,
      number,
    ];
    return [
      mutant(`drop-head on ${policy.name}`, { overflow: "drop-head" }),
      mutant(`a time to live of a second on ${policy.name}`, { "message-ttl": 900 }),
      ...(limit === undefined
        ? []
        : [
            mutant(`a delivery limit of -1 on ${policy.name}`, { "delivery-limit": -1 }),
            mutant(`the delivery limit as a text on ${policy.name}`, { "delivery-limit": String(limit) }),
            mutant(`one delivery more on ${policy.name}`, { "delivery-limit": Number(limit) + 1 }),
            mutant(`one delivery less on ${policy.name}`, { "delivery-limit": Number(limit) - 1 }),
          ]),
      ...(typeof ttlMs === "number"
        ? [
            mutant(`1 ms less on ${policy.name}`, { "message-ttl": ttlMs - 1 }),
            mutant(`the time to live as a text on ${policy.name}`, { "message-ttl": String(ttlMs) }),
            mutant(`1 ms more on ${policy.name}`, { "message-ttl": ttlMs + 1 }),
          ]
        : []),
      ...("delayed-retry-min" in definition
        ? [mutant("delayed retry 1 ms shorter", { "delayed-retry-min": min - 1, "delayed-retry-max": max - 1 })]
        : []),
    ];
  });

/** A binding too many, from each source to each queue and by each kind of key. */
const added: Break = (topology) =>
  topology.exchanges
    .filter(({ role }) => role === "source")
    .flatMap((source) =>
      topology.queues.filter(isOurs).flatMap((queue) =>
        ["order.placed", "order.vip", "refund.made", "#"]
          // These are declared for the work queue, or add nothing to the existing ones.
          .filter((key) => queue.role !== "work" || !["order.placed", "order.vip"].includes(key))
          .map((routingKey) => {
            const ends = { source: source.name, destination: queue.name, destinationKind: "queue" } as const;
            return {
              name: `a binding ${source.name} → ${queue.name} (${routingKey}) added`,
              topology: { ...topology, bindings: [...topology.bindings, { ...ends, routingKey, arguments: {} }] },
            };
          }),
      ),
    );

/** Every exchange of every other kind. */
const retyped: Break = (topology) =>
  topology.exchanges.filter(isOurs).flatMap((exchange) =>
    (["direct", "fanout", "topic", "headers"] as const)
      .filter((kind) => kind !== exchange.kind)
      .map((kind) => ({
        name: `${exchange.name} as a ${kind} exchange`,
        topology: replaced(topology, "exchanges", exchange, { ...exchange, kind }),
      })),
  );
