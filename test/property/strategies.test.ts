import fc from "fast-check";
import { expect, test } from "vitest";

import { strategyNames } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import { checkSystem, compile } from "../../src/index.ts";
import { prepare } from "../../src/consume/consume.ts";
import { systemsOf } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";

// Compiling proves each consumer, with the resources of all others in the topology: none of them may get its retries.

test("consumers with strategies of their own have the contracts and promises that each has alone", () => {
  let mixed = 0;
  const consumer = fc.record({
    from: fc.constantFrom({ orders: "all" }, { orders: ["order.placed"] }, undefined),
    retry: fc.record({
      attempts: fc.integer({ min: 1, max: 4 }),
      // Jitter would leave one strategy only.
      backoff: fc.constantFrom(
        { kind: "immediate" },
        { kind: "constant", delay: "1s" },
        { kind: "constant", delay: "5s" },
        { kind: "linear", first: "1s" },
        { kind: "exponential", first: "1s", factor: 3 },
      ),
    }),
  });
  const target = fc.record({
    version: fc.constantFrom("4.3", "4.3", "4.3", "4.0", "3.13"),
    draws: fc.array(fc.nat(), { minLength: 4 }),
  });
  forAll(100, [systemsOf(consumer), target], (input, { version, draws }) => {
    const checked = checkSystem(input);
    if (!checked.ok) return;
    const names = Object.keys(checked.value.consumers);
    const under = new Map(
      strategyNames.map((strategy) => [strategy, compile(checked.value, { broker: "rabbitmq", version, strategy })]),
    );
    const possible = strategyNames.filter((strategy) => under.get(strategy)?.ok === true);
    if (possible.length < 2) return;
    const strategies = Object.fromEntries(
      names.map((name, index) => [name, possible[(draws[index] ?? 0) % possible.length] ?? "auto"] as const),
    );
    const result = compile(checked.value, { broker: "rabbitmq", version, strategies });
    expect(result.ok).toBe(true);
    if (!result.ok) return;
    for (const name of names) {
      const alone = under.get(strategies[name] as (typeof strategyNames)[number]);
      if (alone?.ok !== true) continue;
      const own = (all: readonly { readonly consumer: string }[]): unknown =>
        all.filter(({ consumer }) => consumer === name);
      expect(own(result.value.contracts)).toEqual(own(alone.value.contracts));
      expect(own(result.value.promises)).toEqual(own(alone.value.promises));
      // A consumer that starts reads its own strategy, and compiles the same.
      const started = prepare(checked.value, name, {
        target: { broker: "rabbitmq", version, strategies },
        connection: { url: "amqp://localhost" },
      });
      expect(started.ok && [started.value.contract]).toEqual(own(result.value.contracts));
    }
    if (new Set(Object.values(strategies)).size > 1) mixed += 1;
  });
  expect(mixed).toBeGreaterThan(10);
});
