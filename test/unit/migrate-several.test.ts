import { expect, test } from "vitest";

import type { TargetInput } from "../../src/index.ts";
import { lockedIn, lockWith, readLock } from "../../src/migrate/lock.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { readDeployed, underNewNames } from "../../src/migrate/deployed.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { renderMigration } from "../../src/report/migration.ts";
import { accepted, checked } from "../support/examples.ts";

// Several changes at once are one plan.

const rabbitmq = { broker: "rabbitmq", version: "4.3" } as const;
const targets: readonly TargetInput[] = [
  rabbitmq,
  { broker: "rabbitmq", version: "3.10" },
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
];

function systemOf(consumers: Readonly<Record<string, object>>, more: object = {}): object {
  const own = Object.entries(consumers).map(([name, each]) => {
    const retry = { attempts: 4, backoff: { kind: "constant", delay: "10s" } };
    return [name, { from: { orders: "all" }, handlerTimeout: "20s", retry, ...each }] as const;
  });
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: Object.fromEntries(own), ...more };
}

function planned(from: object, to: object, target: TargetInput) {
  const old = readDeployed(from, target);
  if (old === null) throw new Error("the old system does not compile");
  return planMigration(old, checked(to), old.target);
}

const jitter = { retry: { attempts: 4, backoff: { kind: "constant", delay: "10s", jitter: "20%" } } };
const renamed = { formerly: "billing" };

test.each([
  [
    "a queue of another name, and another strategy",
    { billing: {}, mail: {} },
    { billing: { queue: "inv" }, mail: jitter },
  ],
  [
    "a dead queue of another name, and another strategy",
    { billing: {}, mail: {} },
    { billing: { deadLetter: { queue: "lost" } }, mail: jitter },
  ],
])("%s move both consumers", (_, from, to) => {
  const { moved, steps } = accepted(planned(systemOf(from), systemOf(to), rabbitmq));
  expect(moved.map(({ consumer }) => consumer).toSorted()).toEqual(["billing", "mail"]);
  expect(steps).toHaveLength(2);
});

test.each(targets)("a consumer that kept its queue under another name can get a new one: %j", (target) => {
  const from = systemOf({ invoices: renamed });
  for (const own of [{ ...renamed, queue: "inv" }, {}]) {
    const { moved, drained, steps } = accepted(planned(from, systemOf({ invoices: own }), target));
    expect(moved).toMatchObject([{ consumer: "invoices", before: "invoices-before" }]);
    expect(drained).toEqual([moved[0]?.queue]);
    expect(steps).toHaveLength(2);
  }
});

test.each(targets)("a consumer gets the queue of another one only by formerly: %j", (target) => {
  const refused = planned(
    systemOf({ invoices: renamed }),
    systemOf({ invoices: { queue: "inv" }, billing: {} }),
    target,
  );
  expect(refused.ok ? [] : refused.diagnostics.map(({ code }) => code)).toEqual(["RD306"]);
});

test.each([
  [{ invoices: renamed }, { receipts: { formerly: "invoices" } }, "keep formerly: billing, or"],
  [{ invoices: renamed }, { invoices: {} }, "keep formerly: billing, or"],
  [{ billing: { queue: "inv" } }, { invoices: { queue: "inv" } }, "write formerly: billing if it is the same consumer"],
  [{ billing: { queue: "inv" } }, { billing: {}, mail: { queue: "inv" } }, "give it a queue of another name"],
])("the fix of %j to %j is in the words of the declaration", (from, to, help) => {
  const now = readDeployed(systemOf(to), rabbitmq) ?? expect.unreachable();
  const old = underNewNames(readDeployed(systemOf(from), rabbitmq) ?? expect.unreachable(), now.system);
  const refused = refuseChange(old, now);
  expect(refused.map((each) => each.help)).toContainEqual(expect.stringContaining(help));
});

test.each(targets)("another template of sources, and a consumer less, are one plan: %j", (target) => {
  const names = { source: "e-{source}" };
  const audit = { from: { other: "all" } };
  const sources = { orders: { kind: "topic" }, other: { kind: "topic" } };
  const from = systemOf({ billing: {}, audit }, { sources });
  for (const kept of [sources, { orders: sources.orders }]) {
    const {
      gone,
      sources: left,
      dropped,
      steps,
    } = accepted(planned(from, systemOf({ billing: {} }, { sources: kept, names }), target));
    expect(gone).toMatchObject([{ consumer: "audit" }]);
    expect(left).toMatchObject([{ source: "orders", newName: "e-orders" }]);
    expect(dropped).toEqual([expect.stringMatching(/other$/)]);
    expect(steps).toHaveLength(3);
  }
});

test("under another name of the system the text says what becomes of the old one", () => {
  const said = renderMigration(
    accepted(planned(systemOf({ billing: {} }), systemOf({ billing: {} }, { name: "store" }), rabbitmq)),
    ["a.yaml"],
  );
  expect(said).toContain("Move the publishers of shop.orders to store.orders.");
  expect(said).toContain("run the old code until these queues are empty: shop.billing");
  const there = readDeployed(systemOf({ billing: {} }), { broker: "sqs", region: "us-east-1" }) ?? expect.unreachable();
  const moved = planMigration(there, checked(systemOf({ billing: {} })), {
    ...there.target,
    region: "eu-west-1",
  } as never);
  expect(accepted(moved).apart).toEqual({
    queues: expect.arrayContaining(["shop-billing"]),
    sources: [{ name: "shop-orders", newName: "shop-orders" }],
  });
  const kept = systemOf({ billing: {} }, { name: "store", formerly: "shop" });
  expect(accepted(planned(systemOf({ billing: {} }), kept, rabbitmq)).apart).toBeNull();
});

test("a warning of a step names the consumer of the declaration", () => {
  const old = readDeployed(systemOf({ billing: {} }), { ...rabbitmq, version: "4.0" });
  const next = systemOf({ billing: {} }, { names: { shared: "{system}-x", queue: "q-{consumer}" } });
  const { steps } = accepted(
    planMigration(old ?? expect.unreachable(), checked(next), old?.target ?? expect.unreachable()),
  );
  const paths = steps.flatMap(({ warnings }) => warnings.map(({ path }) => path));
  expect(paths).not.toEqual([]);
  for (const path of paths) expect(path).toMatch(/^consumers\.billing\./);
});

test("strategies and queues that somebody edits in a lock are refused", () => {
  const system = readDeployed(systemOf({ billing: {} }), rabbitmq) ?? expect.unreachable();
  const text = JSON.stringify(accepted(lockWith(null, "prod", system, "0.1.0")));
  expect(accepted(lockedIn(accepted(readLock(text)), "prod", "shop"))).not.toBeNull();
  for (const [old, edit] of [
    ['"strategy":"native"', '"strategy":"staged"'],
    ['"queues":["shop.billing"', '"queues":["shop.other"'],
  ]) {
    const edited = text.replace(old ?? "", edit ?? "");
    expect(edited).not.toBe(text);
    const locked = lockedIn(accepted(readLock(edited)), "prod", "shop");
    expect(locked.ok ? [] : locked.diagnostics.map(({ code }) => code)).toEqual(["RD323"]);
  }
});
