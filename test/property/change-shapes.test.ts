import fc from "fast-check";
import { expect, test } from "vitest";

import { brokers, checkSystem, compile, parseTarget, type SystemInput } from "../../src/index.ts";
import type { MessageState } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { InPhase } from "../../src/explore/phases.ts";
import type { Subject } from "../../src/explore/model.ts";
import { type ChangeVerdict, verifyChange, verifyChanges } from "../../src/verify/verify-change.ts";
import { verify } from "../../src/verify/verify.ts";
import { accepted } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";
import { mutantsOf } from "../support/mutants.ts";

// One proof of a change stands for all consumers that differ in names alone. So it has to be the proof of each. The
// consumers here are nearly alike, and the old and the new topology are broken in every way, so that losses differ too.

const names = ["billing", "billing-late", "mail", "audit"];

/** Keys that name a queue, look like a further attempt, or are patterns, beside usual ones. */
const keys = ["order.placed", "order.late", "order.*", "#", "shop.billing", "shop.mail", "billing.dead"];

const anyFrom = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 4,
    arbitrary: fc.dictionary(
      fc.constantFrom("orders", "sales"),
      fc.uniqueArray(fc.constantFrom(...keys), { minLength: 1, maxLength: 2 }),
      { minKeys: 1, maxKeys: 2 },
    ),
  },
);

