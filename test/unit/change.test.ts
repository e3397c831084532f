import { expect, test } from "vitest";

import { compareChange } from "../../src/migrate/compare-change.ts";
import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import type { HeldQueues } from "../../src/migrate/held-queues.ts";
import { leftBehind } from "../../src/migrate/left-behind.ts";
import { takenAfter } from "../../src/migrate/taken-sources.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import type { SystemInput, TargetInput } from "../../src/index.ts";

const consumer = {
  from: { orders: ["order.placed"] },
  retry: { attempts: 5, backoff: { kind: "constant", delay: "10s" } },
};
const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer } };
const rabbitmq = (version = "4.3", strategy = "staged"): TargetInput =>
  ({ broker: "rabbitmq", version, strategy }) as TargetInput;

function deployed(system: object, target: TargetInput): Deployed {
  const found = readDeployed(system as SystemInput, target);
  if (found === null) throw new Error("it does not compile");
  return found;
}

const perKey = {
  ...shop,
  consumers: { billing: { ...consumer, retry: { attempts: 3, backoff: { kind: "immediate" } } } },
};
const inOrder = { ...perKey, consumers: { billing: { ...perKey.consumers.billing, order: "per-key" } } };
const immediate = { broker: "servicebus", sku: "standard" } as const;

test.each<readonly [string, Deployed, Deployed, readonly string[]]>([
  ["nothing", deployed(shop, rabbitmq()), deployed(shop, rabbitmq()), []],
  [
    "the strategy",
    deployed(shop, rabbitmq()),
    deployed(shop, rabbitmq("4.3", "native")),
    [
      'RD302 consumers.billing: the queue shop.billing cannot be changed in place: x-dead-letter-exchange is "shop.billing.failed" and would be "shop.dead", attempts counted in is "the exchange" and would be "x-delivery-count"',
    ],
  ],
  [
    "the version",
    deployed(shop, rabbitmq("3.13", "staged")),
    deployed(shop, rabbitmq("4.0", "staged")),
    [
      "RD302 consumers.billing: the queue shop.billing.dead cannot be changed in place: x-delivery-limit is not set and would be -1",
      "RD302 target: the queue shop.undeliverable cannot be changed in place: x-delivery-limit is not set and would be -1",
    ],
  ],
  [
    "the name of a queue",
    deployed(shop, rabbitmq()),
    deployed({ ...shop, names: { queue: "q.{consumer}" } }, rabbitmq()),
    ["RD302 names.queue: the queue shop.billing of billing cannot be renamed in place to q.billing"],
  ],
  [
    "the name of a dead queue",
    deployed(shop, rabbitmq()),
    deployed({ ...shop, names: { dead: "dlq.{consumer}" } }, rabbitmq()),
    ["RD302 names.dead: the queue shop.billing.dead of billing cannot be renamed in place to dlq.billing"],
  ],
  [
    "two names of queues that change places",
    deployed({ ...shop, consumers: { a: { ...consumer, queue: "x" }, b: { ...consumer, queue: "y" } } }, rabbitmq()),
    deployed({ ...shop, consumers: { a: { ...consumer, queue: "y" }, b: { ...consumer, queue: "x" } } }, rabbitmq()),
    [
      "RD302 consumers.a.queue: the queue x of a cannot be renamed in place to y",
      "RD302 consumers.b.queue: the queue y of b cannot be renamed in place to x",
    ],
  ],
  [
    "the consumer of a queue",
    deployed({ ...shop, consumers: { billing: { ...consumer, queue: "x" } } }, rabbitmq()),
    deployed({ ...shop, consumers: { invoices: { ...consumer, queue: "x" } } }, rabbitmq()),
    [
      'RD302 consumers.invoices: the queue x.dead cannot be changed in place: its consumer is "billing" and would be "invoices"',
    ],
  ],
  [
    "the kind of a source",
    deployed(shop, rabbitmq()),
    deployed({ ...shop, sources: { orders: { kind: "direct" } } }, rabbitmq()),
    [
      'RD302 sources.orders.kind: the exchange shop.orders cannot be changed in place: kind is "topic" and would be "direct"',
    ],
  ],
  [
    "the name of a source",
    deployed(shop, rabbitmq()),
    deployed(JSON.parse(JSON.stringify(shop).replaceAll('"orders"', '"sales"')) as object, rabbitmq()),
    ["RD303 sources.orders: billing takes from the source orders, which is left out"],
  ],
  [
    "the name of a source on the broker",
    deployed(shop, rabbitmq()),
    deployed({ ...shop, sources: { orders: { kind: "topic", name: "events.orders", owner: "other" } } }, rabbitmq()),
    [
      "RD303 sources.orders.name: the source orders of billing cannot be renamed in place from shop.orders to events.orders",
    ],
  ],
  [
    "the name of a source of another owner",
    deployed({ ...shop, sources: { orders: { kind: "topic", name: "events.orders", owner: "other" } } }, rabbitmq()),
    deployed({ ...shop, sources: { orders: { kind: "topic", name: "events.v2", owner: "other" } } }, rabbitmq()),
    [
      "RD303 sources.orders.name: the source orders of billing cannot be renamed in place from events.orders to events.v2",
    ],
  ],
  [
    "the owner of a source",
    deployed(shop, rabbitmq()),
    deployed({ ...shop, sources: { orders: { kind: "topic", name: "shop.orders", owner: "other" } } }, rabbitmq()),
    [],
  ],
  [
    "the name of the system, with a queue that keeps its own",
    deployed({ ...shop, names: { queue: "q-{consumer}" } }, rabbitmq()),
    deployed({ ...shop, name: "store", names: { queue: "q-{consumer}" } }, rabbitmq()),
    [
      'RD302 consumers.billing: the queue q-billing.dead cannot be changed in place: its system is "shop" and would be "store"',
    ],
  ],
  ["the name of the system", deployed(shop, rabbitmq()), deployed({ ...shop, name: "store" }, rabbitmq()), []],
  [
    "duplicate detection",
    deployed(shop, immediate),
    deployed(shop, { ...immediate, duplicates: "5m" } as TargetInput),
    [expect.stringContaining("duplicateDetection is false and would be true") as string],
  ],
  // A consumer that needs order receives from its subscription directly, and the subscription then needs sessions.
  [
    "order",
    deployed(perKey, immediate),
    deployed(inOrder, immediate),
    [
      "RD302 consumers.billing.order: the queue shop.billing of billing cannot be replaced in place by shop.orders/Subscriptions/billing",
    ],
  ],
])("a change of %s", (_, from, to, wanted) => {
  expect(refuseChange(from, to).map(({ code, path, message }) => `${code} ${path}: ${message}`)).toEqual(wanted);
});

