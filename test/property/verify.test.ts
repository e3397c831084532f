import fc from "fast-check";
import { expect, test } from "vitest";

import { brokers, compile, parseTarget } from "../../src/index.ts";
import { InternalError, prove } from "../../src/compile/compile.ts";
import { verify, verifyAll } from "../../src/verify/verify.ts";
import { anyNames, anySystem, anyTarget } from "../support/arbitraries.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

test("every compiled system is proved: no loss, no loop, the attempts, their times, the crash budget, isolation", () => {
  let proved = 0;
  forAll(200, [anySystem, fc.option(anyNames, { nil: {} }), anyTarget], (input, names, written) => {
    const target = accepted(parseTarget(`rabbitmq@${written.version}`, written.strategy));
    const compiled = compile(checked({ ...input, names }), target);
    if (!compiled.ok) return;
    for (const subject of brokers.rabbitmq.subjectsOf(compiled.value, target)) {
      const model = subject.model();
      const verdict = verify(model);
      expect(verdict.violations).toEqual([]);
      expect(verdict.deliveries).toBeLessThanOrEqual(model.wanted.maxDeliveries);
      proved++;
    }
    // The verdict on one consumer of a shape must equal each consumer's own verdict.
    const subjects = brokers.rabbitmq.subjectsOf(compiled.value, target);
    expect(verifyAll(subjects)).toEqual(subjects.map(({ model }) => verify(model())));
  });
  // 260 are usual, give or take 20.
  expect(proved).toBeGreaterThan(150);
});

test.for([
  {},
  { dead: "dlq-{consumer}" },
  { dead: "{consumer}" },
  { queue: "{consumer}.of.{system}", dead: "{consumer}" },
])("consumers that differ only in names are proved once, and one with another rule separately: %j", (names) => {
  const consumer = (more: object = {}): object => ({
    from: { orders: ["order.placed"] },
    retry: { attempts: 3, backoff: { kind: "steps", delays: ["1s", "5s"] } },
    ...more,
  });
  const system = checked({
    name: "shop",
    names,
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: consumer(),
      // The other consumer's name begins with this one's name.
      "billing-late": consumer({ from: { orders: ["order.*.late", "order.#"] } }),
      mail: consumer({ from: { orders: ["order.placed", "order.late"] } }),
      // Both patterns match one and the same message.
      everything: consumer({ from: { orders: ["*", "#"] } }),
      slow: consumer({ retry: { attempts: 3, backoff: { kind: "steps", delays: ["1s", "6s"] } } }),
      brittle: consumer({ crash: { deliveries: 2 } }),
    },
  });
  for (const strategy of ["staged", "waits"]) {
    const target = accepted(parseTarget("rabbitmq@4.3", strategy));
    const compiled = accepted(compile(system, target));
    const subjects = brokers.rabbitmq.subjectsOf(compiled, target);
    const shapes = Object.fromEntries(subjects.map(({ consumer: name, shape }) => [name, shape()]));
    expect(shapes["mail"]).toBe(shapes["billing-late"]);
    const { billing, mail, everything, slow, brittle } = shapes;
    expect(new Set([billing, mail, everything, slow, brittle]).size).toBe(5);
    expect(verifyAll(subjects)).toEqual(subjects.map(({ model }) => verify(model())));
  }
});

test("a result that breaks its promises is never returned, and the error has the trace", () => {
  const target = accepted(parseTarget("rabbitmq@4.3", "staged"));
  const compiled = accepted(compile(checked(oneConsumer()), target));
  const { topology } = compiled;
  expect(accepted(prove(compiled, target))).toHaveLength(1);
  const queues = topology.queues.map((queue) =>
    queue.role === "work"
      ? { ...queue, arguments: { ...queue.arguments, "x-dead-letter-exchange": "nowhere" } }
      : queue,
  );
  const broken = { ...compiled, topology: { ...topology, queues } };
  expect(() => prove(broken, target)).toThrow(InternalError);
  expect(() => prove(broken, target)).toThrow(
    /billing: no-loss: .*\n {2}1\. published: ready in shop\.billing, key "order\.placed"\n {2}2\. delivered/,
  );
});
