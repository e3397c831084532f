import { expect, test } from "vitest";

import type { CompiledSystem } from "../../src/index.ts";
import { brokers, compile, parseTarget } from "../../src/index.ts";
import { verify, verifyAll } from "../../src/verify/verify.ts";
import { checked } from "../support/examples.ts";
import { mutantsOf } from "../support/mutants.ts";

// Each topology is broken in every way a person might, and the proof has to fail. A proof that cannot fail proves nothing.

/** Mutants that behave no differently for a message, and so cannot be told by any proof about one. */
const equivalent: readonly { readonly mutant: RegExp; readonly because: string }[] = [
  {
    mutant: /without the binding shop\.orders → shop\.billing \(order\.placed\)/,
    because: "the wildcard that is bound as well matches the key",
  },
  {
    mutant: /shop\.wait\.undeliverable|without the alternate of shop\.wait\.again/,
    because: "nothing is routed there as long as every consumer of the declaration is deployed",
  },
  {
    mutant: /(dead|again|first|wait\.\d+ms) as a headers exchange/,
    because: "a headers exchange whose binding asks for nothing takes every message, as a fanout exchange does",
  },
  {
    mutant: /(retry|again) as a topic exchange/,
    because: "a topic exchange takes a key without wildcards for itself, as a direct exchange does",
  },
  {
    mutant: /drop-head on shop\.billing\.dead/,
    because: "a queue without a limit is never full, and an end dead-letters nothing",
  },
];

const cases = [
  ["4.3", "native"],
  ["4.3", "deferred"],
  ["4.3", "staged"],
  ["4.3", "waits"],
  ["4.0", "staged"],
  ["4.0", "waits"],
  ["3.10", "staged"],
  ["3.10", "waits"],
] as const;

interface Score {
  readonly target: string;
  readonly mutants: number;
  /** Those that the proof accepts. */
  readonly alive: readonly string[];
}

function scoreOf([version, strategy]: (typeof cases)[number]): Score {
  const shared = strategy === "native" || strategy === "deferred";
  const consumer = {
    from: { orders: ["order.placed", "order.#"] },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    retry: {
      attempts: 4,
      backoff:
        strategy === "native" ? { kind: "constant", delay: "5s" } : { kind: "steps", delays: ["1s", "2s", "5s"] },
    },
    ...(shared ? {} : { crash: { deliveries: 3 } }),
  };
  const target = parseTarget(`rabbitmq@${version}`, strategy);
  if (!target.ok) throw new Error("no target");
  const compiled = compile(
    checked({
      name: "shop",
      sources: { orders: { kind: "topic" }, events: { kind: "topic" } },
      consumers: { billing: consumer, shipping: { ...consumer, from: { events: ["order.placed", "order.#"] } } },
    }),
    target.value,
  );
  if (!compiled.ok) throw new Error("it does not compile");
  const violationsOf = (value: CompiledSystem<"rabbitmq">): readonly unknown[] => {
    const subjects = brokers.rabbitmq.subjectsOf(value, target.value);
    const verdicts = verifyAll(subjects);
    // One proof for all that differ in names alone must not hide what is wrong with one of them.
    expect(verdicts).toEqual(subjects.map(({ model }) => verify(model())));
    return verdicts.flatMap(({ violations }) => violations);
  };
  expect(violationsOf(compiled.value)).toEqual([]);
  const mutants = mutantsOf(compiled.value.topology);
  const alive = mutants
    .filter(({ topology }) => violationsOf({ ...compiled.value, topology }).length === 0)
    .map(({ name }) => name);
  return { target: `${version} ${strategy}`, mutants: mutants.length, alive };
}

const explanationOf = (name: string): string | undefined => equivalent.find(({ mutant }) => mutant.test(name))?.because;

test("every mutant is caught, or behaves no differently, and the page says so", { timeout: 60_000 }, async () => {
  const scores = cases.map(scoreOf);
  expect(scores.flatMap(({ alive }) => alive.filter((name) => explanationOf(name) === undefined))).toEqual([]);
  for (const { mutants } of scores) expect(mutants).toBeGreaterThan(20);
  const explained = Map.groupBy(new Set(scores.flatMap(({ alive }) => alive)), (name) => explanationOf(name) ?? "");
  const page = [
    "# Mutations",
    "",
    "<!-- Written by test/property/mutations.test.ts; `npx vitest run --project fast -u` writes it anew. -->",
    "",
    "A proof that cannot fail proves nothing. So compiled topologies are broken in every way that a person might break them, and the proof has to refute what is left: a binding, an exchange, a policy or a dead-letter exchange gone, dead letters to nowhere or back to the source, keys and reasons swapped, limits and times changed by one or written as text, policies that overlap, drop-head, at-most-once, bindings too many, exchanges and queues of another kind, queues that can be full. The topology is that of two consumers with four attempts and three crash deliveries.",
    "",
    "| version and strategy | mutants | refuted | behave no differently |",
    "|---|---|---|---|",
    ...scores.map(
      ({ target, mutants, alive }) => `| ${target} | ${mutants} | ${mutants - alive.length} | ${alive.length} |`,
    ),
    "",
    "Those that behave no differently for any message, and why:",
    "",
    ...[...explained].map(([because, names]) => `- ${because}: ${names.toSorted().join("; ")}`),
    "",
    "Azure Service Bus has a page of its own: [mutations-servicebus.md](mutations-servicebus.md).",
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot("../../docs/mutations.md");
});
