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
