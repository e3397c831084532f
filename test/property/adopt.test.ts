import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";
import { expect, test } from "vitest";

import { compileAndProve } from "../../src/compile/compile.ts";
import { brokers, type CompiledSystem, type Topology } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { checked } from "../support/examples.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

/** The resources in one order, without the roles that only a compiler knows. */
function resourcesOf({ queues, exchanges, bindings, policies }: Topology): readonly string[] {
  const all = [
    ...queues.map(({ name, arguments: given }) => ({ name, given })),
    ...exchanges.map(({ name, kind, owner, arguments: given }) => ({ name, kind, owner, given })),
    ...bindings,
    ...policies,
  ];
  return all.map((each) => JSON.stringify(each)).toSorted();
}

/** Adopts the definitions file of a compiled system. */
function adoptExported(compiled: CompiledSystem<"rabbitmq">): Adopted {
  const exported = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/");
  return adoptText(JSON.stringify(exported), compiled.target);
}

test("each compiled system comes back as it was, or the adoption names the queues whose policy is a guess", () => {
  const counts = { same: 0, guessed: 0 };
  fc.assert(
    fc.property(anySystem, anyTarget, (input, target) => {
      const proved = compileAndProve<"rabbitmq">(checked(input), target);
      if (!proved.ok) return;
      const { compiled } = proved.value;
      const adopted = adoptExported(compiled);
      expect(adopted.draft.system.name).toBe(compiled.topology.system);
      expect(Object.keys(adopted.draft.system.consumers).toSorted()).toEqual(Object.keys(input.consumers).toSorted());
      const wanted = resourcesOf(compiled.topology);
      const isSame = isDeepStrictEqual(resourcesOf(adopted.proved.compiled.topology as Topology), wanted);
      counts[isSame ? "same" : "guessed"]++;
      // The broker alone carries out these strategies, so all of their policy is on it.
      const isWhole = (strategy: string): boolean =>
        compiled.contracts.every(
          (each) => each.strategy === strategy && (strategy === "staged" || each.attempts.length > 1),
        );
      // These may fit no strategy, so the adoption leaves the choice to a person.
      const isLeftToPeople = /"consumerTimeout/.test(JSON.stringify(input));
      if (!isLeftToPeople && (isWhole("staged") || isWhole("native")))
        expect(resourcesOf(adopted.proved.compiled.topology as Topology)).toEqual(wanted);
      if (isSame) return;
      const places = new Set([compiled.topology.system, ...compiled.contracts.map(({ workQueue }) => workQueue)]);
      expect(adopted.unsaid.filter(({ place }) => places.has(place))).not.toEqual([]);
    }),
    { numRuns: 300 },
  );
  expect(Math.min(counts.same, counts.guessed)).toBeGreaterThan(3);
});
