import { describe, expect, test } from "vitest";

import { wholeName } from "../../src/foreign/purpose.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import {
  type Parts,
  binding,
  bound,
  deadThrough,
  exchange,
  exported,
  queue,
  vhosts,
  waiting,
} from "../support/known-topologies.ts";
import { adopting, adoptText, factsOf, reportedByAdopt } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };

const adopted = (parts: Parts): Adopted => adoptText(exported(parts));

const policy = (name: string, pattern: string): object => ({
  vhost: "/",
  name,
  pattern,
  "apply-to": "queues",
  priority: 5,
});

const consumersOf = ({ draft }: Adopted): readonly string[] => Object.keys(draft.system.consumers);

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
    bindings: bound("events > order: o.*", "events > reorder: r.*", "dlx > reorder.parkinglot: reorder"),
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
  ["celeryev.9a2c", { "x-expires": 60_000 }, /^celeryev\.9a2c: Celery makes it for events/],
  ["celery@w1.celery.pidbox", { "x-expires": 10_000 }, /^celery@w1\.celery\.pidbox: Celery makes it for events/],
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

/** Producers publish to a queue, and a policy lets its messages die there after some time. */
const held = (next: string, ...others: readonly object[]): Adopted =>
  adopted({
    exchanges: [exchange("reservations", "topic")],
    queues: [queue("reservation.hold", quorum), queue(next, quorum), ...others],
    bindings: [binding("reservations", "reservation.hold", "reserved")],
    policies: [
      {
        ...policy("hold", "^reservation\\.hold$"),
        definition: { "message-ttl": 900_000, "dead-letter-exchange": "", "dead-letter-routing-key": next },
      },
    ],
  });
const isDelay = expect.stringMatching(
  /^reservation.hold: its messages go on to reservation.expire after \S+, so it seems to be a delay/,
) as unknown;

test("a queue where messages of producers wait has no consumer, but the next one has", () => {
  const found = held("reservation.expire");
  expect(consumersOf(found)).toEqual(["reservation.expire"]);
  expect(factsOf(found)).toContainEqual(isDelay);
  // The next one may as well be its dead queue, so a person has to look.
  expect(found.refused.map(({ place }) => place)).toEqual(["reservation.hold"]);
});

test("the dead letters of the next queue go to its own dead queue", () => {
  const found = adopted({
    exchanges: [exchange("reservations", "topic")],
    queues: [
      queue("reservation.hold", { ...quorum, ...waiting(900_000, "", "reservation.expire") }),
      queue("reservation.expire", { ...quorum, ...deadThrough("", "reservation.expire.dlq") }),
      queue("reservation.expire.dlq", quorum),
    ],
    bindings: [binding("reservations", "reservation.hold", "reserved")],
  });
  expect(deadQueuesOf(found)).toEqual({ "reservation.expire": "reservation.expire.dlq" });
  expect(found.refused).toEqual([]);
  expect(factsOf(found)).toContainEqual(isDelay);
});

test.for([
  ["its name says that failed messages stay there", () => held("reservation.failed")],
  [
    "it has the dead letters of a queue without a time to live",
    () => held("letters", queue("mail", { ...quorum, ...deadThrough("", "letters") })),
  ],
] as const)("a queue with a time to live has a consumer if the next one has none: %s", ([, found]) => {
  expect(consumersOf(found())).toContain("reservation.hold");
});

describe("work queues of one policy with a time to live", () => {
  const parts: Parts = {
    exchanges: [exchange("events", "topic"), exchange("dlx", "topic")],
    queues: ["app.a", "app.b", "graveyard"].map((name) => queue(name, quorum)),
    bindings: [binding("events", "app.a", "x"), binding("events", "app.b", "y"), binding("dlx", "graveyard", "#")],
    policies: [
      { ...policy("app", "^app\\."), definition: { "message-ttl": 604_800_000, "dead-letter-exchange": "dlx" } },
    ],
  };
  test("share their dead queue", () => {
    expect(deadQueuesOf(adopted(parts))).toEqual({ "app.a": "graveyard", "app.b": "graveyard" });
  });
  test("share it also if a person names one of them", () => {
    const chosen = adopting({ kind: "adopt", text: exported(parts), queues: ["app.a"] }, "rabbitmq@4.3", "shop");
    expect(chosen.ok && factsOf(chosen.value)).toContainEqual(
      expect.stringMatching(/^graveyard: other queues have their letters there, too/),
    );
  });
});

test("a queue with the name of one with a time to live is its dead queue", () => {
  const found = adopted({
    exchanges: [exchange("events", "topic")],
    queues: [queue("orders", { ...quorum, ...waiting(60_000, "", "orders.expired") }), queue("orders.expired", quorum)],
    bindings: [binding("events", "orders", "o")],
  });
  expect(deadQueuesOf(found)).toEqual({ orders: "orders.expired" });
});

test("in a circle of queues with a time to live, no queue is a delay", () => {
  const names = ["first", "second"] as const;
  const found = adopted({
    exchanges: [exchange("events", "topic")],
    queues: names.map((name, index) => queue(name, { ...quorum, ...waiting(1_000, "", names[1 - index]) })),
    bindings: names.map((name) => binding("events", name, "#")),
  });
  expect(consumersOf(found)).toEqual(names);
});

