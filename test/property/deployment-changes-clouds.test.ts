import fc from "fast-check";
import { expect, test } from "vitest";

import { refusalOf } from "../support/change/component-refusal.ts";
import { checkSystem, compile, type System, type SystemInput, type TargetInput } from "../../src/index.ts";
import { cloudInventory } from "../support/change/cloud-inventory.ts";
import { runUpdate } from "../support/change/engine-model.ts";
import { provider } from "../support/change/providers.ts";
import { forAllAsync } from "../support/for-all.ts";
import { anyServicebusDeclaration } from "../support/servicebus-declarations.ts";
import { registerServicebus } from "../support/servicebus/register.ts";
import { anySqsDeclaration } from "../support/sqs-declarations.ts";
import { registerSqs } from "../support/sqs/register.ts";

// Deploys any system over any other, with and without protection, in any order, with a failure at any step. Resources
// that hold messages or lead to them stay. A resource may go only if its own consumer no longer wants it and keeps its
// queue in the program.

const brokers = {
  sqs: {
    declaration: anySqsDeclaration,
    target: { broker: "sqs", region: "eu-west-1" } as const,
    register: async (system: System) => registerSqs(system, { broker: "sqs", region: "eu-west-1" }),
    mayGo: /TopicSubscription|MetricAlarm|EventSourceMapping/,
  },
  servicebus: {
    declaration: anyServicebusDeclaration,
    target: { broker: "servicebus", sku: "standard" } as const,
    register: async (system: System) => registerServicebus(system, { broker: "servicebus", sku: "standard" }),
    mayGo: /:Rule|MetricAlert/,
  },
} as const;

const anyWay = fc.record({
  skipPreview: fc.boolean(),
  unprotect: fc.boolean(),
  destroy: fc.nat({ max: 4 }).map((number) => number === 0),
  failsAt: fc.option(fc.nat({ max: 30 }), { nil: null }),
  order: fc.infiniteStream(fc.nat({ max: 1_000 })),
});

test.each(Object.keys(brokers) as (keyof typeof brokers)[])(
  "%s: every resource that messages need stays",
  { timeout: 600_000 },
  async (name) => {
    const { declaration, target, register, mayGo } = brokers[name];
    const acceptable = declaration.filter((each) => systemOf(each, target) !== null);
    const counts = { through: 0, refused: 0, removed: 0 };
    await forAllAsync(100, [acceptable, acceptable, anyWay, fc.boolean()], async (first, second, way, isLike) => {
      // Often both systems are the same, except that the consumers no longer take from one source.
      const before = systemOf(isLike ? withOneMore(first) : first, target);
      const after = systemOf(isLike ? withSource(first) : second, target);
      if (before === null || after === null) return;
      const inventory = cloudInventory();
      const deployed = await register(before);
      const pick = { first: () => 0, any: orderOf(way.order) };
      const usual = { provider, backend: inventory, refusal: null, skipPreview: true, pick: pick.first };
      const made = await runUpdate([], deployed.resources, usual);
      expect(made.error).toBeNull();
      const program = way.destroy ? [] : (await register(after)).resources;
      const state = way.unprotect ? made.state.map((entry) => ({ ...entry, protect: false })) : made.state;
      let steps = 0;
      const result = await runUpdate(state, program, {
        ...usual,
        refusal: refusalOf(state, program, new Map()),
        skipPreview: way.skipPreview,
        pick: pick.any,
        beforeStep: () => {
          if (way.failsAt === steps) throw new Error("the connection is cut");
          steps += 1;
        },
      });
      const inProgram = new Set(program.map(({ urn }) => urn));
      const wrong = inventory.removed.filter(
        ({ type, deletedWith }) => !mayGo.test(type) || !inProgram.has(deletedWith ?? ""),
      );
      expect(wrong.map(({ name: own, type }) => `${type} ${own}`)).toEqual([]);
      counts.removed += inventory.removed.length;
      counts[result.error === null ? "through" : "refused"] += 1;
    });
    for (const count of Object.values(counts)) expect(count, JSON.stringify(counts)).toBeGreaterThan(0);
  },
);

function orderOf(order: Iterable<number>): (count: number) => number {
  const numbers = order[Symbol.iterator]();
  return (count) => (count <= 1 ? 0 : Number(numbers.next().value) % count);
}

/** Null if the compiler refuses it. */
function systemOf(input: unknown, target: TargetInput): System | null {
  const system = checkSystem(input as SystemInput);
  return system.ok && compile(system.value, target).ok ? system.value : null;
}

function withSource(input: unknown): unknown {
  const { sources, ...rest } = input as Readonly<Record<string, object>>;
  return { ...rest, sources: { ...sources, extra: { kind: "topic" } } };
}

function withOneMore(input: unknown): unknown {
  const { sources, consumers, ...rest } = input as Readonly<Record<string, Record<string, { readonly from: object }>>>;
  const taking = Object.entries(consumers ?? {}).map(([name, own]) => [
    name,
    { ...own, from: { ...own.from, extra: ["a"] } },
  ]);
  return {
    ...rest,
    sources: { ...sources, extra: { kind: "topic" } },
    consumers: Object.fromEntries(taking) as object,
  };
}