const retries = [
  { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
  { attempts: 2, backoff: { kind: "constant", delay: "1s" } },
];

const anyOwn = fc.record({ from: anyFrom, retry: fc.constantFrom(...retries) });

const anyChange = fc.record({
  version: fc.constantFrom("4.3", "4.0", "3.10"),
  strategy: fc.constantFrom("staged", "waits", "auto"),
  dead: fc.constantFrom({}, { dead: "{consumer}.dead" }),
  kind: fc.constantFrom("topic", "direct"),
  /** Few declarations for many consumers, so that many are alike. */
  declared: fc.tuple(anyOwn, anyOwn, anyOwn),
  before: fc.tuple(...names.map(() => fc.constantFrom(0, 0, 0, 1))),
  after: fc.tuple(...names.map(() => fc.constantFrom(null, null, 1, 2))),
  broken: fc.constantFrom("before", "after", "both", null),
  mutant: fc.nat({ max: 10_000 }),
});

type Change = typeof anyChange extends fc.Arbitrary<infer Value> ? Value : never;

type Side = NonNullable<ReturnType<typeof sideOf>>;

function sideOf({ version, strategy, dead, kind, declared }: Change, picked: readonly number[]) {
  const system = checkSystem({
    name: "shop",
    names: dead,
    sources: { orders: { kind }, sales: { kind: "topic" } },
    consumers: Object.fromEntries(names.map((name, index) => [name, declared[picked[index] ?? 0]])),
  } as SystemInput);
  const target = accepted(parseTarget(`rabbitmq@${version}`, strategy));
  const compiled = system.ok ? compile(system.value, target) : null;
  return compiled?.ok === true ? { compiled: compiled.value, target } : null;
}

function sidesOf(change: Change): readonly (Side | null)[] {
  const after = change.after.map((own, index) => own ?? change.before[index] ?? 0);
  return [sideOf(change, change.before), sideOf(change, after)];
}

/** The side with one mistake in its topology. */
function broken({ compiled, target }: Side, mutant: number): Side {
  const mutants = mutantsOf(compiled.topology);
  const topology = mutants[mutant % mutants.length]?.topology ?? compiled.topology;
  return { compiled: { ...compiled, topology }, target };
}

test("a change that is proved for one consumer holds for each that differs only in names", { timeout: 600_000 }, () => {
  const counts = { shared: 0, unsafe: 0, weaker: 0 };
  forAll(600, [anyChange], (change) => {
    const [before, after] = sidesOf(change);
    if (!before || !after) return;
    const subjects: readonly Subject<InPhase<MessageState>>[] = brokers.rabbitmq.changesOf(
      ["before", "both"].includes(change.broken ?? "") ? broken(before, change.mutant) : before,
      ["after", "both"].includes(change.broken ?? "") ? broken(after, change.mutant) : after,
    );
    const shared = unlessTooLarge(() => verifyChanges(subjects));
    if (shared === null) return;
    expect(shared.map(alike)).toEqual(subjects.map(({ model }) => alike(verifyChange(model()))));
    counts.shared += subjects.length - new Set(subjects.map(({ shape }) => shape())).size;
    counts.unsafe += shared.filter(({ unsafe }) => unsafe.length > 0).length;
    counts.weaker += shared.filter(({ weaker }) => weaker.length > 0).length;
  });
  // Without consumers that share a proof, or without losses, the comparison would say nothing.
  for (const count of [counts.shared, counts.unsafe]) expect(count).toBeGreaterThan(40);
  expect(counts.weaker).toBeGreaterThan(0);
});

test("a change that changes nothing is as safe as the topology itself", { timeout: 600_000 }, () => {
  const counts = { safe: 0, unsafe: 0 };
  forAll(500, [anyChange], (change) => {
    const whole = sideOf(change, change.before);
    if (whole === null) return;
    const side = change.broken === null ? whole : broken(whole, change.mutant);
    const models = brokers.rabbitmq.subjectsOf(side.compiled, side.target).map(({ model }) => model());
    // A flaw is found before any message moves, and a change does not look for it.
    if (models.some(({ flaws = [] }) => flaws.length > 0)) return;
    const changes = unlessTooLarge(() =>
      brokers.rabbitmq.changesOf(side, side).map(({ model }) => verifyChange(model())),
    );
    if (changes === null) return;
    const isUnsafe = models.map((model) => Number.isNaN(verify(model).deliveries));
    expect(changes.map(({ unsafe }) => unsafe.length > 0)).toEqual(isUnsafe);
    for (const each of isUnsafe) counts[each ? "unsafe" : "safe"] += 1;
  });
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
});

test("the short way for a consumer that does not change gives the verdict of all phases", { timeout: 600_000 }, () => {
  const counts = { short: 0, long: 0, unsafe: 0 };
  forAll(300, [anyChange], (change) => {
    const [before, after] = sidesOf(change);
    if (!before || !after) return;
    const from = change.broken === "before" ? broken(before, change.mutant) : before;
    const to = change.broken === "after" ? broken(after, change.mutant) : after;
    // A target with another key is another target, and then no phase is left out.
    const longer = { ...to, target: { ...to.target, unknown: true } };
    const [short, long] = [to, longer].map((each) =>
      unlessTooLarge(() => brokers.rabbitmq.changesOf(from, each).map(({ model }) => verifyChange(model()))),
    );
    if (short === undefined || long === undefined || short === null || long === null) return;
    expect(short.map(alike)).toEqual(long.map(alike));
    for (const [at, { states, unsafe }] of short.entries()) {
      counts[states < (long[at]?.states ?? 0) / 2 ? "short" : "long"] += 1;
      if (unsafe.length > 0) counts.unsafe += 1;
    }
  });
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
});

test("another version of the broker is a phase, though nothing else changes", () => {
  const declared = fc.sample(anyChange, { numRuns: 20, seed: 1 });
  const sides = declared.flatMap((change) => {
    const [old, now] = (["4.0", "4.3"] as const).map((version) =>
      sideOf({ ...change, version, strategy: "waits" }, change.before),
    );
    return old && now ? [[old, now] as const] : [];
  });
  expect(sides.length).toBeGreaterThan(5);
  const statesOf = (from: Side, to: Side): readonly number[] =>
    brokers.rabbitmq.changesOf(from, to).map(({ model }) => verifyChange(model()).states);
  for (const [old, now] of sides)
    for (const [at, states] of statesOf(old, now).entries())
      expect(states).toBeGreaterThan(2 * (statesOf(old, old)[at] ?? 0));
});

/** Some broken topologies have more states than a proof visits. It ends with an error then, and there is no verdict. */
function unlessTooLarge<Verdict>(prove: () => Verdict): Verdict | null {
  try {
    return prove();
  } catch (cause) {
    if (cause instanceof Error && /^more than \d+ states/.test(cause.message)) return null;
    throw cause;
  }
}

/** Without the number of states, and without traces. Each routing key begins its own state, and shapes leave keys out. */
function alike({ consumer, attempts, unsafe, weaker }: ChangeVerdict) {
  const plain = [...unsafe, ...weaker].map(({ property, message }) => `${property}: ${message}`);
  return { consumer, attempts, plain };
}
