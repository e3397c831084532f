import fc from "fast-check";
import { expect, test } from "vitest";

import { type System, type TargetInput, compile } from "../../src/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { keepStrategies } from "../../src/migrate/keep-strategies.ts";
import { anyDeployment, edited, editNames } from "../support/change/deployments.ts";
import { forAll } from "../support/for-all.ts";

// `auto` never gives up a deployed strategy that still keeps every promise, whatever else changes in the declaration or
// the version of the broker. Compiling with that strategy by name is the second way to the same answer.

const strategiesOf = (system: System, target: TargetInput): ReadonlyMap<string, string> | null => {
  const compiled = compile(system, target);
  return compiled.ok ? new Map(compiled.value.contracts.map(({ consumer, strategy }) => [consumer, strategy])) : null;
};

test("a change of a declaration keeps the deployed strategy of each consumer that can have it", () => {
  const seen = { kept: 0, wouldFlip: 0, cannot: 0 };
  forAll(400, [anyDeployment, anyDeployment, fc.constantFrom(...editNames)], (first, other, edit) => {
    const next = edited(first, edit, other);
    const old = readDeployed(first.system, { broker: "rabbitmq", version: first.version, strategy: first.strategy });
    if (next === null || old === null) return;
    const auto = { broker: "rabbitmq", version: next.version } as const;
    const byItself = strategiesOf(next.system, auto as TargetInput);
    if (byItself === null) return;
    const target = readDeployed(next.system, auto)?.target;
    if (target === undefined) throw new Error("it compiles");
    const kept = strategiesOf(next.system, keepStrategies(old, next.system, target).value as TargetInput);
    for (const { consumer, strategy } of old.compiled.contracts) {
      if (!byItself.has(consumer)) continue;
      const named = { ...auto, strategies: { [consumer]: strategy } };
      const can = strategiesOf(next.system, named as TargetInput) !== null;
      expect(kept?.get(consumer)).toBe(can ? strategy : byItself.get(consumer));
      seen.kept += Number(can);
      seen.cannot += Number(!can);
      seen.wouldFlip += Number(can && byItself.get(consumer) !== strategy);
    }
  });
  expect(seen.kept).toBeGreaterThan(100);
  expect(seen.wouldFlip).toBeGreaterThan(20);
  expect(seen.cannot).toBeGreaterThan(0);
});
