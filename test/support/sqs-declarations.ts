import fc from "fast-check";

import type { TargetInput } from "../../src/index.ts";
import { backoffsOf, systemsOf } from "./arbitraries.ts";

const services = {
  refunds: { kind: "fanout", name: "arn:aws:events:eu-west-1:123456789012:rule/refunds", owner: "other" },
  scans: { kind: "fanout", name: "arn:aws:s3:::shop-scans", owner: "other" },
} as const;
// Delays of hours and many attempts, to come near to the retention and the 12 h of a visibility timeout.
const duration = fc.oneof(
  fc.integer({ min: 1, max: 90 }).map((count) => `${count}s`),
  fc.integer({ min: 1, max: 30 }).map((count) => `${count}m`),
  fc.constantFrom("1h", "6h", "11h", "39600s", "43190s", "12h"),
);
const consumer = fc.record({
  from: fc
    .constantFrom<readonly (string | string[])[]>(
      ["all"],
      [["order.placed"]],
      [["order.#", "#.late", "a"]],
      [["order.placed", "order.#", "example.#"]],
    )
    .chain(([keys]) =>
      fc.constantFrom(
        { orders: keys },
        { orders: keys },
        { orders: keys, refunds: "all" },
        { scans: "all", refunds: "all" },
        {
          files: [
            { match: "all", headers: { type: "invoice" } },
            { match: "any", headers: { type: "order" } },
          ],
        },
        undefined,
      ),
    ),
  retry: fc.record({
    attempts: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 7 }) }, fc.constantFrom(24, 40)),
    backoff: backoffsOf(duration),
    retryAfter: fc.option(fc.record({ max: duration }), { nil: undefined, freq: 3 }),
  }),
  handlerTimeout: fc.option(duration, { nil: undefined, freq: 4 }),
  order: fc.constantFrom("none", "none", "per-key"),
  deadLetter: fc.option(fc.record({ retain: fc.constantFrom("1h", "4d", "13d") }), { nil: undefined }),
});
/** Systems with many values near to a limit of SQS. Some are refused. */
export const anySqsDeclaration = systemsOf(consumer).map((system): typeof system => {
  const used = new Set(Object.values(system.consumers).flatMap(({ from }) => Object.keys(from ?? {})));
  const sources = Object.entries({ orders: { kind: "topic" }, files: { kind: "headers" }, ...services } as const);
  return { ...system, sources: Object.fromEntries(sources.filter(([name]) => name === "orders" || used.has(name))) };
});
export const anySqsTarget: fc.Arbitrary<TargetInput<"sqs">> = fc.record({
  broker: fc.constant("sqs" as const),
  region: fc.constant("eu-west-1" as const),
  strategy: fc.constantFrom("auto", "redrive", "visibility"),
  deadQueue: fc.constantFrom("own", "own", "own", "shared"),
  lambda: fc.option(fc.constantFrom("15s", "1m", "15m").map(functionOf), { nil: undefined, freq: 2 }),
});

/** The first consumer is a function of Lambda. */
function functionOf(timeout: "15s" | "1m" | "15m"): NonNullable<TargetInput<"sqs">["lambda"]> {
  return { "consumer-0": { function: "first", timeout } };
}
