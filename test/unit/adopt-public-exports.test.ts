import { expect, test } from "vitest";

import { brokers, type Diagnostic } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { type Arguments, type Parts, binding, bound, exchange, exported, queue } from "../support/known-topologies.ts";
import { adoptText, adopting, factsOf } from "../support/reported-by-adopt.ts";
import { armTemplate } from "../support/servicebus/arm-template.ts";

// Shapes of exports and templates in public repositories.

const textOf = (parts: Parts, rabbitmq_version: string): string =>
  JSON.stringify({ ...(JSON.parse(exported(parts)) as object), rabbitmq_version });
const adopt = (parts: Parts, version = "4.3.6"): Adopted => adoptText(textOf(parts, version));
const consumersOf = ({ draft }: Adopted): readonly string[] => Object.keys(draft.system.consumers);
const lossesOf = ({ unsaid }: Adopted): readonly string[] =>
  unsaid.flatMap(({ place, fact, isLoss }) => (isLoss === true ? [`${place}: ${fact}`] : []));
const dying = (into: string, key?: string, more: object = {}) => ({
  "x-dead-letter-exchange": into,
  ...(key === undefined ? {} : { "x-dead-letter-routing-key": key }),
  ...more,
});
/** @param bindings such as `ev > orders: order.*` */
function parts(
  kinds: Readonly<Record<string, string>>,
  queues: Readonly<Record<string, object>>,
  ...bindings: string[]
) {
  return {
    exchanges: Object.entries(kinds).map(([name, kind]) => exchange(name, kind)),
    queues: Object.entries(queues).map(([name, given]) => queue(name, given as Arguments)),
    bindings: bound(...bindings),
  };
}

test("a queue whose messages expire into a queue for expired ones is a work queue, beside a retry queue", () => {
  const queues = {
    email: dying("dlx", "email.expired", { "x-message-ttl": 3_600_000 }),
    "email.retry.5s": dying("tasks", "email.send", { "x-message-ttl": 5_000 }),
    "email.dlq": {},
    "email-expired": {},
  };
  const bindings = ["tasks > email: email.send", "dlx > email-expired: email.expired", "dlx > email.dlq: email.send"];
  const kinds = { tasks: "direct", dlx: "direct", retry: "direct" };
  const found = adopt(parts(kinds, queues, ...bindings, "retry > email.retry.5s: email.send.retry.5s"));
  expect(consumersOf(found)).toEqual(["email"]);
  expect(found.draft.system.consumers["email"]).toMatchObject({
    from: { tasks: ["email.send"] },
    retry: { attempts: 2, backoff: { kind: "constant", delay: "5s" } },
  });
});

test("a queue of events for failures is a work queue, although retries come back through their exchange", () => {
  const [inventory, order] = ["inventory.payment-failed.queue", "order.payment-events.queue"] as const;
  const adopted = (own: object): Adopted => {
    const retry = dying("ev", undefined, { "x-message-ttl": 5_000 });
    const queues = { [inventory]: own, [order]: dying("dlx", "payment.failed"), dlq: {}, "retry.5s.queue": retry };
    const ways = [inventory, order].map((name) => `ev > ${name}: payment.failed`);
    const kinds = { ev: "topic", dlx: "topic", retry: "topic" };
    return adopt(parts(kinds, queues, ...ways, "dlx > dlq: payment.#", "retry > retry.5s.queue: #"));
  };
  expect(consumersOf(adopted(dying("dlx", "payment.inventory")))).toEqual([inventory, order]);
  // Without a way for its failures it may hold those of others, and the answer names it.
  const plain = adopted({});
  expect([...consumersOf(plain), ...factsOf(plain)].join("\n")).toContain(inventory);
});

test("a retry queue behind a shared exchange is its consumer's, and others get its messages today", () => {
  const events = ["inventory.order-created", "reporting.order-created"];
  const work = Object.fromEntries(events.map((name) => [name, dying("dlx", name)]));
  const retry = dying("ev", "order.created", { "x-message-ttl": 10_000 });
  const ways = events.flatMap((name) => [`ev > ${name}: order.created`, `dlx > dlq: ${name}`]);
  const queues = { ...work, "inventory.order-created.retry": retry, dlq: {} };
  const found = adopt(parts({ ev: "topic", dlx: "direct" }, queues, ...ways));
  const { "inventory.order-created": inventory, "reporting.order-created": reporting } = found.draft.system.consumers;
  expect([inventory, reporting]).toMatchObject([{ retry: { attempts: 2 } }, { retry: { attempts: 1 } }]);
  expect(factsOf(found).filter((fact) => fact.includes("its retries come back"))).toEqual([
    "inventory.order-created: its retries come back through an exchange today, so reporting.order-created can get each of them as well; declared ones reach this consumer alone",
  ]);
});

