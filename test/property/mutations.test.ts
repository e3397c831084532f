import { expect, test } from "vitest";

import { brokers, compile, type CompiledSystem } from "../../src/index.ts";
import { checkRabbitmqTarget } from "../../src/brokers/rabbitmq/compile/target.ts";
import { verify, verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked } from "../support/examples.ts";
import { contractMutantsOf } from "../support/contract-mutants.ts";
import { mutantsOf, swappedKeys } from "../support/mutants.ts";
import { type Equivalent, expectRefuted, type Score, scoreOfMutants } from "../support/mutation-page.ts";

// Breaks each topology and each contract in every way that a person might. The proof must fail each time: a proof that
// cannot fail proves nothing.

const withShared = " with a shared dead queue";

/** Mutants that change nothing for a single message. A proof about one message cannot tell them apart. */
const equivalent: readonly Equivalent[] = [
  {
    name: /^without the binding shop\.orders → shop\.billing \(order\.placed\)$/,
    because: "a second binding with a wildcard matches the key",
  },
  {
    name: /^((a time to live of a second|drop-head|no limit of its own|a delivery limit of -1|one delivery less) on shop\.undeliverable|shop\.undeliverable as a .*|without the (alternate of shop\.again|(binding|exchange) shop\.undeliverable.*))$/,
    because: "no message goes there while every consumer of the declaration is deployed",
  },
  {
    name: /^shop\.(again\.\d|attempt\.2\.1s|wait\.\d+ms) as a headers exchange$/,
    because: "a headers exchange takes every message if its binding requires no header, as a fanout exchange does",
  },
  {
    name: /^shop\.billing\.failed as a (direct|topic|headers) exchange$/,
    because: "it has no bindings, so an exchange of any kind takes its alternate exchange",
  },
  {
    name: /^without the binding shop\.retry\.1s-2s-5s\.attempts → shop\.dead \(shop\.again\.([5-9]|10)\)$/,
    because: "only a message from before the user lowered the attempts comes through that exchange",
  },
  {
    name: /^shop\.(dead|again) as a topic exchange$/,
    because: "a topic exchange compares a key without wildcards as a direct exchange does",
  },
  {
    name: /^shop\.dead as a (fanout|headers) exchange$/,
    in: ["4.3 native", "4.3 deferred", "4.0 staged", "3.10 waits"].map((each) => each + withShared),
    because: "every key leads into the one dead queue",
  },
  {
    name: /^drop-head on shop\.(billing\.)?dead$/,
    because: "a queue without a limit is never full, and the dead queue dead-letters nothing",
  },
  {
    name: /^one delivery more on shop\.(billing\.dead|dead|undeliverable|wait\.\d+ms)$/,
    in: ["3.10 waits", `3.10 waits${withShared}`],
    because: "their limit is the greatest one, and no message reaches it",
  },
  {
    name: /^a permanent failure that is rejected$/,
    in: [
      "4.3 native",
      "4.3 waits",
      "4.3 waits with jitter",
      "4.0 waits",
      "3.10 waits",
      `4.3 native${withShared}`,
      `3.10 waits${withShared}`,
    ],
    because:
      "the work queue dead-letters into the dead queue by itself; the dead letter only lacks the consumer's reason",
  },
  {
    name: /^a transient failure that is rejected$/,
    in: ["4.0 staged", `4.0 staged${withShared}`],
    because: "up to 4.2 basic.reject acts as basic.nack",
  },
  {
    name: /^a return that is requeued by basic\.reject$/,
    in: ["4.0 staged", "4.0 waits", "3.10 waits", `4.0 staged${withShared}`, `3.10 waits${withShared}`],
    because: "up to 4.2 basic.reject acts as basic.nack",
  },
  {
    name: /^a permanent failure that does not count, or counts$/,
    in: ["4.3 deferred", `4.3 deferred${withShared}`],
    because: "no consumer reads the count of a dead letter",
  },
  {
    name: /^a transient failure whose copy waits twice as long$/,
    because: "the wait queue's own time to live ends first",
  },
  {
    name: /^1 ms more on shop\.wait\.(?!7500)\d+ms$/,
    in: ["4.3 waits with jitter"],
    because: "the copy's own time to live ends first, and jitter allows a delay of 1 ms more",
  },
  {
    name: /^(1 ms less on shop\.wait\.(5313|5938|6563|7188|7500)ms|a transient failure with 1 ms less in place [2-8] of its spread)$/,
    in: ["4.3 waits with jitter"],
    because: "the wait is within the declared jitter, at the same distance from the others",
  },
];

