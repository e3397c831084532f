import { expect, test } from "vitest";

import {
  type Parts,
  binding,
  bound,
  deadThrough,
  deadTo,
  exchange,
  exported,
  queue,
  waiting,
} from "../support/known-topologies.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };

const topologies: readonly { readonly name: string; readonly parts: Parts; readonly sources: object }[] = [
  {
    name: "the dead-letter exchange of another consumer",
    parts: {
      exchanges: [exchange("bus", "topic"), exchange("partner", "topic")],
      queues: [
        queue("a", quorum),
        queue("b", { ...quorum, ...deadThrough("bus", "failed.b") }),
        queue("b.dlq", quorum),
      ],
      bindings: bound("bus > a: a.*", "partner > a: #", "bus > b: b.*", "bus > b.dlq: failed.b"),
    },
    sources: { a: { bus: ["a.*"], partner: "all" }, b: { bus: ["b.*"] } },
  },
  {
    name: "the exchange that a reminder comes back by",
    parts: {
      exchanges: [exchange("commands", "direct"), exchange("events", "topic")],
      queues: [queue("mail", quorum), queue("reminder.24h", waiting(86_400_000, "events", "reminder.due"))],
      bindings: [binding("commands", "mail", "send"), binding("events", "mail", "reminder.#")],
    },
    sources: { mail: { commands: ["send"], events: ["reminder.#"] } },
  },
  {
    name: "the exchange that retries come back by with their own keys",
    parts: {
      exchanges: [exchange("hutch", "topic"), exchange("partner", "topic")],
      queues: [
        queue("invoices", quorum),
        queue("hutch_delay_5s", { "x-message-ttl": 5_000, "x-dead-letter-exchange": "hutch" }),
      ],
      bindings: [binding("hutch", "invoices", "order.placed"), binding("partner", "invoices", "#")],
    },
    sources: { invoices: { hutch: ["order.placed"], partner: "all" } },
  },
  {
    name: "the exchange of an endpoint",
    parts: {
      exchanges: [exchange("async", "fanout"), exchange("legacy", "topic")],
      queues: [queue("async", quorum), queue("delay_async__86400000_delay", waiting(86_400_000, "async", ""))],
      bindings: [binding("async", "async", ""), binding("legacy", "async", "order.#")],
    },
    sources: { async: { async: "all", legacy: ["order.#"] } },
  },
];

test.each(topologies)("$name is a source beside another one", ({ parts, sources }) => {
  const { draft } = adoptText(exported(parts));
  const found = Object.entries(draft.system.consumers).map(([name, each]) => [name, (each as { from?: object }).from]);
  expect(Object.fromEntries(found)).toEqual(sources);
});

/** Retries of billing come back by the exchange. Other messages come from orders. */
const returningBy = (name: string) =>
  adoptText(
    exported({
      exchanges: [exchange("orders", "topic"), exchange(name, "direct")],
      queues: [queue("billing", { ...quorum, ...deadTo("wait") }), queue("wait", waiting(5_000, name, "billing"))],
      bindings: [binding("orders", "billing", "order.#"), binding(name, "billing", "billing")],
    }),
  ).draft.system;

test.each(["back-office", "deferred-payments", "returns", "wait-list"])(
  "the exchange %s is a source, because its name is one of a business",
  (name) => {
    const from = { orders: ["order.#"], [name]: ["billing"] };
    expect(returningBy(name).consumers).toMatchObject({ billing: { from } });
  },
);

test.each(["billing.retry", "orders.dlx", "again", "requeue", "billing-back"])(
  "the exchange %s is no source beside another one, because only letters pass it",
  (name) => {
    const { consumers, sources } = returningBy(name);
    expect(consumers).toMatchObject({ billing: { from: { orders: ["order.#"] } } });
    expect(Object.keys(sources ?? {})).toEqual(["orders"]);
  },
);