test("names.shared is the reason for another dead-letter exchange", () => {
  const native = rabbitmq("4.3", "native");
  const [first] = refuseChange(deployed(shop, native), deployed({ ...shop, names: { shared: "x-{system}" } }, native));
  expect(first?.notes[0]).toContain("names.shared was not set and would be x-{system}: keep it");
});

test("a source that was removed with its consumer is remembered when the consumer comes back", () => {
  const both = { ...shop, sources: { orders: { kind: "topic" }, sales: { kind: "topic" } } };
  const billing = (source: string): object => ({ ...consumer, from: { [source]: ["order.placed"] } });
  const without = deployed({ ...shop, sources: { sales: { kind: "topic" } }, consumers: {} }, rabbitmq());
  const again = { ...shop, sources: { sales: { kind: "topic" } }, consumers: { billing: billing("sales") } };
  const taken = takenAfter(takenAfter({}, deployed(shop, rabbitmq())), without);
  expect(refuseChange(without, deployed(again, rabbitmq()), taken).map(({ code }) => code)).toEqual(["RD303"]);
  // Taking the source from a consumer that is still declared says that its messages are not wanted.
  const withdrawn = deployed({ ...both, consumers: { billing: billing("sales") } }, rabbitmq());
  const later = takenAfter(taken, withdrawn);
  expect(later).toEqual({ shop: { billing: ["sales"] } });
  expect(refuseChange(withdrawn, deployed(again, rabbitmq()), later)).toEqual([]);
});