const cases = [
  ["4.3", "native"],
  ["4.3", "deferred"],
  ["4.3", "staged"],
  ["4.3", "waits"],
  ["4.0", "staged"],
  ["4.0", "waits"],
  ["3.10", "waits"],
  ["4.3", "waits", "50%"],
  ["4.3", "native", undefined, "shared"],
  ["4.3", "deferred", undefined, "shared"],
  ["4.0", "staged", undefined, "shared"],
  ["3.10", "waits", undefined, "shared"],
] as const;

function scoreOf([version, strategy, jitter, deadQueue]: (typeof cases)[number]): Score {
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
  const target = accepted(checkRabbitmqTarget({ broker: "rabbitmq", version, strategy, deadQueue }));
  const sources = { orders: { kind: "topic" }, events: { kind: "topic" } };
  const consumers = { billing: consumer, shipping: { ...consumer, from: { events: ["order.placed", "order.#"] } } };
  const compiled = compile(checked({ name: "shop", sources, consumers }), target);
  if (!compiled.ok) throw new Error("it does not compile");
  const violationsOf = (value: CompiledSystem<"rabbitmq">): readonly unknown[] => {
    const subjects = brokers.rabbitmq.subjectsOf(value, target);
    const verdicts = verifyAll(subjects);
    // `verifyAll` proves consumers once if only names differ. That must not hide a fault in one of them.
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
  // Consumers share tiers, so a retry of one must not reach the other.
  const swapped = mutants.filter(({ name }) => swappedKeys.some((each) => each === name));
  expect(swapped).toHaveLength(shared ? 0 : swappedKeys.length);
  for (const mutant of swapped) {
    const isLetter = deadQueue === "shared" && mutant.name.includes("failed messages");
    const property = isLetter ? "no-loss" : "isolation";
    expect(violationsOf(mutant.compiled), mutant.name).toContainEqual(expect.objectContaining({ property }));
  }
  const what = `${version} ${strategy}${jitter === undefined ? "" : " with jitter"}${deadQueue === undefined ? "" : withShared}`;
  return scoreOfMutants(what, mutants, (each) => violationsOf(each.compiled).length === 0);
}

const intro = `A proof that cannot fail proves nothing. So a test breaks a compiled system in every way that a person might. Each broken system is a **mutant**. The proof has to refute it, unless every message still fares as promised.

| part | what the mutants change |
|---|---|
| topology | a binding, an exchange, a policy or a dead-letter exchange is missing |
| topology | dead letters go nowhere, or back to the source |
| topology | routing keys or reasons of death are swapped |
| topology | two consumers that share tiers swap their keys |
| topology | a limit or a time differs by one, or is text instead of a number |
| topology | policies overlap, or set \`drop-head\` or \`at-most-once\` |
| topology | there is a binding too many, or an exchange or queue of another kind |
| topology | a queue can be full |
| contract | outcomes are swapped |
| contract | an operation is missing, in another place, or replaced by another operation |
| contract | a copy goes elsewhere, or after another time |
| contract | a wait that jitter needs is missing or changed |
| contract | a failure counts that should not, or the reverse |

The system has two consumers with four attempts and three crash deliveries. Amazon SQS and Azure Service Bus have pages of their own: [mutations-sqs.md](mutations-sqs.md) and [mutations-servicebus.md](mutations-servicebus.md).`;

const page = {
  title: "Mutations",
  writtenBy: "test/property/mutations.test.ts",
  what: intro,
  rows: "version and strategy",
};
test("the proof refutes every mutant that breaks a promise, and the page lists the others", async () => {
  await expectRefuted({ ...page, file: "mutations.md" }, scoreOf, { cases, equivalent, least: 60 });
});
