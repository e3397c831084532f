import { expect, test } from "vitest";

import { brokers, compile, type CompiledSystem } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked } from "../support/examples.ts";
import { type Equivalent, expectRefuted, type Score, scoreOfMutants } from "../support/mutation-page.ts";
import { sqsMutantsOf } from "../support/sqs-mutants.ts";

// Breaks each compiled system in every way that a person might. The proof must fail each time: a proof that cannot fail
// proves nothing.

const retries = {
  redrive: { attempts: 4, backoff: { kind: "constant", delay: "20s" } },
  visibility: { attempts: 4, backoff: { kind: "steps", delays: ["5s", "20s", "60s"] } },
  "no delay": { attempts: 4, backoff: { kind: "immediate" } },
  "jitter, and a delay from the handler": {
    attempts: 4,
    backoff: { kind: "constant", delay: "20s", jitter: "50%" },
    retryAfter: { max: "5m" },
  },
  "redrive, FIFO": { attempts: 4, backoff: { kind: "constant", delay: "20s" } },
  "no delay, FIFO": { attempts: 4, backoff: { kind: "immediate" } },
};
type Case = keyof typeof retries;
const cases = Object.keys(retries) as readonly Case[];
const atOnce: readonly Case[] = ["no delay", "no delay, FIFO"];
/** Here the consumer sets the visibility timeout. The queue's own timeout only serves a handler that is late. */
const byConsumer: readonly Case[] = ["visibility", "jitter, and a delay from the handler", ...atOnce];
const perKey: readonly Case[] = ["redrive, FIFO", "no delay, FIFO"];

/** Mutants that keep every promise about a message, each with the reason. */
const equivalent: readonly Equivalent[] = [
  {
    name: /^a visibility timeout (1 s (longer|shorter)|of 12 h) of the work queue$/,
    in: byConsumer,
    because: "it still covers the handler, and no promise says when a message returns after a crash",
  },
  {
    name: /^a retention of 14 days of the work queue$/,
    because: "the dead queue keeps messages for as long, so none is lost on the way",
  },
  { name: /^a delay of 15 min of the work queue$/, because: "no promise sets a time for the first attempt" },
  { name: /no long polling/, because: "short polling only costs more" },
  { name: /^a delay of 15 min of the dead queue$/, because: "a reader only sees a dead letter later" },
  {
    name: /^a visibility timeout of 0 of the dead queue$/,
    because: "no promise concerns this queue's visibility timeout",
  },
  {
    name: /^a retention of 60 s of the dead queue$/,
    in: perKey,
    because: "in a FIFO dead queue the retention starts anew; not the proof but the compiler checks it",
  },
  {
    name: /^a retention of 60 s of the undelivered queue$/,
    because: "not the proof but the compiler checks this retention",
  },
  {
    name: /a transient failure (1 s|12 h) later/,
    in: ["redrive", "redrive, FIFO"],
    because: "the contract sets no time for a transient failure",
  },
  {
    name: /a transient failure does nothing/,
    in: ["redrive", "redrive, FIFO"],
    because: "the contract already says this",
  },
  { name: /a transient failure is visible at once/, in: atOnce, because: "the contract already says this" },
];

function scoreOf(which: Case): Score {
  const order = perKey.includes(which) ? "per-key" : "none";
  const consumer = {
    from: { orders: ["order.placed", "order.late.#"], returns: "all" },
    retry: retries[which],
    handlerTimeout: "30s",
    order,
  };
  const target = accepted(brokers.sqs.checkTarget({ broker: "sqs", region: "eu-west-1" }));
  const sources = { orders: { kind: "topic" }, returns: { kind: "fanout" } };
  const consumers = { billing: consumer, shipping: { ...consumer, from: { orders: ["order.shipped"] } } };
  const compiled = accepted(compile<"sqs">(checked({ name: "shop", sources, consumers }), target));
  const violationsOf = (value: CompiledSystem<"sqs">): readonly unknown[] =>
    verifyAll(brokers.sqs.subjectsOf(value, target)).flatMap(({ violations }) => violations);
  expect(violationsOf(compiled)).toEqual([]);
  return scoreOfMutants(which, sqsMutantsOf(compiled), (each) => violationsOf(each.compiled).length === 0);
}

const page = {
  title: "Mutations on Amazon SQS",
  writtenBy: "test/property/sqs-mutations.test.ts",
  what: "As for [RabbitMQ](mutations.md), a test breaks a compiled system in many ways. The proof has to refute each of these mutants. The system has two consumers with four attempts.",
  rows: "case",
  file: "mutations-sqs.md",
};
test("the proof refutes every mutant that breaks a promise, and the page lists the others", async () => {
  await expectRefuted(page, scoreOf, { cases, equivalent, least: 60 });
});
