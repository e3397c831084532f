import { expect, expectTypeOf, test } from "vitest";

import { constant, defineSystem, type Duration, exponential, linear, steps, type System } from "../../src/index.ts";

// The assertions of this file are the `@ts-expect-error` lines: `npm run typecheck` fails if one of them has no error.

const sources = { orders: { kind: "topic" } } as const;
const retry = { attempts: 3, backoff: constant("1s") } as const;

/** Never called. Only the type checker reads its body. */
export function wrongOnPurpose(): void {
  // @ts-expect-error a bare number is no duration
  constant(1000);
  // @ts-expect-error no such unit
  constant("1 second");
  // @ts-expect-error a fraction is no whole number
  constant("1.5s");
  // @ts-expect-error jitter is a percentage
  constant("1s", { jitter: "0.2" });
  // @ts-expect-error factor is missing
  exponential({ first: "1s" });
  // @ts-expect-error no such key
  linear({ first: "1s", increment: "1s" });
  // @ts-expect-error a list of durations
  steps([1, 2]);
  // @ts-expect-error the source is not declared
  defineSystem({ name: "shop", sources, consumers: { billing: { from: { order: ["x"] }, retry } } });
  // @ts-expect-error unknown key
  defineSystem({ name: "shop", sources, consumers: { billing: { from: { orders: ["x"] }, retry, retries: 3 } } });
  const from = { orders: ["x"] } as const;
  // @ts-expect-error unknown key, deeper
  defineSystem({ name: "shop", sources, consumers: { a: { from, retry, crash: { count: 3 } } } });
  // @ts-expect-error a work queue needs retry
  defineSystem({ name: "shop", sources, consumers: { a: { from } } });
  // @ts-expect-error every-instance has no retry
  defineSystem({ name: "shop", sources, consumers: { a: { from, delivery: "every-instance", retry } } });
  // @ts-expect-error no such kind
  defineSystem({ name: "shop", sources: { orders: { kind: "queue" } }, consumers: {} });
}

test("a correct declaration has the right type", () => {
  const billing = { from: { orders: ["order.placed"] }, retry, handlerTimeout: "30s" } as const;
  const cache = { from: { orders: "all" }, delivery: "every-instance" } as const;
  const system = defineSystem({ name: "shop", sources, consumers: { billing, cache } });
  expectTypeOf(system).toEqualTypeOf<System<"billing" | "cache">>();
  expectTypeOf(system).toExtend<System>();
  expectTypeOf<"250ms">().toExtend<Duration>();
  expect(Object.keys(system.consumers)).toEqual(["billing", "cache"]);
});
