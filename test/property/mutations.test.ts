import { expect, test } from "vitest";

import type { CompiledSystem, QueueResource, Topology } from "../../src/index.ts";
import { brokers, compile, parseTarget } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { checked } from "../support/examples.ts";

// Each topology is broken in every way a person might, and the proof has to fail. A proof that cannot fail proves nothing.

interface Mutant {
  readonly name: string;
  readonly topology: Topology;
}

const without = <Item>(items: readonly Item[], index: number): Item[] => items.filter((_, each) => each !== index);
const replaced = <Item>(items: readonly Item[], index: number, item: Item): Item[] => items.with(index, item);

function mutantsOf(topology: Topology): Mutant[] {
  const isOurs = (consumer: string | null): boolean => consumer !== "shipping";
  const queues = [...topology.queues.entries()].filter(([, queue]) => isOurs(queue.consumer));
  const argued = (
    index: number,
    queue: QueueResource,
    change: Record<string, string | number | undefined>,
  ): Topology => ({
    ...topology,
    queues: replaced(topology.queues, index, {
      ...queue,
      arguments: JSON.parse(JSON.stringify({ ...queue.arguments, ...change })),
    }),
  });
  return [
    ...[...topology.bindings.entries()]
      .filter(([, binding]) => !`${binding.source} ${binding.destination}`.includes("shipping"))
      .map(([index, each]) => ({
        name: `without the binding ${each.source} → ${each.destination} (${each.routingKey})`,
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
      .filter(([, policy]) =>
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
      if (policy.name.includes("shipping")) return [];
      const defined = (definition: Record<string, string | number>): Topology => ({
        ...topology,
        policies: replaced(topology.policies, index, { ...policy, definition }),
      });
      const limit = policy.definition["delivery-limit"];
      const ttlMs = policy.definition["message-ttl"];
      return [
        ...(limit === undefined
          ? []
          : [
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

/** Mutants that behave no differently for a message, and so cannot be told by any proof about one. */
const equivalent: readonly RegExp[] = [
  // A topic exchange matches the wildcard as well.
  /without the binding shop\.orders → shop\.billing \(order\.placed\)/,
  // Nothing is routed there as long as every consumer of the declaration is deployed.
  /shop\.wait\.undeliverable|without the alternate of shop\.wait\.again/,
];

const cases = [
  ["4.3", "native"],
  ["4.3", "deferred"],
  ["4.3", "staged"],
  ["4.3", "waits"],
  ["4.0", "staged"],
  ["4.0", "waits"],
  ["3.10", "staged"],
  ["3.10", "waits"],
] as const;

test.for(cases)("on %s %s every mutant is caught, or behaves no differently", ([version, strategy]) => {
  const shared = strategy === "native" || strategy === "deferred";
  const consumer = {
    from: { orders: ["order.placed", "order.#"] },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    retry: {
      attempts: 4,
      backoff:
        strategy === "native" ? { kind: "constant", delay: "5s" } : { kind: "steps", delays: ["1s", "2s", "5s"] },
    },
    ...(shared ? {} : { crash: { deliveries: 3 } }),
  };
  const target = parseTarget(`rabbitmq@${version}`, strategy);
  if (!target.ok) throw new Error("no target");
  const compiled = compile(
    checked({
      name: "shop",
      sources: { orders: { kind: "topic" } },
      consumers: { billing: consumer, shipping: consumer },
    }),
    target.value,
  );
  if (!compiled.ok) throw new Error("it does not compile");
  const violationsOf = (value: CompiledSystem<"rabbitmq">): readonly unknown[] =>
    verifyAll(brokers.rabbitmq.subjectsOf(value, target.value)).flatMap(({ violations }) => violations);
  expect(violationsOf(compiled.value)).toEqual([]);
  const mutants = mutantsOf(compiled.value.topology);
  const survivors = mutants
    .filter(({ topology }) => violationsOf({ ...compiled.value, topology }).length === 0)
    .map(({ name }) => name)
    .filter((name) => !equivalent.some((pattern) => pattern.test(name)));
  expect(mutants.length).toBeGreaterThan(8);
  expect(survivors).toEqual([]);
});
