import { expect, test } from "vitest";

import { brokers, compile, type CompiledSystem, type TargetInput } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { type Equivalent, expectRefuted, type Score, scoreOfMutants } from "../support/mutation-page.ts";
import { servicebusMutantsOf } from "../support/servicebus-mutants.ts";

// A proof that cannot fail proves nothing, so this breaks compiled systems in every way that a person might.

const constant = { attempts: 4, backoff: { kind: "steps", delays: ["5s", "20s", "60s"] } };
const atOnce = { attempts: 4, backoff: { kind: "immediate" } };
const options = {
  immediate: { retry: atOnce, more: {}, target: {} },
  scheduled: { retry: constant, more: { crash: { deliveries: 3 } }, target: { duplicates: "10m" } },
  shared: { retry: constant, more: { crash: { deliveries: 3 } }, target: { duplicates: "10m", deadQueue: "shared" } },
  sessions: { retry: atOnce, more: { order: "per-key" }, target: {} },
};
type Case = keyof typeof options;
const cases = Object.keys(options) as readonly Case[];
const titles: Readonly<Record<Case, string>> = {
  immediate: "`immediate`",
  scheduled: "`scheduled`, duplicate detection",
  shared: "`scheduled`, duplicate detection, one dead queue for all",
  sessions: "`immediate`, sessions",
};

/** Mutants that keep every promise about a message, each with the reason. */
const equivalent: readonly Equivalent[] = [
  {
    name: /^without the rule \$Default$/,
    because: "the rule admits no message; it only takes the place of Azure's own rule, which admits every message",
  },
  {
    name: /^no dead-lettering on expiry of the work queue$/,
    in: [titles.immediate, titles.scheduled, titles.shared],
    because: "neither the queue nor, by the contract, a publisher sets a time to live, so nothing expires",
  },
  {
    name: /^a return is abandoned$/,
    in: [titles.immediate, titles.scheduled, titles.shared],
    because: "the proof also assumes that a released message counts a delivery, as an abandoned one does",
  },
  {
    name: /^(one delivery (more|less)|dead letters to (another consumer|itself)|no dead-lettering on expiry) of the dead queue$/,
    in: [titles.shared],
    because: "no consumer receives there, and no message dies or expires there",
  },
  {
    name: /^a time to live of a second of the dead queue$/,
    in: [titles.shared],
    because: "that queue's own dead-letter queue keeps expired messages",
  },
];

function scoreOf(which: Case): Score {
  const { retry, more, target: chosen } = options[which];
  const consumer = { from: { orders: ["order.placed", "order.late.#"] }, retry, handlerTimeout: "90s", ...more };
  const input = { broker: "servicebus", sku: "standard", ...chosen } as TargetInput<"servicebus">;
  const target = accepted(brokers.servicebus.checkTarget(input));
  const shipping = { from: { orders: ["order.shipped"] }, retry: atOnce, handlerTimeout: "90s" };
  const compiled = accepted(compile<"servicebus">(checked(shopWith({ billing: consumer, shipping })), target));
  const violationsOf = (value: CompiledSystem<"servicebus">): readonly unknown[] =>
    verifyAll(brokers.servicebus.subjectsOf(value, target)).flatMap(({ violations }) => violations);
  expect(violationsOf(compiled)).toEqual([]);
  const mutants = servicebusMutantsOf(compiled);
  return scoreOfMutants(titles[which], mutants, (each) => violationsOf(each.compiled).length === 0);
}

const page = {
  title: "Mutations on Azure Service Bus",
  writtenBy: "test/property/servicebus-mutations.test.ts",
  what: "As for [RabbitMQ](mutations.md), a test breaks a compiled system in many ways. The proof has to refute each of these mutants. The system has two consumers, one of them with four attempts.",
  rows: "case",
  file: "mutations-servicebus.md",
};
test("the proof refutes every mutant that breaks a promise, and the page lists the others", async () => {
  await expectRefuted(page, scoreOf, { cases, equivalent, least: 15 });
});