test.for(["federation-upstream", "federation-upstream-set"])("a queue whose policy has %s is left out", (key) => {
  const found = adopted({
    queues: [
      ...["billing", "mail"].map((name) => queue(name, { ...quorum, ...deadThrough("", "letters") })),
      queue("letters", quorum),
    ],
    policies: [{ ...policy("federated", "^billing$"), definition: { [key]: "all" } }],
  });
  expect(consumersOf(found)).toEqual(["mail"]);
  expect(found.refused).toEqual([
    { place: "billing", fact: expect.stringMatching(`its policy has ${key}, and a compiled policy`) as unknown },
  ]);
  // Letters of the other consumer stay in the queue that both share today.
  expect(deadQueuesOf(found)).toEqual({ mail: "mail.dead" });
});

test("federated queues alone are refused", () => {
  const text = JSON.stringify({
    rabbitmq_version: "4.3.6",
    vhosts,
    queues: [queue("billing", quorum)],
    policies: [{ ...policy("federated", ".*"), definition: { "federation-upstream-set": "all" } }],
  });
  expect(reportedByAdopt({ kind: "adopt", text })).toMatchObject([
    { code: "RD331", notes: [expect.stringMatching(/^billing: it is left out/)] },
  ]);
});

test("a queue that a shovel empties is no work queue, and shovels show as users of others", () => {
  const shovel = (name: string, value: object): object => ({ vhost: "/", component: "shovel", name, value });
  const uris = { "src-uri": "amqp://me:secret@a", "dest-uri": "amqp://me:secret@b" };
  const found = adopted({
    exchanges: [exchange("events", "topic")],
    queues: [
      queue("outbox", quorum),
      queue("old", { "x-queue-type": "quorum", ...deadThrough("", "old.dead") }),
      queue("old.dead", quorum),
    ],
    bindings: [binding("events", "outbox", "o.*"), binding("events", "old", "r.*")],
    parameters: [
      shovel("wan", { ...uris, "src-queue": "outbox", "dest-queue": "old" }),
      shovel("back", { ...uris, "src-protocol": "amqp10", "src-address": "/queues/old%2Edead", "dest-exchange": "x" }),
    ],
  });
  expect(consumersOf(found)).toEqual(["old"]);
  expect(factsOf(found)).toEqual(
    expect.arrayContaining([
      "outbox: the shovel wan takes its messages on, and nobody retries these",
      "old: the shovel wan publishes to it by its name; if a new queue takes its place, let the shovel name that one",
      "old.dead: the shovel back takes its letters away, so redeliver dead does not find them",
    ]),
  );
  expect(JSON.stringify(found)).not.toContain("secret");
});

describe("a person names a work queue", () => {
  const parts: Parts = {
    exchanges: [exchange("events", "topic"), exchange("dlx", "fanout")],
    queues: [
      queue("billing", { ...quorum, ...deadThrough("", "letters") }),
      queue("letters", quorum),
      queue("payments.retry", { ...quorum, ...waiting(1_000, "", "billing") }),
      queue("invoice.hold", { ...quorum, ...waiting(900_000, "", "invoice.due") }),
      ...["billing.rejected", "users.rpc", "invoice.due"].map((name) => queue(name, quorum)),
      queue("session.7f1d", { ...quorum, "x-expires": 60_000 }),
      queue("log", { "x-queue-type": "stream" }),
      queue("mqtt-subscription-dev43qos1", quorum),
    ],
    bindings: ["billing", "billing.rejected", "users.rpc", "invoice.hold", "session.7f1d"].map((name) =>
      binding("events", name, `${name}.*`),
    ),
  };
  const chosen = (...queues: string[]) =>
    adopting({ kind: "adopt", text: exported(parts), queues }, "rabbitmq@4.3", "shop");

  test.for(["billing.rejected", "users.rpc", "invoice.hold", "session.7f1d"])("%s, against a guess", (name) => {
    const found = chosen("billing", name);
    expect(found).toMatchObject({ ok: true });
    expect(found.ok && consumersOf(found.value)).toEqual(["billing", name]);
    expect(found.ok && deadQueuesOf(found.value)).toMatchObject({ billing: "letters" });
  });

  test.for([
    ["payments.retry", /^payments.retry: messages only wait in it/],
    ["letters", /^letters: only dead letters of other queues come into it/],
    ["log", /^log: it is a stream/],
    ["mqtt-subscription-dev43qos1", /^mqtt-\S+: it belongs to one client of MQTT/],
    ["other", /^other: the input has no queue of this name/],
  ] as const)("%s, and the topology shows that it is none", ([name, reason]) => {
    expect(chosen("billing", name)).toMatchObject({
      ok: false,
      diagnostics: [{ code: "RD331", notes: [expect.stringMatching(reason)] }],
    });
  });
});

