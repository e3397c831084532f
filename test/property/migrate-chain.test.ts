import fc from "fast-check";
import { expect, test } from "vitest";

import { readDeployed } from "../../src/migrate/deployed.ts";
import { type Lock, lockWith, lockedIn } from "../../src/migrate/lock.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { compileAndProve, type TargetInput } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

// Queues stay on the broker after a migration, and a later one may want their names. The broker refuses other arguments.

const strategies: Readonly<Record<string, readonly TargetInput[]>> = {
  rabbitmq: ["native", "staged", "waits"].flatMap((strategy): TargetInput[] => [
    { broker: "rabbitmq", version: "4.3", strategy: strategy as "staged" },
    { broker: "rabbitmq", version: "4.3", strategy: strategy as "staged", deadQueue: "shared" },
  ]),
  sqs: (["own", "shared"] as const).map((deadQueue) => ({ broker: "sqs", region: "eu-west-1", deadQueue })),
  servicebus: [
    { broker: "servicebus", sku: "standard" },
    { broker: "servicebus", sku: "standard", duplicates: "5m" },
    { broker: "servicebus", sku: "standard", duplicates: { a: "5m" } },
  ],
};

const anyConsumer = fc.record(
  {
    order: fc.constantFrom("per-key"),
    queue: fc.constantFrom("q1", "shop.a.2"),
    queueSettings: fc.constantFrom("policy"),
  },
  { requiredKeys: [] },
);
const anyConsumers = fc.oneof(
  { weight: 4, arbitrary: fc.record({ a: anyConsumer }) },
  fc.record({ b: anyConsumer }),
  fc.record({ a: fc.constant({}), b: fc.constant({ queue: "q1" }) }),
);

test.each(Object.keys(strategies))("no step wants other settings of a queue that stayed: %s", (broker) => {
  let [moved, back] = [0, 0];
  const anyTarget = fc.constantFrom(...(strategies[broker] ?? []));
  forAll(100, [fc.array(fc.tuple(anyConsumers, anyTarget), { minLength: 4, maxLength: 9 })], (series) => {
    const there = new Map<string, object>();
    let lock: Lock | null = null;
    for (const [consumers, target] of series) {
      const wanted = wantedOf(consumers, target);
      if (wanted === null) continue;
      const from = lock === null ? null : accepted(lockedIn(lock, "prod", "shop"));
      const planned = from === null ? null : planMigration(from, wanted.system, wanted.target);
      if (planned?.ok === false) continue;
      const steps = planned === null ? [wanted] : planned.value.steps;
      if (steps.length > 1) moved++;
      for (const { system, target: meanwhile } of steps) {
        const side = readDeployed(system, meanwhile);
        if (side === null) throw new Error("a step does not compile");
        const last = new Set(from?.parts.map(({ name }) => name));
        for (const { name, fixed } of side.parts.filter(({ holds }) => holds !== null)) {
          if (there.has(name) && !last.has(name)) back++;
          expect([name, there.get(name) ?? fixed]).toEqual([name, fixed]);
          there.set(name, fixed);
        }
        lock = accepted(lockWith(lock, "prod", side, "0.1.0"));
      }
    }
  });
  expect(moved).toBeGreaterThan(30);
  expect(back).toBeGreaterThan(3);
});

type Declared = typeof anyConsumer extends fc.Arbitrary<infer Value> ? Value : never;

function wantedOf(consumers: object, target: TargetInput) {
  const all = Object.entries(consumers).map(([name, { queueSettings, ...own }]: readonly [string, Declared]) => {
    const more = target.broker === "rabbitmq" && queueSettings !== undefined ? { queueSettings } : {};
    const backoff = own.order === undefined ? { kind: "constant", delay: "5s" } : { kind: "immediate" };
    return [name, { from: { orders: "all" }, handlerTimeout: "10s", retry: { attempts: 3, backoff }, ...own, ...more }];
  });
  const system = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: Object.fromEntries(all) };
  const proved = compileAndProve(checked(system), target);
  return proved.ok ? { system: checked(system), target: proved.value.target } : null;
}
