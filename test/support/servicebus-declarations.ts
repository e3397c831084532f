import fc from "fast-check";

import type { TargetInput } from "../../src/index.ts";
import { backoffsOf, systemsOf } from "./arbitraries.ts";

const duration = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }).map((count) => `${count}ms`),
  fc.integer({ min: 1, max: 90 }).map((count) => `${count}s`),
  fc.constantFrom("1h", "12h", "30d"),
);
const consumerParts = {
  from: fc
    .constantFrom<readonly (string | string[])[]>(
      ["all"],
      [["order.placed"]],
      [["order.#", "#.late", "a"]],
      [["order.*", "*.*.late", "example.#"]],
    )
    .chain(([keys]) => fc.constantFrom({ orders: keys }, { orders: keys }, { orders: keys }, undefined)),
  retry: {
    attempts: fc.integer({ min: 1, max: 6 }),
    backoff: backoffsOf(duration),
    retryAfter: fc.option(fc.record({ max: fc.constantFrom("2s", "1h") }), { nil: undefined, freq: 3 }),
  },
  crash: fc.option(fc.record({ deliveries: fc.integer({ min: 1, max: 4 }) }), { nil: undefined }),
  handlerTimeout: fc.option(duration, { nil: undefined, freq: 4 }),
  order: fc.constantFrom("none", "none", "per-key"),
  deadLetter: fc.option(
    fc.record({ retain: fc.constantFrom("1h", "13d"), alarmAbove: fc.nat(3), park: fc.boolean() }),
    { nil: undefined },
  ),
};
const consumer = fc.record({ ...consumerParts, retry: fc.record(consumerParts.retry) });
export const anyServicebusDeclaration = systemsOf(consumer);
export const anyServicebusTarget: fc.Arbitrary<TargetInput<"servicebus">> = fc.record({
  broker: fc.constant("servicebus" as const),
  sku: fc.constantFrom("basic", "standard", "premium"),
  strategy: fc.constantFrom("auto", "immediate", "scheduled", "ttl-tier"),
  lock: fc.constantFrom("5s", "5m"),
  duplicates: fc.constantFrom(undefined, undefined, "20s", "7d"),
  deadQueue: fc.constantFrom("own", "own", "shared"),
});

type Backoff = Readonly<Record<string, string>>;

/** Backoffs that a strategy needs. Chance hardly ever draws them for all consumers of a system. */
const suitingBackoffs: Readonly<Record<"immediate" | "ttl-tier", Backoff>> = {
  immediate: { kind: "immediate" },
  "ttl-tier": { kind: "constant", delay: "30s" },
};

/** Declarations that suit a strategy, with a target that names it. */
export function declaredFor(
  strategy: keyof typeof suitingBackoffs,
): fc.Arbitrary<readonly [declaration: unknown, target: TargetInput<"servicebus">]> {
  const { retry, ...rest } = { ...consumerParts, order: fc.constant("none") };
  const suited = fc.record({
    ...rest,
    handlerTimeout: fc.constant("10s"),
    retry: fc.record({ ...retry, backoff: fc.constant(suitingBackoffs[strategy]), retryAfter: fc.constant(undefined) }),
  });
  const target = anyServicebusTarget.map((drawn) => ({
    ...drawn,
    sku: "standard" as const,
    lock: "5m" as const,
    strategy,
  }));
  return fc.tuple(systemsOf(suited), target);
}