/** Two work queues of an exchange, and further queues with these bindings. */
const beside = (more: readonly object[], bindings: readonly object[], ...exchanges: readonly object[]): Adopted =>
  adopted({
    exchanges: [exchange("shop", "topic"), ...exchanges],
    queues: [queue("orders", { ...quorum, ...deadThrough("dlx", "orders.err") }), queue("mail", quorum), ...more],
    bindings: [binding("shop", "orders", "order.*"), binding("shop", "mail", "mail.*"), ...bindings],
  });

test.for(["orders.payment-failed", "order-rejected", "import.error", "stripe-callback"])(
  "%s takes events of the exchange that feeds work queues, so it is one",
  (name) => {
    const found = beside([queue(name, quorum)], [binding("shop", name, "payment.failed")]);
    expect(consumersOf(found)).toEqual(["orders", "mail", name]);
    expect(Object.values(deadQueuesOf(found))).not.toContain(name);
  },
);

test.for([
  ["orders.failed", binding("dlx", "orders.failed", "orders.err"), [exchange("dlx", "direct")]],
  ["orders.dlq", binding("shop", "orders.dlq", "orders.dlq"), []],
  ["orders.failed", binding("errors", "orders.failed", "#"), [exchange("errors", "topic")]],
] as const)("%s stays a dead queue with %j", ([name, way, exchanges]) => {
  const found = beside([queue(name, quorum)], [way], ...exchanges);
  expect(consumersOf(found)).toEqual(["orders", "mail"]);
});

test("a direct exchange of addresses shows no events", () => {
  const names = ["orders", "mail", "error"];
  const found = adopted({
    exchanges: [exchange("RebusDirect", "direct")],
    queues: names.map((name) => queue(name, quorum)),
    bindings: names.map((name) => binding("RebusDirect", name, name)),
  });
  expect(consumersOf(found)).toEqual(["orders", "mail"]);
});

test("a queue of events with the name of another one's exchange is left out, unless a person names it alone", () => {
  const found = beside([queue("orders.failed", quorum)], [binding("shop", "orders.failed", "payment.failed")]);
  expect(found.refused).toMatchObject([
    { place: "orders.failed", fact: expect.stringMatching(/an exchange of orders would have its name/) as unknown },
  ]);
  expect(consumersOf(found)).toEqual(["orders", "mail"]);
});

test.for([{ "x-delivery-limit": 5 }, deadThrough("", "rpc.letters")])(
  "a queue named for replies with %j keeps its failures, so it has a consumer",
  (given) => {
    const queues = [queue("orders", quorum), queue("users.rpc", { ...quorum, ...given }), queue("rpc.letters", quorum)];
    expect(consumersOf(adopted({ queues }))).toContain("users.rpc");
  },
);

test("the messages of a shared delay have other keys than its binding, so queues behind it have consumers", () => {
  const names = ["users", "mail"];
  const found = adopted({
    exchanges: [exchange("hutch", "topic"), exchange("hutch.schedule", "topic")],
    queues: [queue("hutch_delay_queue_5s", waiting(5_000, "hutch")), ...names.map((name) => queue(name, quorum))],
    bindings: [
      binding("hutch.schedule", "hutch_delay_queue_5s", "hutch.schedule.5s"),
      ...names.map((name) => binding("hutch", name, "user.*")),
    ],
  });
  expect(consumersOf(found)).toEqual(names);
});

test.for(["do.work", "do.*"])("a dead-letter exchange with other messages than those of %s feeds consumers", (key) => {
  const found = adopted({
    exchanges: [exchange("bus", "topic"), exchange("commands", "topic")],
    queues: [
      queue("worker", { ...quorum, "x-dead-letter-exchange": "bus" }),
      ...["analytics", "search", "letters"].map((name) => queue(name, quorum)),
    ],
    bindings: [
      binding("commands", "worker", key),
      binding("bus", "analytics", "#"),
      binding("bus", "search", "product.*"),
      binding("bus", "letters", key),
    ],
  });
  expect(consumersOf(found)).toEqual(["worker", "analytics", "search"]);
});

test("the dead letters of a queue after a delay of producers have their dead queue behind the same exchange", () => {
  const found = adopted({
    exchanges: [exchange("orders", "direct"), exchange("dlx", "direct")],
    queues: [
      ...["create", "close"].map((name) => queue(name, { ...quorum, ...deadThrough("dlx", "err") })),
      queue("delay", waiting(1_800_000, "dlx", "close")),
      queue("graveyard", quorum),
    ],
    bindings: bound("orders > create: create", "orders > delay: delay", "dlx > close: close", "dlx > graveyard: err"),
  });
  expect(deadQueuesOf(found)).toEqual({ create: "graveyard", close: "graveyard" });
});

test.for([
  ["mail_skipped", /messages of mail that MassTransit had no consumer for/],
  ["post_skipped", /nothing shows whose/],
] as const)("%s is left out with its owner as far as its name shows one", ([name, whose]) => {
  const facts = factsOf(beside([queue(name, quorum)], [binding(name, name)], exchange(name, "fanout")));
  expect(facts.filter((each) => each.startsWith(name))).toEqual([expect.stringMatching(whose)]);
});
