import { expect, test } from "vitest";

import { constantDelay, onServiceBus, onSqs, priceOf, withJitter } from "../../scripts/costs-page.ts";

/** For each kind of resource: those that all consumers share, and those that each consumer adds. */
type Cost = Readonly<Record<string, readonly [shared: number, each: number]>>;

// Work queue, dead queue. The source and the exchange for dead letters are shared.
const two: Cost = { exchanges: [2, 0], policies: [0, 2], queues: [0, 2], bindings: [0, 2] };
const onTopic = { topics: [1, 0], subscriptions: [0, 1] } as const satisfies Cost;
// Work queue, dead queue, and a queue for undelivered messages.
const sqs: Cost = { queues: [0, 3], ...onTopic, mappings: [0, 0], alarms: [0, 0] };
// Service Bus has a dead-letter queue inside of each queue.
const servicebus: Cost = { queues: [0, 1], ...onTopic, alerts: [0, 0] };

test.each([
  {
    title: "RabbitMQ, a constant delay",
    systems: constantDelay,
    costs: {
      native: two,
      deferred: two,
      // Three tiers and the queue for undeliverable messages; each consumer has its exchange `failed`.
      staged: { exchanges: [10, 1], policies: [4, 3], queues: [4, 2], bindings: [15, 3] },
      // One wait queue and the queue for undeliverable messages; a key for each attempt.
      waits: { exchanges: [5, 0], policies: [2, 2], queues: [2, 2], bindings: [2, 5] },
    },
  },
  {
    title: "RabbitMQ, an exponential delay with jitter",
    systems: withJitter,
    // Five wait queues for each of three delays, and the queue for undeliverable messages.
    costs: { deferred: two, waits: { exchanges: [19, 0], policies: [16, 2], queues: [16, 2], bindings: [16, 5] } },
  },
  { title: "Amazon SQS", systems: onSqs, costs: { redrive: sqs, visibility: sqs } },
  {
    title: "Azure Service Bus",
    systems: onServiceBus,
    costs: { immediate: servicebus, scheduled: servicebus, "ttl-tier": { ...servicebus, queues: [0, 2] } },
  },
] as const satisfies readonly { title: string; systems: unknown; costs: Readonly<Record<string, Cost>> }[])(
  "the resources under each strategy: $title",
  ({ systems, costs }) => {
    expect(systems.map(({ target }) => target.strategy)).toEqual(Object.keys(costs));
    for (const system of systems) {
      const { strategy } = system.target;
      const wanted: Cost = (costs as Readonly<Record<string, Cost>>)[strategy] ?? {};
      for (const consumers of [1, 2, 30]) {
        const { head, row } = priceOf(system, consumers);
        const counts = Object.fromEntries(head.slice(1, -2).map((kind, index) => [kind, Number(row[index + 1])]));
        const expected = Object.entries(wanted).map(([kind, [shared, each]]) => [kind, shared + each * consumers]);
        expect(counts, `${strategy}, ${consumers}`).toEqual(Object.fromEntries(expected));
        // Into the queue where it waits, and back.
        expect(row.at(-1), strategy).toBe(["staged", "waits", "ttl-tier"].includes(strategy) ? "2" : "0");
      }
    }
  },
);
