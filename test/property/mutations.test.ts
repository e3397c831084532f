import { expect, test } from "vitest";

import type { CompiledSystem } from "../../src/index.ts";
import { brokers, compile, parseTarget } from "../../src/index.ts";
import { verify, verifyAll } from "../../src/verify/verify.ts";
import { checked } from "../support/examples.ts";
import { contractMutantsOf } from "../support/contract-mutants.ts";
import { mutantsOf } from "../support/mutants.ts";
import type { Equivalent, Score } from "../support/mutation-page.ts";
import { mutationPage, unexplained } from "../support/mutation-page.ts";

// Each topology, and each contract, is broken in every way a person might, and the proof has to fail. A proof that cannot fail proves nothing.

/** Mutants that behave no differently for a message, and so cannot be told by any proof about one. */
const equivalent: readonly Equivalent[] = [
  {
    name: /^without the binding shop\.orders → shop\.billing \(order\.placed\)$/,
    because: "the wildcard that is bound as well matches the key",
  },
  {
    name: /^((a time to live of a second|drop-head|no limit of its own) on shop\.wait\.undeliverable|shop\.wait\.undeliverable as a .*|without the (alternate of shop\.wait\.again|(binding|exchange) shop\.wait\.undeliverable.*))$/,
    because: "nothing is routed there as long as every consumer of the declaration is deployed",
  },
  {
    name: /^shop\.(billing\.(dead|again|attempts\.first)|wait\.\d+ms) as a headers exchange$/,
    because: "a headers exchange whose binding asks for nothing takes every message, as a fanout exchange does",
  },
  {
    name: /^shop\.(billing\.attempts|wait\.again) as a topic exchange$/,
    because: "a topic exchange takes a key without wildcards for itself, as a direct exchange does",
  },
  {
    name: /^drop-head on shop\.billing\.dead$/,
    because: "a queue without a limit is never full, and an end dead-letters nothing",
  },
  {
    name: /^a permanent that is rejected$/,
    in: ["4.3 native", "4.3 waits", "4.3 waits with jitter", "4.0 waits", "3.10 staged", "3.10 waits"],
    because: "the work queue dead-letters into the dead queue by itself; the letter only lacks the consumer's words",
  },
  { name: /^a transient that is rejected$/, in: ["4.0 staged"], because: "up to 4.2 basic.reject is a basic.nack" },
  {
    name: /^a return that is put back by basic\.reject$/,
    in: ["4.0 staged", "4.0 waits", "3.10 staged", "3.10 waits"],
    because: "up to 4.2 basic.reject is a basic.nack",
  },
  {
    name: /^a permanent that does not count, or counts$/,
    in: ["4.3 deferred"],
    because: "nobody reads the count of a dead letter",
  },
  {
    name: /^a permanent whose copy has a key that nothing is bound with$/,
    because: "the dead exchange is a fanout exchange, which looks at no key",
  },
  {
    name: /^a transient whose copy waits twice as long$/,
    because: "the wait queue's own time to live is over first",
  },
  {
    name: /^1 ms more on shop\.wait\.(?!7500)\d+ms$/,
    in: ["4.3 waits with jitter"],
    because: "the copy's own time to live is over first, and with jitter it may be held up for 1 ms",
  },
  {
    name: /^(1 ms less on shop\.wait\.(5313|5938|6563|7188|7500)ms|a transient with 1 ms less in place [2-8] of its spread)$/,
    in: ["4.3 waits with jitter"],
    because: "the wait is within the declared jitter, and as far from the others as before",
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
  ["4.3", "waits", "50%"],
] as const;

function scoreOf([version, strategy, jitter]: (typeof cases)[number]): Score {
  const shared = strategy === "native" || strategy === "deferred";
  const consumer = {
    from: { orders: ["order.placed", "order.#"] },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    retry: {
      attempts: 4,
      backoff:
        strategy === "native" || jitter !== undefined
          ? { kind: "constant", delay: "5s", ...(jitter === undefined ? {} : { jitter }) }
          : { kind: "steps", delays: ["1s", "2s", "5s"] },
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
  const { topology, contracts } = compiled.value;
  const [billing] = contracts;
  if (billing === undefined) throw new Error("no contract");
  const mutants: { readonly name: string; readonly compiled: CompiledSystem<"rabbitmq"> }[] = [
    ...mutantsOf(topology).map((each) => ({
      name: each.name,
      compiled: { ...compiled.value, topology: each.topology },
    })),
    ...contractMutantsOf(billing).map(({ name, contract }) => ({
      name,
      compiled: { ...compiled.value, contracts: contracts.with(0, contract) },
    })),
  ];
  const alive = mutants.filter((each) => violationsOf(each.compiled).length === 0).map(({ name }) => name);
  return {
    what: `${version} ${strategy}${jitter === undefined ? "" : " with jitter"}`,
    mutants: mutants.map(({ name }) => name),
    alive,
  };
}

test("every mutant is caught, or behaves no differently, and the page says so", { timeout: 120_000 }, async () => {
  const scores = cases.map(scoreOf);
  expect(unexplained(scores, equivalent)).toEqual([]);
  for (const { mutants } of scores) expect(mutants.length).toBeGreaterThan(60);
  const page = mutationPage(
    {
      title: "Mutations",
      writtenBy: "test/property/mutations.test.ts",
      what: "A proof that cannot fail proves nothing. So what is compiled is broken in every way that a person might break it, and the proof has to refute what is left. Of the topology: a binding, an exchange, a policy or a dead-letter exchange gone, dead letters to nowhere or back to the source, keys and reasons swapped, limits and times changed by one or written as text, policies that overlap, drop-head, at-most-once, bindings too many, exchanges and queues of another kind, queues that can be full. Of the contract: outcomes swapped, operations left out, in another order or in place of others, copies to somewhere else or after another time, waits among which jitter chooses gone or changed, failures that count and do not. The system is that of two consumers with four attempts and three crash deliveries.",
      rows: "version and strategy",
      more: "Amazon SQS and Azure Service Bus have pages of their own: [mutations-sqs.md](mutations-sqs.md), [mutations-servicebus.md](mutations-servicebus.md).",
    },
    scores,
    equivalent,
  );
  await expect(page).toMatchFileSnapshot("../../docs/mutations.md");
});
