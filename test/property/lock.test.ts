import fc from "fast-check";
import { expect, test } from "vitest";

import type { Diagnostic, SystemInput, TargetInput } from "../../src/index.ts";
import { compareChange } from "../../src/migrate/compare-change.ts";
import { type Deployed, readDeployed, underNewNames } from "../../src/migrate/deployed.ts";
import { type HeldQueues, leftQueuesTaken } from "../../src/migrate/held-queues.ts";
import { type Lock, lockWith, lockedIn, readLock } from "../../src/migrate/lock.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { forAll } from "../support/for-all.ts";

// Systems are deployed one over the other. Consumers come, go and come back, and take queues of each other. The lock has
// to refuse the same queues as Pulumi's state, which remembers each that a consumer ever had.

const targets: readonly TargetInput[] = [
  { broker: "rabbitmq", version: "4.3", strategy: "staged" },
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
];
const names = ["a", "b", "c"] as const;
const retry = { attempts: 2, backoff: { kind: "constant", delay: "5s" } };
const anyConsumer = fc.record(
  { queue: fc.constantFrom("q1", "q2"), formerly: fc.constantFrom(...names) },
  { requiredKeys: ["queue"] },
);
const anyConsumers = fc.dictionary(fc.constantFrom(...names), anyConsumer, { maxKeys: 2, noNullPrototype: true });

function sideOf(consumers: object, target: TargetInput): Deployed | null {
  const all = Object.entries(consumers).map(([name, own]) => [
    name,
    { from: { orders: ["a"] }, handlerTimeout: "10s", retry, ...(own as object) },
  ]);
  const sources = { orders: { kind: "topic" } };
  return readDeployed({ name: "shop", sources, consumers: Object.fromEntries(all) } as SystemInput, target);
}

const words = (problems: readonly Diagnostic[]): readonly string[] =>
  problems.map(({ message }) => message).filter((text) => text.includes(" belonged to ") || text.includes(" was "));

test.each(targets)("a lock refuses the queues that Pulumi's state refuses: $broker", (target) => {
  let refused = 0;
  forAll(150, [fc.array(anyConsumers, { minLength: 3, maxLength: 8 })], (series) => {
    const sides = series.flatMap((each) => sideOf(each, target) ?? []);
    const [first, ...others] = sides;
    fc.pre(first !== undefined);
    let state = { inputs: inputsOf(first), outputs: {} };
    let lock = locked(null, first);
    for (const to of others) {
      const compared = compareChange(state, to);
      const from = lockedIn(lock, "prod", "shop");
      if (compared === null || !from.ok || from.value === null) throw new Error("it is readable");
      const { held = {} } = from.value as { readonly held?: HeldQueues };
      const before = underNewNames(from.value, to.system);
      const taken = leftQueuesTaken(before, to, held);
      expect(words(taken)).toEqual(words(compared.problems));
      if (taken.length > 0) expect(planMigration(from.value, to.system, to.target).ok).toBe(false);
      refused += taken.length;
      if (compared.problems.length > 0) continue;
      state = { inputs: inputsOf(to), outputs: { held: compared.held, taken: compared.taken } };
      lock = locked(lock, to);
    }
  });
  expect(refused).toBeGreaterThan(20);
});

function inputsOf({ system: declaration, target }: Deployed): Readonly<Record<string, unknown>> {
  return { declaration, target };
}

/** The lock as the next command reads it. */
function locked(lock: Lock | null, side: Deployed): Lock {
  const written = lockWith(lock, "prod", side, "0.1.0");
  const read = written.ok ? readLock(JSON.stringify(written.value)) : written;
  if (!read.ok) throw new Error(read.diagnostics[0]?.message);
  return read.value;
}
