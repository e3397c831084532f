import { expect, test } from "vitest";

import { findingsIn, policy, quorum } from "../support/audit.ts";
import { binding, bound, deadThrough, deadTo, exchange, queue, waiting } from "../support/known-topologies.ts";

// Topologies that people published with their code, each with the faults that its author would have to admit.

const safe = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish", "x-delivery-limit": 5 };

const published: readonly (readonly [what: string, definitions: object, findings: readonly string[]])[] = [
  [
    "a policy that dead-letters to a queue by the default exchange after ten seconds",
    {
      queues: [queue("example"), queue("dlx_example")],
      policies: [policy("ttl-dlx", "^example$", { "message-ttl": 10_000, ...withoutPrefix(deadTo("dlx_example")) })],
    },
    [],
  ],
  [
    "a delay queue behind an exchange of its own, and two consumers without dead-letter exchanges",
    {
      exchanges: [exchange("render", "topic"), exchange("delay", "topic")],
      queues: [queue("delay", waiting(2_000, "render", "delayed.render")), queue("me-render"), queue("render")],
      bindings: bound("delay > delay: #", "render > me-render: #.me-render", "render > render: #.render"),
    },
    ["RD420 me-render", "RD420 render"],
  ],
  [
    "an undeclared dead-letter exchange",
    {
      exchanges: [exchange("materials", "topic")],
      queues: [queue("material.uploaded", { "x-max-priority": 10, ...deadThrough("materials_dlq") })],
      bindings: [binding("materials", "material.uploaded", "material.uploaded")],
    },
    ["RD411 material.uploaded"],
  ],
  ["a queue and its dead queue", { queues: [queue("clicks", deadTo("clicks.dlq")), queue("clicks.dlq")] }, []],
  [
    "a dead queue that keeps its letters for a day",
    { queues: [queue("scraped", deadTo("scraped_dlq")), queue("scraped_dlq", { "x-message-ttl": 86_400_000 })] },
    ["RD431 scraped_dlq"],
  ],
  [
    "queues of clients that come and go, with one dead queue for all",
    {
      exchanges: [exchange("peril_topic", "topic"), exchange("peril_dlx", "fanout")],
      queues: [
        queue("war", deadThrough("peril_dlx")),
        {
          ...queue("pause.me", deadThrough("peril_dlx")),
          durable: false,
          auto_delete: true,
          exclusive: true,
        },
        queue("peril_dlq"),
      ],
      bindings: bound("peril_topic > war: war.*", "peril_topic > pause.me: pause", "peril_dlx > peril_dlq"),
    },
    [],
  ],
  [
    "retry stages that the consumer publishes into, which come back by the default exchange",
    {
      exchanges: [exchange("events", "topic"), exchange("events.dlx", "direct")],
      queues: [
        quorum("search", deadThrough("events.dlx", "search")),
        ...[1_000, 10_000].map((ttl) => queue(`search.retry.${ttl}`, { ...deadTo("search"), "x-message-ttl": ttl })),
        queue("search.dlq"),
      ],
      bindings: [binding("events", "search", "product.*"), binding("events.dlx", "search.dlq", "search")],
    },
    [],
  ],
  [
    "invalid messages behind a fanout exchange",
    {
      exchanges: [exchange("agenda", "topic"), exchange("agenda.dead", "fanout")],
      queues: [queue("reminders", deadThrough("agenda.dead")), queue("appointments.invalid")],
      bindings: [binding("agenda", "reminders", "appointment.#"), binding("agenda.dead", "appointments.invalid")],
    },
    [],
  ],
  [
    "a dead-letter exchange that a framework was expected to make",
    {
      exchanges: [exchange("celery", "direct")],
      queues: [queue("celery", deadThrough("celery.dlx", "celery.dlx"))],
      bindings: [binding("celery", "celery", "celery")],
    },
    ["RD411 celery"],
  ],
  [
    "a worker with a fanout exchange for its dead letters",
    {
      exchanges: [exchange("worker.exchange", "direct"), exchange("deadLetter.exchange", "fanout")],
      queues: [queue("worker.queue", deadThrough("deadLetter.exchange")), queue("deadLetter.queue")],
      bindings: bound("worker.exchange > worker.queue: email", "deadLetter.exchange > deadLetter.queue: email"),
    },
    [],
  ],
  [
    "a dead-letter routing key that names no queue",
    {
      exchanges: [exchange("main-exchange", "direct")],
      queues: [queue("task-queue", deadTo("task-dlq")), queue("dead-letter-queue")],
      bindings: [binding("main-exchange", "task-queue", "task")],
    },
    ["RD412 task-queue"],
  ],
  [
    "a queue for retries without a time to live, which dead letters stay in",
    {
      exchanges: [exchange("notifications", "direct")],
      queues: [
        queue("main", deadThrough("notifications", "retry")),
        queue("retry", deadThrough("notifications", "send")),
        queue("delayed", deadThrough("notifications", "send")),
      ],
      bindings: bound("notifications > main: send", "notifications > retry: retry", "notifications > delayed: delay"),
    },
    ["RD439 delayed", "RD439 retry"],
  ],
  [
    "rejections that go into the first of several retry queues again and again",
    {
      exchanges: [exchange("dlx", "direct")],
      queues: [
        queue("delivery", deadThrough("dlx", "retry.1")),
        queue("dlt"),
        ...[1, 2].map((number) =>
          queue(`delivery.retry.${number}`, { ...deadTo("delivery"), "x-message-ttl": number * 1_000 }),
        ),
      ],
      bindings: [
        binding("dlx", "dlt", "failed"),
        ...[1, 2].map((number) => binding("dlx", `delivery.retry.${number}`, `retry.${number}`)),
      ],
    },
    ["RD416 delivery"],
  ],
  [
    "a retry queue whose key fits the consumer's own pattern",
    {
      exchanges: [exchange("events", "topic"), exchange("retry", "direct"), exchange("dlx", "fanout")],
      queues: [
        queue("payments", deadThrough("retry", "retry")),
        queue("payments.retry", waiting(5_000, "events", "payments.retry")),
        queue("payments.dead"),
      ],
      bindings: bound("events > payments: payments.*", "retry > payments.retry: retry", "dlx > payments.dead: dead"),
    },
    ["RD416 payments"],
  ],
  [
    "a saga with a dead queue for each consumer, and a retry queue that the consumer publishes into",
    {
      exchanges: [exchange("saga", "direct"), exchange("saga.dead", "direct")],
      queues: [
        quorum("saga.orders.dead"),
        quorum("saga.orders", { ...safe, ...deadThrough("saga.dead", "orders") }),
        quorum("saga.orders.retry", { ...safe, ...waiting(1_000, "saga", "orders") }),
      ],
      bindings: bound(
        "saga.dead > saga.orders.dead: orders",
        "saga > saga.orders: orders",
        "saga > saga.orders.retry: retry.orders",
      ),
    },
    [],
  ],
  [
    "a quorum queue whose messages expire into its dead queue",
    {
      exchanges: [exchange("dlx", "direct")],
      queues: [quorum("main.queue", waiting(600_000, "dlx", "dlq")), quorum("dlq")],
      bindings: [binding("dlx", "dlq", "dlq")],
    },
    [],
  ],
  [
    "waits of three lengths, of which dead letters take the first alone",
    {
      exchanges: [exchange("orders", "topic"), exchange("retry", "topic")],
      queues: [
        queue("payment", deadThrough("retry", "retry.1")),
        ...[5, 15, 45].map((seconds) =>
          queue(`payment.wait.${seconds}s`, waiting(seconds * 1_000, "orders", "order.placed")),
        ),
      ],
      bindings: [
        binding("orders", "payment", "order.placed"),
        ...[5, 15, 45].map((seconds, index) => binding("retry", `payment.wait.${seconds}s`, `retry.${index + 1}`)),
      ],
    },
    ["RD416 payment"],
  ],
  [
    "bounded queues that refuse, without a place for rejected messages",
    {
      exchanges: [exchange("jobs", "direct"), exchange("status", "direct")],
      queues: [
        queue("host.jobs", { "x-max-length": 1_024, "x-overflow": "reject-publish", "x-max-priority": 128 }),
        queue("status_update", { "x-max-length": 128, "x-overflow": "reject-publish" }),
      ],
      bindings: [binding("jobs", "host.jobs", "host"), binding("status", "status_update", "status")],
    },
    ["RD420 host.jobs", "RD420 status_update"],
  ],
  ["a queue that dead-letters to itself", { queues: [queue("images", deadTo("images"))] }, ["RD414 images"]],
];

test.each(published)("%s", (_, definitions, findings) => {
  const found = findingsIn(definitions, "3.13.7").flatMap(({ code, value, message }) =>
    (Array.isArray(value) ? (value as string[]) : [message.split(" ")[0] ?? ""]).map((name) => `${code} ${name}`),
  );
  expect(found.filter((each) => !each.startsWith("RD415")).toSorted()).toEqual(findings.toSorted());
});

/** A policy has the same keys without their prefix. */
function withoutPrefix(given: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key.replace(/^x-/, ""), value]));
}
