import { expect, test } from "vitest";

import type { CompiledSystem, SystemInput, TargetInput } from "../../src/index.ts";
import { compareChange } from "../../src/migrate/compare-change.ts";
import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { leftBehind } from "../../src/migrate/left-behind.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { proveChange } from "../../src/migrate/prove-change.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { takenAfter } from "../../src/migrate/taken-sources.ts";
import { renderChange } from "../../src/report/verdicts.ts";

const billing = { from: { orders: ["order.placed"] }, retry: { attempts: 3, backoff: { kind: "immediate" } } };
const shop = { name: "shop", sources: { orders: { kind: "topic" }, sales: { kind: "topic" } }, consumers: { billing } };
const rabbitmq: TargetInput = { broker: "rabbitmq", version: "4.3", strategy: "staged" };
const native: TargetInput = { ...rabbitmq, strategy: "native" };
const sqs: TargetInput = { broker: "sqs", region: "eu-west-1" };
const servicebus: TargetInput = { broker: "servicebus", sku: "standard" };
const shared: TargetInput = { ...servicebus, deadQueue: "shared" };

type OnServicebus = Deployed & { readonly compiled: CompiledSystem<"servicebus"> };

/** The shop on a target, with other settings of billing. */
function deployed(target: TargetInput, own: object = {}, more: object = {}): Deployed {
  const timed = target.broker === "sqs" ? { handlerTimeout: "10s" } : {};
  const system = { ...shop, consumers: { billing: { ...billing, ...timed, ...own } }, ...more };
  const found = readDeployed(system as unknown as SystemInput, target);
  if (found === null) throw new Error("it does not compile");
  return found;
}

