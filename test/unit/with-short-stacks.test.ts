import { expect, test } from "vitest";

import { RetryTopology } from "../../src/brokers/rabbitmq/make/index.ts";
import { withShortStacks } from "../../src/deploy/with-short-stacks.ts";
import { checked } from "../support/examples.ts";
import { runProgram } from "../support/pulumi.ts";

const framesOf = (error: unknown): number => (error as Error).stack?.match(/^\s+at /gm)?.length ?? 0;

test("stacks are short inside and whole outside, also after a failure, which still names its place", () => {
  const before = Error.stackTraceLimit;
  expect(withShortStacks(() => framesOf(new Error("inside")))).toBe(1);
  expect(() =>
    withShortStacks(() => {
      throw new Error("a bug");
    }),
  ).toThrow("a bug");
  expect(Error.stackTraceLimit).toBe(before);
  expect(framesOf(new Error("outside"))).toBeGreaterThan(1);
});

test("the component takes short stacks for its resources", async () => {
  // The SDK takes a stack for each of its promises.
  const limits = new Map<number, number>();
  const { Error: original } = globalThis;
  const counting = new Proxy(original, {
    construct: (target, words, newTarget) => {
      limits.set(original.stackTraceLimit, (limits.get(original.stackTraceLimit) ?? 0) + 1);
      return Reflect.construct(target, words, newTarget) as object;
    },
  });
  globalThis.Error = counting;
  try {
    const consumer = { from: { orders: "all" }, retry: { attempts: 2, backoff: { kind: "immediate" } } };
    const consumers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`consumer-${index}`, consumer]));
    const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers } as never);
    const run = await runProgram(
      () => void new RetryTopology("shop", { system, target: { broker: "rabbitmq", version: "4.3" } }),
    );
    expect(run.error).toBeUndefined();
    expect(limits.get(1) ?? 0).toBeGreaterThan(run.resources.length);
  } finally {
    globalThis.Error = original;
  }
});