test("each resource that stays on the broker is listed with its reason and the end of its need", () => {
  const fewer = { ...shop, consumers: { billing: { ...consumer, retry: { ...consumer.retry, attempts: 4 } } } };
  const until = "its waiting messages are due, 10s after the last message came in";
  expect(leftBehind(deployed(shop, rabbitmq()), deployed(fewer, rabbitmq()))).toEqual([
    { kind: "queue", name: "shop.attempt.5.10s", why: "no attempt waits in it", until },
  ]);
  const renamed = { ...shop, consumers: { invoices: consumer } };
  expect(leftBehind(deployed(shop, rabbitmq()), deployed(renamed, rabbitmq())).map(({ name }) => name)).toEqual([
    "shop.billing.dead",
    "shop.billing",
  ]);
});

test("the state is compared with the new deployment, and the taken sources are remembered", () => {
  const kept = (outputs: object) => ({
    inputs: { declaration: shop, target: rabbitmq() },
    outputs: outputs as Readonly<Record<string, unknown>>,
  });
  const same = deployed(shop, rabbitmq());
  expect(compareChange(kept({}), same)).toEqual({
    problems: [],
    warnings: [],
    left: [],
    taken: { shop: { billing: ["orders"] } },
    held: {
      "shop.billing": {
        system: "shop",
        consumer: "billing",
        deadQueue: "shop.billing.dead",
        fixed: expect.any(Object),
      },
    },
  });
  const native = deployed(shop, rabbitmq("4.3", "native"));
  const { problems, left } = compareChange(kept({}), native) ?? {};
  expect(problems?.map(({ code }) => code)).toEqual(["RD302"]);
  expect(left).toHaveLength(5);
  // An earlier declaration took from a source that neither this one nor the next one has.
  const taken = { shop: { billing: ["sales"] } };
  expect(compareChange(kept({ taken }), same)?.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "RD303 sources.sales",
  ]);
  expect(compareChange({ inputs: {}, outputs: {} }, same)).toBeNull();
});

test("a queue that a consumer left behind passes to no other consumer", () => {
  const only = (name: string, own: object) => ({ ...shop, consumers: { [name]: { ...consumer, ...own } } });
  const inState = (system: object, held: HeldQueues = {}) => ({
    inputs: { declaration: system, target: rabbitmq() },
    outputs: { held },
  });
  const next = (kept: ReturnType<typeof inState>, system: object) => {
    const compared = compareChange(kept, deployed(system, rabbitmq()));
    const problems = compared?.problems.map(({ code, path, message }) => `${code} ${path}: ${message}`);
    return { problems, kept: inState(system, compared?.held) };
  };
  const away = next(inState(only("billing", { queue: "legacy" })), only("mail", {}));
  expect(away.problems).toEqual([]);
  expect(next(away.kept, only("late", { queue: "legacy" })).problems).toEqual([
    "RD302 consumers.late.queue: the queue legacy belonged to billing of shop and would belong to late",
  ]);
  // It is the same consumer under another name, but its dead letters would go to two queues.
  const renamed = { queue: "legacy", formerly: "billing", deadLetter: { queue: "lost" } };
  expect(next(away.kept, only("late", renamed)).problems).toEqual([
    "RD302 consumers.late.deadLetter.queue: the dead queue of legacy was legacy.dead and would be lost",
  ]);
  expect(next(away.kept, only("late", { queue: "legacy", formerly: "billing" })).problems).toEqual([]);
  expect(next(away.kept, only("billing", { queue: "legacy" })).problems).toEqual([]);
});

test("a declaration that this version refuses is not compared", () => {
  expect(readDeployed({ ...shop, sources: undefined }, rabbitmq())).toBeNull();
  expect(readDeployed(shop, { broker: "rabbitmq", version: "9.9" } as unknown as TargetInput)).toBeNull();
  expect(readDeployed(undefined, undefined)).toBeNull();
});