function refusals(from: Deployed, to: Deployed): readonly string[] {
  return refuseChange(from, to).map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

const fixed = { names: { queue: "{consumer}" } };
const perKey = { order: "per-key" };

test.each<readonly [string, Deployed, Deployed, string]>([
  [
    "the system's name, and a queue keeps its own",
    deployed(native, {}, fixed),
    deployed(native, {}, { ...fixed, name: "store" }),
    'RD302 consumers.billing: the queue billing.dead cannot be changed in place: its system is "shop" and would be "store"',
  ],
  [
    "the system's name, and a queue with one of its own",
    deployed(native, { queue: "legacy" }),
    deployed(native, { queue: "legacy" }, { name: "store" }),
    'RD302 consumers.billing: the queue legacy.dead cannot be changed in place: its system is "shop" and would be "store"',
  ],
  [
    "the system's name, and the dead queue with it",
    deployed(shared, {}, fixed),
    deployed(shared, {}, { ...fixed, name: "store" }),
    'RD302 consumers.billing: the queue billing cannot be changed in place: its system is "shop" and would be "store"',
  ],
  [
    "the subscription that a consumer receives from",
    deployed(servicebus, perKey),
    deployed(servicebus, { ...perKey, from: { sales: ["order.placed"] } }),
    "RD302 consumers.billing.from: the queue shop.orders/Subscriptions/billing of billing cannot be replaced in place by shop.sales/Subscriptions/billing",
  ],
  [
    "the arguments of a queue",
    deployed(native, { queueArguments: { singleActiveConsumer: true } }),
    deployed(native, { queueArguments: { maxLength: 5 } }),
    "RD302 consumers.billing: the queue shop.billing cannot be changed in place: x-single-active-consumer is true and would be not set, x-max-length is not set and would be 5",
  ],
  [
    "the strategy of one consumer",
    deployed(native),
    deployed({ ...native, strategies: { billing: "staged" } }),
    'RD302 consumers.billing: the queue shop.billing cannot be changed in place: x-dead-letter-exchange is "shop.dead" and would be "shop.billing.failed", attempts counted in is "x-delivery-count" and would be "the exchange"',
  ],
  [
    "order on SQS",
    deployed(sqs),
    deployed(sqs, perKey),
    "RD302 consumers.billing.order: the queue shop-billing of billing cannot be replaced in place by shop-billing.fifo",
  ],
  [
    "order on SQS, taken back",
    deployed(sqs, perKey),
    deployed(sqs),
    "RD302 consumers.billing.order: the queue shop-billing.fifo of billing cannot be replaced in place by shop-billing",
  ],
  [
    "the delivery to one instance",
    deployed(rabbitmq),
    deployed(rabbitmq, { delivery: "every-instance", retry: undefined }),
    "RD302 consumers.billing.delivery: the queue shop.billing of billing cannot be replaced in place by a queue of each instance",
  ],
  ...[rabbitmq, sqs].flatMap((target): (readonly [string, Deployed, Deployed, string])[] => {
    const [old, now] = [deployed(target), deployed({ ...target, deadQueue: "shared" } as TargetInput)];
    const separator = target.broker === "sqs" ? "-" : ".";
    const names = [`shop${separator}billing${separator}dead`, `shop${separator}dead`];
    const said = ([was, would]: readonly string[]): string =>
      `RD302 target: the queue ${was} of billing cannot be replaced in place by ${would}`;
    return [
      [`the dead queue on ${target.broker} to a shared one`, old, now, said(names)],
      [`the shared dead queue on ${target.broker} to its own`, now, old, said(names.toReversed())],
    ];
  }),
])("a change of %s is refused", (_, from, to, wanted) => {
  expect(refusals(from, to)).toContain(wanted);
});

test.each<readonly [string, Deployed, Deployed]>([
  ["the system's name", deployed(servicebus), deployed(servicebus, {}, { name: "store" })],
  [
    "the system's name and the dead queue",
    deployed(servicebus),
    deployed({ ...shared } as TargetInput, {}, { name: "store" }),
  ],
  ["the dead queue of its own to a shared one", deployed(servicebus), deployed(shared)],
  ["the shared dead queue to its own", deployed(shared), deployed(servicebus)],
  ["the dead queue of a consumer in order", deployed(servicebus, perKey), deployed(shared, perKey)],
  ["order, under another name", deployed(sqs), deployed(sqs, perKey, { name: "store" })],
  ["the delivery to all", deployed(rabbitmq, { delivery: "every-instance", retry: undefined }), deployed(rabbitmq)],
])("a change of %s is not", (_, from, to) => {
  expect(refusals(from, to)).toEqual([]);
  expect(proveChange(from, to).warnings).toEqual([]);
});

test("the proof of another dead queue finds dead letters that nobody reads", () => {
  const [own, all] = [deployed(servicebus), deployed(shared)] as [OnServicebus, OnServicebus];
  const queues = all.compiled.topology.queues.flatMap((queue) =>
    queue.role === "dead" ? [queue, { ...queue, name: "lost" }] : [{ ...queue, forwardDeadLetteredTo: "lost" }],
  );
  const stranding = { ...all, compiled: { ...all.compiled, topology: { ...all.compiled.topology, queues } } };
  expect(proveChange(own, all).problems).toEqual([]);
  expect(proveChange(own, stranding as unknown as Deployed).problems.map(({ code }) => code)).toEqual(["RD305"]);
});

test.each(["constructor", "toString", "valueOf", "hasOwnProperty"])("%s is a name like any other", (name) => {
  const named = (consumer: string, source: string): object => ({
    sources: { [source]: { kind: "topic" }, sales: { kind: "topic" } },
    consumers: { [consumer]: { ...billing, from: { [source]: ["order.placed"] } } },
  });
  const of = (consumer: string, source: string, more: object = {}): Deployed =>
    deployed(rabbitmq, {}, { ...named(consumer, source), ...more });
  const same = of(name, name, { name });
  const kept = { inputs: { declaration: same.system, target: rabbitmq }, outputs: {} };
  expect(compareChange(kept, same)).toMatchObject({ problems: [], warnings: [], left: [] });
  // It comes new, and goes.
  expect(refusals(of("billing", "orders"), of(name, name))).toEqual([]);
  expect(refusals(of(name, name), of("billing", "orders"))).toEqual([]);
  const renamed = of(name, name, { names: { source: "{system}-{source}" } });
  expect(refuseChange(of(name, name), renamed).map(({ code, help }) => [code, help])).toEqual([
    ["RD303", expect.stringContaining('keep the name: names.source: "{system}.{source}"')],
  ]);
});

test("a FIFO topic is another one", () => {
  const all = { handlerTimeout: "10s", ...billing };
  const [alone, both] = [{ billing: all }, { billing: all, mail: { ...all, order: "per-key" } }].map((consumers) =>
    deployed(sqs, {}, { consumers }),
  ) as [Deployed, Deployed];
  const renamed = (was: string, would: string): string =>
    `RD303 sources.orders: the source orders of billing cannot be renamed in place from ${was} to ${would}`;
  expect(refusals(alone, both)).toEqual([renamed("shop-orders", "shop-orders.fifo")]);
  expect(refuseChange(alone, both)[0]?.help).toMatch(/^keep the order of its consumers; or declare a source/);
  expect(refusals(both, alone)).toEqual([renamed("shop-orders.fifo", "shop-orders")]);
  expect(refusals(both, both)).toEqual([]);
  expect(takenAfter(takenAfter({}, alone), both)["shop"]?.["billing"]).toEqual(["orders", "orders (shop-orders.fifo)"]);
});

test("a source is the same under another key if its name on the broker is", () => {
  const sources = { sold: { kind: "topic", name: "shop.orders" }, sales: { kind: "topic" } };
  const moved = deployed(rabbitmq, { from: { sold: ["order.placed"] } }, { sources });
  const taken = takenAfter({}, deployed(rabbitmq));
  expect(refusals(deployed(rabbitmq), moved)).toEqual([]);
  expect(refusals(moved, deployed(rabbitmq))).toEqual([]);
  expect(takenAfter(taken, moved)).toEqual({ shop: { billing: ["sold (shop.orders)"] } });
});

test("the help for another strategy names only one that compiles", () => {
  const auto: TargetInput = { ...rabbitmq, strategy: "auto" };
  const even = { attempts: 3, backoff: { kind: "constant", delay: "10s" } };
  const jittered = { ...even, backoff: { ...even.backoff, jitter: "10%" } };
  const consumers = (first: object): object => ({
    consumers: { a: { ...billing, retry: first }, b: { ...billing, retry: jittered } },
  });
  const [was, would] = [even, jittered].map((retry) => deployed(auto, {}, consumers(retry))) as [Deployed, Deployed];
  expect(refuseChange(was, would).map(({ code, path, help }) => `${code} ${path}: ${help}`)).toEqual([
    "RD302 consumers.a: keep the consumer's retry settings, or declare it under another name beside this one",
  ]);
  const [staged, native4] = [deployed(rabbitmq), deployed(native)];
  expect(refuseChange(staged, native4)[0]?.help).toMatch(/^name the strategy .* strategies: {"billing":"staged"}/);
});

test.each([
  [{ kind: "topic", name: "ev", owner: "other" }, { kind: "direct", name: "ev" }, true],
  [{ kind: "direct", name: "ev" }, { kind: "topic", name: "ev", owner: "other" }, true],
  [{ kind: "topic", name: "ev", owner: "other" }, { kind: "topic", name: "ev" }, false],
  [{ kind: "topic", name: "ev", owner: "other" }, { kind: "direct", name: "ev", owner: "other" }, false],
])("%j to %j", (was, would, isRefused) => {
  const [from, to] = [was, would].map((orders) => deployed(rabbitmq, {}, { sources: { orders } }));
  const problems = refusals(from as Deployed, to as Deployed);
  const [kind, other] = [was.kind, would.kind].map((each) => JSON.stringify(each));
  const message = `the exchange ev cannot be changed in place: kind is ${kind} and would be ${other}`;
  expect(problems).toEqual(isRefused ? [`RD302 sources.orders.kind: ${message}`] : []);
});

test.each([
  ["region", deployed(sqs), deployed({ ...sqs, region: "us-east-1" } as TargetInput), "sqs@us-east-1", 3],
  ["broker", deployed(rabbitmq), deployed(sqs), "sqs@eu-west-1", 5],
] as const)("in another %s nothing is proved, and everything old stays", (_, from, to, target, queues) => {
  expect(refusals(from, to)).toEqual([]);
  expect(proveChange(from, to)).toEqual({ verdicts: [], problems: [], warnings: [], weakened: [] });
  const left = leftBehind(from, to);
  expect(left).toHaveLength(queues);
  expect(new Set(left.map(({ why }) => why))).toEqual(new Set([`the new target is ${target}`]));
  expect(renderChange({ from: "old.yaml", isDeployed: false, verdicts: [], left, gone: [], counts: {} })).toContain(
    "nothing is proved: no consumer keeps a queue\nstays    queue ",
  );
  const kept = { inputs: { declaration: from.system, target: from.target }, outputs: { taken: { shop: {} } } };
  expect(compareChange(kept, to)).toMatchObject({ problems: [], left });
});

test.each([
  ["two sources swap their names", { orders: ["a"] }, { sales: ["b"] }],
  ["a consumer of both would take the other's messages", { orders: ["a"], sales: ["b"] }, null],
])("the name of a source passes to another one: %s", (_, first, second) => {
  const consumers = {
    billing: { ...billing, from: first },
    ...(second === null ? {} : { mail: { ...billing, from: second } }),
  };
  const swapped = {
    orders: { kind: "topic", name: "shop.sales" },
    sales: { kind: "topic", name: second === null ? "shop.new" : "shop.orders" },
  };
  const [from, to] = [deployed(rabbitmq, {}, { consumers }), deployed(rabbitmq, {}, { consumers, sources: swapped })];
  expect(new Set(refuseChange(from, to).map(({ code }) => code))).toEqual(new Set(["RD303"]));
  const planned = planMigration(from, to.system, to.target);
  expect(planned.ok ? [] : planned.diagnostics.map(({ code }) => code)).toContain("RD306");
});
