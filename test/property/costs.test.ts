import fc from "fast-check";
import { expect, test } from "vitest";

import {
  checkSystem,
  compile,
  type CompiledSystem,
  constant,
  defineSystem,
  plan,
  type System,
  type TargetInput,
} from "../../src/index.ts";
import { accepted, shopWith } from "../support/examples.ts";
import { costsByStrategy, costTable } from "../../src/report/costs.ts";
import { anySystem, backoffsOf } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";

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
  expect(head).toEqual(["strategy", "exchanges", "policies", "queues", "bindings", "together", "hops of a retry"]);
  expect(rows.map((row) => row.join(" "))).toEqual([
    "auto 2 200 200 200 602 0",
    "native 2 200 200 200 602 0",
    "deferred – – – – – cannot keep the promises",
    "staged 110 304 204 315 933 2",
    "waits 5 202 202 502 911 2",
  ]);
});

const countsOnBroker = ({ promises }: CompiledSystem): boolean =>
  promises.every(({ promise, keeper }) => promise !== "attempts" || keeper === "broker");

test("auto never takes a strategy that needs more queues than another one where the broker counts, too", () => {
  let compared = 0;
  forAll(500, [anySystem], (input) => {
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
  });
  expect(compared).toBeGreaterThan(5);
});

const alone = fc.record({
  from: fc.constantFrom({ orders: "all" }, undefined),
  retry: fc.record({
    attempts: fc.integer({ min: 1, max: 5 }),
    backoff: backoffsOf(fc.constantFrom("1s", "2s", "4s")),
  }),
  handlerTimeout: fc.constant("10s"),
  deadLetter: fc.record({ park: fc.boolean() }),
});

const queuesOf = (system: System, target: TargetInput): number | null => {
  const result = compile(system, target);
  return result.ok ? result.value.topology.queues.length : null;
};
const systems = alone.map((consumer) =>
  accepted(checkSystem(shopWith({ billing: JSON.parse(JSON.stringify(consumer)) as object }))),
);

test.each([
  { broker: "rabbitmq", version: "4.3" },
  { broker: "rabbitmq", version: "4.0" },
] as const satisfies TargetInput[])("the reason of a choice has the queues of both strategies: %o", (wanted) => {
  let compared = 0;
  forAll(100, [systems], (system) => {
    const own = compile(system, wanted);
    const [choice] = own.ok ? own.value.choices : [];
    const told = / alone has (\d+) queues?, under (\S+) (\d+)$/.exec(choice?.reason ?? "");
    if (told === null) return;
    const [, chosen, next, under] = told;
    const both = [choice?.strategy, next].map((strategy) => queuesOf(system, { ...wanted, strategy } as TargetInput));
    expect([Number(chosen), Number(under)]).toEqual(both);
    compared += 1;
  });
  expect(compared).toBeGreaterThan(5);
});

test.each([
  [{ broker: "sqs", region: "eu-west-1" }, ["visibility", "redrive"]],
  [{ broker: "servicebus", sku: "standard" }, ["immediate", "scheduled"]],
  [{ broker: "servicebus", sku: "standard", deadQueue: "shared" }, ["immediate", "scheduled"]],
] as const)("all strategies that auto takes need as many queues, so no reason has them: %o", (wanted, strategies) => {
  forAll(100, [systems], (system) => {
    const counts = strategies.map((strategy) => queuesOf(system, { ...wanted, strategy } as TargetInput));
    expect(new Set(counts.filter((each) => each !== null)).size).toBeLessThanOrEqual(1);
    const own = compile(system, wanted as TargetInput);
    expect(own.ok ? own.value.choices[0]?.reason : "").not.toContain("alone");
  });
});

test("a choice by name, and one without another possible strategy, weigh nothing", () => {
  const system = (backoff: object): ReturnType<typeof checkSystem> =>
    checkSystem({ name: "shop", consumers: { billing: { retry: { attempts: 3, backoff } } } });
  const reasonOf = (backoff: object, strategy: "auto" | "native"): string => {
    const declared = system(backoff);
    const result = declared.ok ? compile(declared.value, { ...target, strategy }) : null;
    return (result?.ok === true && result.value.choices[0]?.reason) || "refused";
  };
  const steady = { kind: "constant", delay: "1s" };
  expect(reasonOf(steady, "auto")).toMatch(/; a system with this consumer alone has 2 queues, under staged 5$/);
  expect(reasonOf(steady, "native")).not.toContain("alone");
  expect(reasonOf({ ...steady, jitter: "10%" }, "auto")).not.toContain("alone");
});
