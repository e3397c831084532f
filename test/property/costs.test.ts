import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, compile, type CompiledSystem, constant, defineSystem, plan } from "../../src/index.ts";
import { costsByStrategy, costTable } from "../../src/report/costs.ts";
import { anySystem } from "../support/arbitraries.ts";

const target = { broker: "rabbitmq", version: "4.3" } as const;
const checkedTarget = { ...target, patch: null, strategy: "auto" } as const;

test("the costs are those of the compiled topologies, under the own strategy and under each other", () => {
  const consumers = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `c${index}`,
      { from: { orders: "all" as const }, retry: { attempts: 4, backoff: constant("1s") } },
    ]),
  );
  const planned = plan(defineSystem({ name: "shop", sources: { orders: { kind: "fanout" } }, consumers }));
  const { head, rows } = costTable(costsByStrategy(planned, checkedTarget));
  expect(head).toEqual(["strategy", "exchanges", "policies", "queues", "bindings", "together", "a retry passes"]);
  expect(rows.map((row) => row.join(" "))).toEqual([
    "auto 2 200 200 200 602 no tier",
    "native 2 200 200 200 602 no tier",
    "deferred – – – – – cannot keep the promises",
    "staged 110 304 204 315 933 a tier",
    "waits 5 202 202 502 911 a tier",
  ]);
});

const countsOnBroker = ({ promises }: CompiledSystem): boolean =>
  promises.every(({ promise, keeper }) => promise !== "attempts" || keeper === "broker");

test("auto never takes a strategy that needs more queues than another one where the broker counts, too", () => {
  let compared = 0;
  fc.assert(
    fc.property(anySystem, (input) => {
      const checked = checkSystem(input);
      fc.pre(checked.ok);
      if (!checked.ok) return;
      const own = compile(checked.value, target);
      fc.pre(own.ok);
      if (!own.ok) return;
      for (const strategy of ["native", "deferred", "staged", "waits"] as const) {
        const other = compile(checked.value, { ...target, strategy });
        if (!other.ok || !countsOnBroker(other.value)) continue;
        if (own.value.choices.every((choice) => choice.strategy === strategy)) continue;
        compared += 1;
        expect(own.value.topology.queues.length, strategy).toBeLessThanOrEqual(other.value.topology.queues.length);
      }
    }),
    // Few systems can be compared.
    { numRuns: 500 },
  );
  expect(compared).toBeGreaterThan(5);
});
