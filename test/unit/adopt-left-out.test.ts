import { expect, test } from "vitest";

import { wholeName } from "../../src/foreign/purpose.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { binding, deadThrough, exchange, queue, vhosts, waiting } from "../support/known-topologies.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };

interface Parts {
  readonly queues: readonly object[];
  readonly exchanges?: readonly object[];
  readonly bindings?: readonly object[];
  readonly policies?: readonly object[];
}

const adopted = ({ queues, exchanges = [], bindings = [], policies = [] }: Parts): Adopted =>
  adoptText(JSON.stringify({ rabbitmq_version: "4.3.6", vhosts, exchanges, queues, bindings, policies }));

const policy = (name: string, pattern: string): object => ({
  vhost: "/",
  name,
  pattern,
  "apply-to": "queues",
  priority: 5,
});

const consumersOf = ({ draft }: Adopted): readonly string[] => Object.keys(draft.system.consumers);

const factsOf = ({ unsaid }: Adopted): readonly string[] => unsaid.map(({ place, fact }) => `${place}: ${fact}`);

const deadQueuesOf = ({ proved }: Adopted) =>
  Object.fromEntries(proved.compiled.contracts.map(({ workQueue, deadQueue }) => [workQueue, deadQueue]));

test("a queue for failures of a longer name is another consumer's", () => {
  const found = adopted({
    exchanges: [exchange("events", "topic"), exchange("dlx", "direct")],
    queues: [
      queue("order", quorum),
      queue("reorder", { ...quorum, ...deadThrough("dlx", "reorder") }),
      queue("reorder.parkinglot", quorum),
      queue("reorder.error", quorum),
    ],
    bindings: [
      binding("events", "order", "o.*"),
      binding("events", "reorder", "r.*"),
      binding("dlx", "reorder.parkinglot", "reorder"),
    ],
  });
  expect(deadQueuesOf(found)).toEqual({ order: "order.parkinglot", reorder: "reorder.parkinglot" });
});

test("a capital letter begins another word", () => {
  expect(["ordersDlq", "orders_dlq", "dlq.orders"].map((name) => wholeName("orders").test(name))).toEqual([
    true,
    true,
    true,
  ]);
  expect([wholeName("order").test("ordersDlq"), wholeName("ORDER").test("ORDERS.DLQ")]).toEqual([false, false]);
});

test("a short name within a word makes no template", () => {
  const { draft } = adopted({
    exchanges: [exchange("events", "topic"), exchange("retry", "topic"), exchange("requeue", "direct")],
    queues: [
      ...["a", "b"].map((name) => queue(name, { ...quorum, ...deadThrough("retry", name) })),
      queue("wait", { ...quorum, ...waiting(30_000, "requeue") }),
      queue("failed", quorum),
    ],
    bindings: [
      binding("retry", "wait", "#"),
      ...["a", "b"].flatMap((name) => [binding("events", name, `${name}.*`), binding("requeue", name, name)]),
    ],
  });
  expect(draft.system).not.toHaveProperty("names.dead");
});

test.for([
  ["mqtt-subscription-dev43qos1", quorum, /^mqtt-subscription-dev43qos1: it belongs to one client of MQTT/],
  ["billing.7f1dbb0a", { "x-expires": 300_000 }, /^billing.7f1dbb0a: the broker deletes it by itself/],
] as const)("the queue %s of a single instance has no consumer", ([name, given, fact]) => {
  const found = adopted({
    exchanges: [exchange("orders", "topic")],
    queues: [queue("billing", quorum), queue(name, given)],
    bindings: [binding("orders", "billing", "order.#"), binding("orders", name, "dev.43.#")],
  });
  expect(consumersOf(found)).toEqual(["billing"]);
  expect(factsOf(found)).toContainEqual(expect.stringMatching(fact));
});

test("a policy that lets all queues expire shows no single instance", () => {
  const found = adopted({
    queues: [queue("billing", quorum)],
    policies: [{ ...policy("all", ".*"), definition: { expires: 86_400_000 } }],
  });
  expect(consumersOf(found)).toEqual(["billing"]);
});
