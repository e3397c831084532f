import { expect, test } from "vitest";

import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { planBack } from "../../src/migrate/plan-back.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { checked } from "../support/examples.ts";

// A migration that moves a consumer and leaves a source. On the way back its publishers have moved already.

const retry = { attempts: 3, backoff: { kind: "constant", delay: "10s" } };
const system = (sources: object, own: object) => checked({ name: "shop", sources, consumers: { billing: own } });
const before = system({ orders: { kind: "topic" } }, { from: { orders: ["a"] }, retry, handlerTimeout: "10s" });
const direct = { orders: { kind: "direct" } };
const sales = { sales: { kind: "topic" } };
const jitter = { ...retry, backoff: { ...retry.backoff, jitter: "20%" } };

test.each([
  ["another kind, and jitter", "shop.orders.2", system(direct, { from: { orders: ["a"] }, retry: jitter })],
  ["another source and queue", "shop.sales", system(sales, { from: { sales: ["a"] }, retry, queue: "other" })],
  [
    "another source and dead queue",
    "shop.sales",
    system(sales, { from: { sales: ["a"] }, retry, deadLetter: { queue: "lost" } }),
  ],
  [
    "another kind, and queues of instances",
    "shop.orders.2",
    system(direct, { from: { orders: ["a"] }, delivery: "every-instance" }),
  ],
])("the way back from %s keeps a way for the publishers of %s until they have moved", (_, name, next) => {
  const old = readDeployed(before, { broker: "rabbitmq", version: "4.3" }) as Deployed;
  const planned = planMigration(old, next, old.target);
  if (!planned.ok) throw new Error(planned.diagnostics[0]?.message);
  const sides = planned.value.steps.map((step) => readDeployed(step.system, step.target) as Deployed);
  expect(sides).toHaveLength(3);
  for (const present of sides) {
    const back = planBack(old, present, sides.at(-1) as Deployed);
    if (!back.ok) throw new Error(back.diagnostics[0]?.message);
    const { sources, steps } = back.value.migration;
    expect(sources).toMatchObject([{ name, taken: { billing: ["a"] } }]);
    const [beside] = steps.map((step) => readDeployed(step.system, step.target)?.compiled.contracts);
    const contract = beside?.find(({ consumer }) => consumer === "billing");
    expect(contract).toMatchObject({ workQueue: "shop.billing" });
    expect(contract?.sources).toHaveLength(2);
    const end = steps.at(-1);
    expect(end && readDeployed(end.system, end.target)?.compiled).toEqual(old.compiled);
  }
});