test("a queue behind an alternate exchange holds messages without a route, and no failures", () => {
  const plain = parts({ unrouted: "fanout" }, { orders: {}, "unrouted.dead": {} }, "ev > orders: order.*");
  const ev = { ...exchange("ev", "topic"), arguments: { "alternate-exchange": "unrouted" } };
  const bindings = [...plain.bindings, binding("unrouted", "unrouted.dead")];
  const found = adopt({ ...plain, exchanges: [...plain.exchanges, ev], bindings });
  expect(consumersOf(found)).toEqual(["orders"]);
  expect(factsOf(found)).toContain(
    "unrouted.dead: it gets the messages of ev that no binding takes, and stays as it is",
  );
});

test("a queue that is not durable is shared by instances, and a restart deletes it", () => {
  const { queues, ...rest } = parts({ ev: "topic" }, { orders: {} }, "ev > orders: a");
  const found = adopt({ ...rest, queues: queues.map((each) => ({ ...each, durable: false })) });
  expect(consumersOf(found)).toEqual(["orders"]);
  expect(lossesOf(found)[0]).toMatch(/^orders: it is not durable: a restart of the broker deletes it/);
});

test("an argument that the broker does not know limits no retries", () => {
  const told = (given: object): readonly string[] =>
    factsOf(adopt(parts({ ev: "topic" }, { orders: given }, "ev > orders: a"))).filter((fact) =>
      fact.includes("ignores it"),
    );
  expect(told({ "x-max-retries": 3, "x-max-priority": 5, "x-delivery-limit": 3 })).toEqual([
    "orders: x-max-retries is 3: RabbitMQ knows no such argument of a queue, and ignores it, so it limits no retries",
  ]);
});

test("limits that delete messages of a work queue count as losses of today", () => {
  const ticks = (own: object): Adopted => {
    const queues = { ticks: { "x-message-ttl": 300_000, "x-max-length": 1_000, ...own }, "ticks.dlq": {} };
    return adopt(parts({ ev: "topic", dlx: "fanout" }, queues, "ev > ticks: tick.*", "dlx > ticks.dlq: "));
  };
  expect(lossesOf(ticks({})).slice(0, 2)).toEqual([
    "ticks: message-ttl is 300000: the broker deletes expired messages today, and in a compiled work queue no message expires",
    "ticks: max-length is 1000: a full queue drops its oldest messages today, and a compiled one never does",
  ]);
  // Its dead-letter exchange gets these messages.
  expect(lossesOf(ticks(dying("dlx")))).toEqual([]);
});

test("keys that the dead-letter exchange has no route for count as a loss, and the comparison shows one", () => {
  const rows = [["#", "*", '"any.any"'] as const, ["order.*", "order.#", null] as const];
  for (const [key, deadKey, lost] of rows) {
    const queues = { reporting: { "x-queue-type": "quorum", ...dying("dlx") }, dlq: {} };
    const found = adopt(
      parts({ ev: "topic", dlx: "topic" }, queues, `ev > reporting: ${key}`, `dlx > dlq: ${deadKey}`),
    );
    expect(lossesOf(found).filter((fact) => fact.includes("has a route for some of its failures only"))).toEqual(
      lost === null ? [] : [expect.stringContaining(`with a key such as ${lost} has no way on`)],
    );
    expect(renderAdoption(found, false, null).includes("a message is lost: the exchange has no route for it")).toBe(
      lost !== null,
    );
  }
});

const orders = parts({ ev: "topic" }, { orders: dying("", "orders.dlq"), "orders.dlq": {} }, "ev > orders: order.*");

test("the text asks for the upgrade of an older broker, and names no loss by its version", () => {
  const found = adopt(orders, "3.12.0");
  expect([found.upgradeFrom, found.judged]).toEqual(["rabbitmq@3.12.0", []]);
  expect(renderAdoption(found, false, null)).toContain(
    "The input is of rabbitmq@3.12.0, and the declaration for rabbitmq@4.3: upgrade the broker first, or name --target rabbitmq@3.12.0.",
  );
  // From 4.0 on a dead queue has a delivery limit by default.
  const quorum = { "x-queue-type": "quorum" };
  const kept = parts({ ev: "topic" }, { orders: quorum, "orders.dlq": quorum }, "ev > orders: order.*");
  const limited = (version?: string): boolean =>
    renderAdoption(adopt(kept, version), false, null).includes("deletes messages that are viewed");
  expect([limited("3.13.7"), limited()]).toEqual([false, true]);
  // An older target than the broker is a difference.
  const { upgradeFrom, judged } = adoptText(textOf(orders, "4.3.6"), "rabbitmq@3.13");
  expect([upgradeFrom, judged?.[0]?.kind, adopt(orders).upgradeFrom]).toEqual([null, "version", null]);
});

