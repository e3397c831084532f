import fc from "fast-check";
import { expect, test } from "vitest";

import { filterOf } from "../../src/brokers/servicebus/compile/filter.ts";
import { semanticsOf } from "../../src/brokers/servicebus/prove/semantics.ts";
import type { RuleFilter } from "../../src/brokers/servicebus/compile/topology.ts";
import { brokers, checkSystem, compile, type CompiledSystem, plan, type TargetInput } from "../../src/index.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify, verifyAll } from "../../src/verify/verify.ts";
import { forAll } from "../support/for-all.ts";
import { anyServicebusDeclaration, anyServicebusTarget, declaredFor } from "../support/servicebus-declarations.ts";

/** The compiler's output before its proof. */
function compiledOf(input: unknown, written: TargetInput<"servicebus">): CompiledSystem<"servicebus"> | null {
  const system = checkSystem(input);
  const target = brokers.servicebus.checkTarget(written);
  if (!system.ok || !target.ok) return null;
  const compiled = brokers.servicebus.compile(plan(system.value), target.value);
  return compiled.ok ? compiled.value : null;
}

const anyDeclared = {
  any: fc.tuple(anyServicebusDeclaration, anyServicebusTarget),
  immediate: declaredFor("immediate"),
  "ttl-tier": declaredFor("ttl-tier"),
};

test.each(["any", "immediate", "ttl-tier"] as const)(
  "every compiled system (%s) is proved: no loss, no loop, the attempts, their times, isolation, and the most deliveries",
  (strategy) => {
    let proved = 0;
    forAll(strategy === "ttl-tier" ? 100 : 600, [anyDeclared[strategy]], ([input, written]) => {
      const compiled = compiledOf(input, written);
      const target = brokers.servicebus.checkTarget(written);
      if (compiled === null || !target.ok) return;
      const subjects = brokers.servicebus.subjectsOf(compiled, target.value);
      expect(subjects).toHaveLength(compiled.contracts.length);
      const verdicts = subjects.map(({ model }) => verify(model()));
      expect(verdicts.flatMap(({ violations }) => violations)).toEqual([]);
      expect(verdicts.map(({ deliveries }) => deliveries)).toEqual(
        compiled.contracts.map(({ maxDeliveries }) => maxDeliveries),
      );
      // The verdict on one consumer of a shape must equal each consumer's own verdict. Only the number of states may
      // differ: each routing key begins its own state, and the shape leaves keys out.
      const judged = ({ states, ...rest }: Verdict): unknown => ({ ...rest, isVisited: states > 0 });
      expect(verifyAll(subjects).map(judged)).toEqual(verdicts.map(judged));
      proved += verdicts.length;
    });
    expect(proved).toBeGreaterThan(30);
  },
);

test("the same input gives the same bytes, and the output survives JSON", () => {
  forAll(100, [anyServicebusDeclaration, anyServicebusTarget], (input, target) => {
    const compiled = compiledOf(input, target);
    expect(JSON.stringify(compiledOf(input, target))).toBe(JSON.stringify(compiled));
    expect(JSON.parse(JSON.stringify(compiled))).toEqual(compiled);
  });
});

test("a consumer that is compiled alone gets the same contract and entities as beside others", () => {
  let compared = 0;
  forAll(600, [anyServicebusDeclaration, anyServicebusTarget], (input, target) => {
    const whole = compiledOf(input, target);
    for (const contract of whole?.contracts ?? []) {
      const consumers = { [contract.consumer]: input.consumers[contract.consumer] };
      const alone = compiledOf({ ...input, consumers }, target);
      expect(alone?.contracts).toEqual([contract]);
      for (const kind of ["queues", "topics", "subscriptions"] as const) {
        expect(whole?.topology[kind]).toEqual(expect.arrayContaining([...(alone?.topology[kind] ?? [])]));
      }
      compared++;
    }
  });
  expect(compared).toBeGreaterThan(50);
});

const word = fc.constantFrom("a", "b", "order", "it's", "50%", "_", "\\");
const pattern = fc
  .array(fc.oneof({ weight: 2, arbitrary: word }, fc.constantFrom("*", "#")), { minLength: 1, maxLength: 5 })
  .map((words) => words.join("."));
const routingKey = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join("."));

/** RabbitMQ's rule for topic patterns, written a second time. */
function isMatch(wanted: readonly string[], words: readonly string[]): boolean {
  const [first, ...others] = wanted;
  if (first === undefined) return words.length === 0;
  if (first === "#")
    return Array.from({ length: words.length + 1 }, (_, count) => words.slice(count)).some((rest) =>
      isMatch(others, rest),
    );
  return words.length > 0 && (first === "*" || first === words[0]) && isMatch(others, words.slice(1));
}

function letsIn(filter: RuleFilter, subject: string): boolean {
  const semantics = semanticsOf({
    queues: [],
    topics: [{ name: "orders", source: "orders", timeToLiveMs: null, duplicateDetectionMs: null }],
    subscriptions: [
      {
        kind: "subscription",
        topic: "orders",
        name: "billing",
        consumer: "billing",
        lockDurationMs: 60_000,
        maxDeliveryCount: 1,
        timeToLiveMs: null,
        deadLetterOnExpiration: true,
        deadLetterOnFilterError: true,
        requiresSession: false,
        forwardTo: null,
        forwardDeadLetteredTo: null,
        rules: [{ name: "$Default", filter }],
      },
    ],
  });
  const content = { messageId: "1", sessionId: null, subject, properties: {} };
  const outcomes = semantics.send({ to: "orders", content, timeToLiveMs: null, scheduled: false });
  expect(outcomes).toHaveLength(1);
  return outcomes[0]?.[0]?.place.kind === "entity";
}

test("a rule admits exactly the routing keys that its pattern matches", () => {
  let said = 0;
  let taken = 0;
  forAll(1_500, [pattern, fc.array(routingKey, { minLength: 1, maxLength: 8 })], (wanted, keys) => {
    const filter = filterOf(wanted, "topic");
    if (!("filter" in filter)) return;
    said++;
    // Keys like the pattern itself, so that more than a few of them match.
    const like = [wanted.replaceAll("*", "b").replaceAll("#", "a.b"), wanted.replaceAll(/\*|#/g, "a")];
    for (const key of [...keys, ...like]) {
      const isTaken = isMatch(wanted.split("."), key.split("."));
      if (isTaken) taken++;
      expect(letsIn(filter.filter, key), `${wanted} and ${key}`).toBe(isTaken);
    }
  });
  expect(said).toBeGreaterThan(700);
  expect(taken).toBeGreaterThan(700);
});

test("a strategy that is named and cannot keep the declaration is refused, and auto's choice can be named", () => {
  forAll(60, [anyServicebusDeclaration], (input) => {
    const system = checkSystem(input);
    if (!system.ok) return;
    const auto = compile(system.value, { broker: "servicebus", sku: "standard" });
    const strategies = auto.ok ? new Set(auto.value.choices.map(({ strategy }) => strategy)) : new Set();
    expect(strategies.has("ttl-tier")).toBe(false);
    for (const strategy of ["immediate", "scheduled"] as const) {
      const named = compile(system.value, { broker: "servicebus", sku: "standard", strategy });
      if (named.ok) expect(auto.ok).toBe(true);
      if (strategies.size === 1 && strategies.has(strategy)) expect(named.ok).toBe(true);
    }
  });
});
