import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";
import { expect, test } from "vitest";

import { compileAndProve, type Proved } from "../../src/compile/compile.ts";
import { brokerOf } from "../../src/brokers/index.ts";
import * as servicebus from "../../src/brokers/servicebus/prove/model.ts";
import * as sqs from "../../src/brokers/sqs/prove/model.ts";
import { checkSystem } from "../../src/declare/check.ts";
import { brokers, type CompiledSystem, type SystemInput, type TargetInput } from "../../src/index.ts";
import { driftBetween, driftFrom, type JudgedDifference, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { type Effect, effects } from "../../src/verify/judge.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { servicebusMutantsOf } from "../support/servicebus-mutants.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";
import { listingOf } from "../support/sqs-listing.ts";
import { sqsMutantsOf } from "../support/sqs-mutants.ts";

// Amazon SQS and Azure Service Bus; `drift.test.ts` has the same for RabbitMQ.

type Cloud = "sqs" | "servicebus";

function differencesTo<Name extends Cloud>(deployment: unknown, side: Proved<Name>): readonly JudgedDifference[] {
  const drift = accepted(driftFrom(deployment, side as never));
  expect(drift.unread).toEqual([]);
  return judgeDrift(drift);
}

function proved<Name extends Cloud>(input: unknown, target: TargetInput<Name>): Proved<Name> | null {
  const system = checkSystem(input as SystemInput);
  const result = system.ok ? compileAndProve<Name>(system.value, target) : system;
  return result.ok ? result.value : null;
}

const generated = [
  { name: "sqs", declaration: anySqsDeclaration, target: anySqsTarget },
  { name: "servicebus", declaration: anyServicebusDeclaration, target: anyServicebusTarget },
] as const;

test.for(generated)("on $name a compiled system is no difference to itself", ({ name, declaration, target }) => {
  let compiledCount = 0;
  forAll(250, [declaration, target as fc.Arbitrary<TargetInput<Cloud>>], (input, chosen) => {
    const own = proved(input, chosen);
    if (own === null) return;
    compiledCount++;
    const { differ } = brokers[name];
    expect(differencesTo(differ.deploymentOf(own.compiled as never), own)).toEqual([]);
    const between = driftBetween(own as never, own as never);
    expect(between.ok && between.value.differences).toEqual([]);
  });
  expect(compiledCount).toBeGreaterThan(10);
});

/** The consumers that a change does not concern, with a proof of the same shape as before. */
function leftAlone(own: Proved<Cloud>, changed: CompiledSystem<Cloud>): readonly string[] {
  const { subjectsOf, concernedBy } = (own.target.broker === "sqs" ? sqs : servicebus) as unknown as typeof sqs;
  const compiled = own.compiled as CompiledSystem<"sqs">;
  const topology = changed.topology as typeof compiled.topology;
  const before = new Map(subjectsOf(compiled).map(({ consumer, shape }) => [consumer, shape()]));
  const concerned = new Set(concernedBy(compiled)(topology).map(({ consumer }) => consumer));
  return subjectsOf({ ...compiled, topology }).flatMap(({ consumer, shape }) => {
    if (concerned.has(consumer)) return [];
    expect(shape(), consumer).toBe(before.get(consumer));
    return [consumer];
  });
}

test("AWS's answers in the order and the types of its API are no difference", () => {
  const own = shopOn("sqs", { strategy: "auto" });
  const answers = listingOf(own.compiled.topology).map((answer) => {
    const { Attributes } = answer as { readonly Attributes?: Readonly<Record<string, string>> };
    // The attributes that an audit does not need.
    return Attributes?.["QueueArn"] === undefined
      ? answer
      : { Attributes: { ...Attributes, ReceiveMessageWaitTimeSeconds: "20" } };
  });
  const read = accepted(brokers.sqs.auditor.file.read(JSON.stringify(answers.toReversed())));
  expect(differencesTo(read, own)).toEqual([]);
});

function shopOn<Name extends Cloud>(broker: Name, more: object, order: "none" | "per-key" = "none"): Proved<Name> {
  const strategy = "strategy" in more ? more.strategy : "auto";
  const delay = strategy === "immediate" ? { kind: "immediate" } : { kind: "constant", delay: "20s" };
  const retry = { attempts: 4, backoff: delay };
  const consumer = { from: { orders: ["order.placed", "order.late.#"] }, retry, handlerTimeout: "30s", order };
  const input = shopWith({ billing: consumer, shipping: { ...consumer, from: { orders: ["order.shipped"] } } });
  const place = broker === "sqs" ? { region: "eu-west-1" } : { sku: "standard" };
  return accepted(compileAndProve<Name>(checked(input), { broker, ...place, ...more } as never));
}

interface Mutant {
  readonly name: string;
  readonly compiled: CompiledSystem<Cloud>;
}

const cases = [
  { broker: "sqs", strategy: "redrive", order: "none" },
  { broker: "sqs", strategy: "visibility", order: "none" },
  { broker: "sqs", strategy: "redrive", order: "per-key" },
  { broker: "servicebus", strategy: "immediate", order: "none" },
  { broker: "servicebus", strategy: "scheduled", order: "none" },
  { broker: "servicebus", strategy: "ttl-tier", order: "none" },
] as const;

/** No deployment can have it, or shows it: a FIFO queue is one by its name, and a topic is not listed. */
const unseen = /other type/;

test.for(cases)(
  "on $broker under $strategy, $order, every mutant of the topology is a difference, judged as the proof judges it",
  ({ broker, strategy, order }) => {
    const own = shopOn(broker, { strategy, ...(strategy === "scheduled" ? { deadQueue: "shared" } : {}) }, order);
    const { differ } = brokers[broker];
    const all: readonly Mutant[] =
      broker === "sqs" ? sqsMutantsOf(own.compiled as never) : servicebusMutantsOf(own.compiled as never);
    const mutants = all.filter(({ name }) => !name.startsWith("the contract") && !unseen.test(name));
    const counts = { loss: 0, otherwise: 0, harmless: 0 };
    let alone = 0;
    for (const { name, compiled } of mutants) {
      if (isDeepStrictEqual(compiled.topology, own.compiled.topology)) continue;
      const found = differencesTo(differ.deploymentOf(compiled as never), own);
      expect(found.length, name).toBeGreaterThan(0);
      const worst = effects.findLast((effect) => found.some((each) => each.effect === effect)) ?? "harmless";
      counts[worst] += 1;
      alone += leftAlone(own, compiled).length;
      const verdicts = verifyAll<unknown>(brokerOf({ broker }).subjectsOf(compiled, own.target));
      const broken = verdicts.flatMap(({ violations }) => violations.map(({ property }) => property));
      const least: Effect = broken.length === 0 ? "harmless" : broken.includes("no-loss") ? "loss" : "otherwise";
      expect(effects.indexOf(worst), `${name}: ${worst}, and proved is ${least}`).toBeGreaterThanOrEqual(
        effects.indexOf(least),
      );
    }
    expect(alone).toBeGreaterThan(10);
    expect(counts.loss).toBeGreaterThan(3);
    expect(counts.otherwise).toBeGreaterThan(1);
    if (broker === "sqs") expect(counts.harmless).toBeGreaterThan(0);
  },
);

test.for([
  { target: { broker: "sqs", region: "eu-west-1" }, subscription: "shop-orders to shop-billing", parts: 3 },
  { target: { broker: "servicebus", sku: "standard" }, subscription: "shop.orders/billing", parts: 2 },
] as const)("two declarations on $target.broker: a key less, and a new consumer", ({ target, subscription, parts }) => {
  const billing = (keys: readonly string[]) => {
    return {
      from: { orders: keys },
      retry: { attempts: 3, backoff: { kind: "constant", delay: "20s" } },
      handlerTimeout: "30s",
    };
  };
  const side = (consumers: object) => {
    const own = proved<Cloud>({ name: "shop", sources: { orders: { kind: "topic" } }, consumers }, target);
    if (own === null) throw new Error("it does not compile");
    return own as never;
  };
  const before = side({ billing: billing(["order.placed", "order.paid"]) });
  const after = side({ billing: billing(["order.placed"]), mail: billing(["order.placed"]) });
  const drift = accepted(driftBetween(before, after));
  const [first, ...others] = judgeDrift(drift);
  expect([first?.effect, first?.change, first?.name]).toEqual(["loss", "different", subscription]);
  // Each new part once, and the messages of billing take no notice of it.
  expect(others.map(({ effect, change }) => `${change}: ${effect}`)).toEqual(Array(parts).fill("extra: harmless"));
});