test("a policy that mirrors queues loses nothing on the version that knows it", () => {
  const policy = { vhost: "/", name: "ha-all", pattern: ".*", priority: 0, definition: { "ha-mode": "all" } };
  expect(adopt({ ...orders, policies: [policy] }, "3.12.0").findings).toEqual([]);
  expect(adopt({ ...orders, policies: [policy] }).findings.map(({ code }) => code)).toEqual(["RD435"]);
});

test("a version that Redeliver does not know takes the rules of the named target", () => {
  const found = adopting({ kind: "adopt", text: textOf(orders, "3.8.0") }, "rabbitmq@4.3", "shop");
  expect(found.ok && [found.warnings[0]?.code, ...consumersOf(found.value)]).toEqual(["RD403", "orders"]);
});

test.each([
  ["topic", "", "it is left out: it is bound to ev with an empty key, and a declaration has none"],
  [
    "direct",
    "order.*",
    'it is left out: it is bound to the direct exchange ev with "order.*", which matches this text alone. Bind it with whole keys, or to a topic exchange',
  ],
])("a queue at a %s exchange with the key %j is left out with the reason", (kind, key, reason) => {
  const bound = (others: readonly string[]): Parts => {
    const queues = Object.fromEntries(["orders", ...others].map((name) => [name, {}]));
    return parts({ ev: kind }, queues, `ev > orders: ${key}`, ...others.map((name) => `ev > ${name}: mail.sent`));
  };
  const found = adopt(bound(["mail"]));
  expect(consumersOf(found)).toEqual(["mail"]);
  expect(found.refused).toEqual([{ place: "orders", fact: reason }]);
  const alone = adopting({ kind: "adopt", text: exported(bound([])) }, "rabbitmq@4.3", "shop");
  expect(alone.ok ? [] : alone.diagnostics.map(({ code, notes }) => [code, notes.join("; ")])).toEqual([
    ["RD331", expect.stringContaining(reason)],
  ]);
});

test("entities with the same expression as their namespace are of one, and times may be spans of 2015", () => {
  const type = "Microsoft.ServiceBus/namespaces";
  const variables = { name: "[concat('shop-', uniqueString(resourceGroup().id))]" };
  const properties = { lockDuration: "00:00:30", defaultMessageTimeToLive: "14.00:00:00" };
  const read = (name: string) => {
    const nested = [{ type: "queues", name: "b" }];
    const resources = [
      { type, name: "[variables('name')]", sku: { name: "Standard" }, resources: nested },
      { type: `${type}/queues`, name, properties },
    ];
    const text = JSON.stringify({ variables, resources });
    const found = adopting({ kind: "adopt", text }, "servicebus@standard", "shop", "servicebus");
    const { warnings } = brokers.servicebus.auditor.file.read(text) as { warnings?: readonly Diagnostic[] };
    return [found.ok && consumersOf(found.value), warnings?.map(({ code }) => code)];
  };
  expect(read("[concat(variables('name'), '/a')]")).toEqual([["b", "a"], []]);
  // The name of an entity has to be known.
  expect(read("[concat(variables('name'), '/', uniqueString('a'))]")).toEqual([["b"], ["RD409"]]);
});

test("the filter of a rule may have its name of 2015", () => {
  const template = (filter: object): Adopted =>
    adoptText(
      armTemplate([
        ["topics", "posts"],
        ["queues", "facebook"],
        ["subscriptions", "posts/facebook", { forwardTo: "facebook" }],
        ["rules", "posts/facebook/own", { filter }],
      ]),
      "servicebus@standard",
      "shop",
      "servicebus",
    );
  const bySubject = template({ label: "order.placed" });
  expect(bySubject.draft.system.consumers["facebook"]).toMatchObject({ from: { posts: ["order.placed"] } });
  expect(factsOf(template({ sqlExpression: "platform = 'facebook'" }))).toContain(
    "posts: the subscription facebook stays as it is, and is not declared: its rules let in messages that no routing key describes",
  );
});
