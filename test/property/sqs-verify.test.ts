import { describe, expect, test } from "vitest";

import { brokers, checkSystem, compile, type CompiledSystem, plan, type TargetInput } from "../../src/index.ts";
import { InternalError, prove } from "../../src/compile/compile.ts";
import { verify, verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";
import { anySqsDeclaration as anyDeclaration, anySqsTarget as anyTarget } from "../support/sqs-declarations.ts";

const eu = { broker: "sqs", region: "eu-west-1" } as const;

/** The compiler's output before its proof. */
function compiledOf(input: unknown, written: TargetInput<"sqs">): CompiledSystem<"sqs"> | null {
  const system = checkSystem(input);
  const target = brokers.sqs.checkTarget(written);
  if (!system.ok || !target.ok) return null;
  const compiled = brokers.sqs.compile(plan(system.value), target.value);
  return compiled.ok ? compiled.value : null;
}

function subjectsOf(compiled: CompiledSystem<"sqs">) {
  const target = accepted(brokers.sqs.checkTarget(eu));
  return brokers.sqs.subjectsOf(compiled, target);
}

test("every compiled system is proved: no loss, no loop, the attempts, their times, isolation, and the most deliveries", () => {
  let proved = 0;
  const strategies = new Set<string>();
  forAll(900, [anyDeclaration, anyTarget], (input, target) => {
    const compiled = compiledOf(input, target);
    if (compiled === null) return;
    const subjects = subjectsOf(compiled);
    expect(subjects).toHaveLength(compiled.contracts.length);
    const verdicts = subjects.map(({ model }) => verify(model()));
    expect(verdicts.flatMap(({ violations }) => violations)).toEqual([]);
    // Every receive is a delivery, so there are as many as attempts.
    expect(verdicts.map(({ deliveries }) => deliveries)).toEqual(
      compiled.contracts.map(({ attempts }) => attempts.length),
    );
    // The verdict on one consumer of a shape must equal each consumer's own verdict.
    expect(verifyAll(subjects)).toEqual(verdicts);
    proved += verdicts.length;
    for (const { strategy } of compiled.contracts) strategies.add(strategy);
  });
  expect(proved).toBeGreaterThan(100);
  expect([...strategies].toSorted()).toEqual(["redrive", "visibility"]);
});

describe("the shape of a consumer", () => {
  const base = (more: object = {}): object => ({
    from: { orders: ["order.placed"] },
    handlerTimeout: "10s",
    retry: { attempts: 3, backoff: { kind: "steps", delays: ["1s", "5s"] } },
    ...more,
  });
  const compiled = compiledOf(
    {
      name: "shop",
      sources: { orders: { kind: "topic" }, returns: { kind: "fanout" } },
      consumers: {
        billing: base(),
        // This consumer's name begins with the other's name, and its keys are different.
        "billing-late": base({ from: { orders: ["order.late", "order.#"], returns: "all" } }),
        slow: base({ retry: { attempts: 3, backoff: { kind: "steps", delays: ["1s", "6s"] } } }),
        long: base({ handlerTimeout: "11s" }),
        kept: base({ deadLetter: { retain: "13d" } }),
        asking: base({
          retry: { attempts: 3, backoff: { kind: "steps", delays: ["1s", "5s"] }, retryAfter: { max: "9s" } },
        }),
      },
    },
    eu,
  );
  if (compiled === null) throw new Error("it does not compile");
  const shapes = Object.fromEntries(subjectsOf(compiled).map(({ consumer: name, shape }) => [name, shape()]));

  test("is equal for consumers that differ only in names and routing keys", () => {
    expect(shapes["billing-late"]).toBe(shapes["billing"]);
  });

  test("differs with each rule, and with each break in a consumer's way in or out", () => {
    expect(new Set(Object.values(shapes)).size).toBe(5);
    const shapeWith = (change: Partial<CompiledSystem<"sqs">["topology"]>): string | undefined =>
      subjectsOf({ ...compiled, topology: { ...compiled.topology, ...change } })
        .find(({ consumer: name }) => name === "billing")
        ?.shape();
    const { queues, subscriptions } = compiled.topology;
    expect(shapeWith({})).toBe(shapes["billing"]);
    expect(shapeWith({ subscriptions: subscriptions.filter((each) => each.consumer !== "billing") })).not.toBe(
      shapes["billing"],
    );
    expect(shapeWith({ queues: queues.filter(({ name }) => name !== "shop-billing-dead") })).not.toBe(
      shapes["billing"],
    );
    const open = subscriptions.map((each) => ({ ...each, filterPolicy: null }));
    expect(shapeWith({ subscriptions: open })).not.toBe(shapes["billing"]);
  });
});

describe("a result that breaks its promises is never returned, and the error has the trace", () => {
  const retry = { attempts: 2, backoff: { kind: "constant", delay: "5s" } };
  const system = checked(oneConsumer({ handlerTimeout: "10s", retry }));
  const target = brokers.sqs.checkTarget(eu);
  const compiled = compile<"sqs">(system, eu);
  if (!compiled.ok || !target.ok) throw new Error("it does not compile");
  const { topology } = compiled.value;
  const proveWith = (change: object): (() => unknown) => {
    const queues = topology.queues.map((queue) => (queue.role === "work" ? { ...queue, ...change } : queue));
    return () => prove({ ...compiled.value, topology: { ...topology, queues } }, target.value);
  };

  test.for<[string, object, string]>([
    [
      "visibility timeout",
      { visibilityTimeoutSeconds: 14 },
      "billing: timing: attempt 2 can come 4000 ms after the failure before; 5000 ms are declared",
    ],
    [
      "visibility timeout below the handler's time",
      { visibilityTimeoutSeconds: 9 },
      "billing: timing: attempt 2 can come -1000 ms after the failure before; 5000 ms are declared",
    ],
    [
      "retention",
      { retentionSeconds: 30 },
      "1. published: visible in shop-billing\n  2. it is 30 s old, and its retries can take 30 s: lost at shop-billing: SQS deletes it at the end of its retention",
    ],
    ["no redrive policy", { redrive: null }, "billing: no-loop: a message goes round without end"],
    [
      "a dead queue that is not there",
      { redrive: { deadQueue: "shop-billing-died", maxReceiveCount: 2 } },
      "a receive in shop-billing: lost at shop-billing: the dead-letter queue does not exist",
    ],
  ])("%s", ([, change, said]) => {
    expect(proveWith({})()).toMatchObject({ ok: true, value: [{}] });
    expect(proveWith(change)).toThrow(InternalError);
    expect(proveWith(change)).toThrow(said);
  });

  test("a retention one second longer than the retries is enough", () => {
    expect(proveWith({ retentionSeconds: 31 })()).toMatchObject({ ok: true, value: [{}] });
    expect(proveWith({ retentionSeconds: 30 })).toThrow(InternalError);
  });
});
