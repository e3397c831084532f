import { expect, test } from "vitest";

import type { CompiledSystem, TargetInput } from "../../src/index.ts";
import { brokers, compile } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { checked } from "../support/examples.ts";
import type { Equivalent, Score } from "../support/mutation-page.ts";
import { mutationPage, unexplained } from "../support/mutation-page.ts";
import { servicebusMutantsOf } from "../support/servicebus-mutants.ts";

// A proof that cannot fail proves nothing: what is compiled is broken in every way that a person might break it.

type Case = "immediate" | "scheduled" | "shared" | "sessions";
const constant = { attempts: 4, backoff: { kind: "steps", delays: ["5s", "20s", "60s"] } };
const atOnce = { attempts: 4, backoff: { kind: "immediate" } };
const options: Readonly<Record<Case, { readonly retry: object; readonly more: object; readonly target: object }>> = {
  immediate: { retry: atOnce, more: {}, target: {} },
  scheduled: { retry: constant, more: { crash: { deliveries: 3 } }, target: { duplicates: "10m" } },
  shared: { retry: constant, more: { crash: { deliveries: 3 } }, target: { duplicates: "10m", deadQueue: "shared" } },
  sessions: { retry: atOnce, more: { order: "per-key" }, target: {} },
};
const cases = Object.keys(options) as readonly Case[];
const titles: Readonly<Record<Case, string>> = {
  immediate: "`immediate`",
  scheduled: "`scheduled`, duplicate detection",
  shared: "`scheduled`, duplicate detection, one dead queue for all",
  sessions: "`immediate`, sessions",
};

/** Mutants that behave no differently for a message, as far as anything is promised about it, with the reason. */
const equivalent: readonly Equivalent[] = [
  {
    name: /^without the rule \$Default$/,
    because: "it lets in nothing; that Azure would make one that lets in everything is for the deployment to prevent",
  },
  {
    name: /^no dead-lettering on expiry of the work queue$/,
    in: [titles.immediate, titles.scheduled, titles.shared],
    because: "neither the queue nor, by the contract, any publisher says a time to live, so nothing expires there",
  },
  {
    name: /^a return is abandoned$/,
    in: [titles.immediate, titles.scheduled, titles.shared],
    because: "that a message which is released counts is assumed as well, and then it is as if it were abandoned",
  },
  {
    name: /^(a delivery (more|less)|dead letters to (another consumer|itself)|no dead-lettering on expiry) of the dead queue$/,
    in: [titles.shared],
    because: "nobody receives there, and nothing dies or expires there",
  },
  {
    name: /^a time to live of a second of the dead queue$/,
    in: [titles.shared],
    because: "what expires there is kept in that queue's own dead-letter queue",
  },
];

function scoreOf(which: Case): Score {
  const { retry, more, target: chosen } = options[which];
  const consumer = { from: { orders: ["order.placed", "order.late.#"] }, retry, handlerTimeout: "90s", ...more };
  const input = { broker: "servicebus", sku: "standard", ...chosen } as TargetInput<"servicebus">;
  const target = brokers.servicebus.checkTarget(input);
  if (!target.ok) throw new Error("the target is known");
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: consumer,
      shipping: { from: { orders: ["order.shipped"] }, retry: atOnce, handlerTimeout: "90s" },
    },
  });
  const compiled = compile<"servicebus">(system, target.value);
  if (!compiled.ok) throw new Error("it does not compile");
  const violationsOf = (value: CompiledSystem<"servicebus">): readonly unknown[] =>
    verifyAll(brokers.servicebus.subjectsOf(value, target.value)).flatMap(({ violations }) => violations);
  expect(violationsOf(compiled.value)).toEqual([]);
  const mutants = servicebusMutantsOf(compiled.value);
  const alive = mutants.filter((mutant) => violationsOf(mutant.compiled).length === 0).map(({ name }) => name);
  return { what: titles[which], mutants: mutants.map(({ name }) => name), alive };
}

test("every mutant is caught, or behaves no differently, and the page says so", { timeout: 60_000 }, async () => {
  const scores = cases.map(scoreOf);
  expect(unexplained(scores, equivalent)).toEqual([]);
  for (const { mutants } of scores) expect(mutants.length).toBeGreaterThan(15);
  const page = mutationPage(
    {
      title: "Mutations on Azure Service Bus",
      writtenBy: "test/property/servicebus-mutations.test.ts",
      what: "The same as for [RabbitMQ](mutations.md): what is compiled is broken, and the proof has to refute it. The system has two consumers, one of them with four attempts.",
      rows: "what",
    },
    scores,
    equivalent,
  );
  await expect(page).toMatchFileSnapshot("../../docs/mutations-servicebus.md");
});
