import { expect, test } from "vitest";

import type { CompiledSystem } from "../../src/index.ts";
import { brokers, compile } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { checked } from "../support/examples.ts";
import type { Equivalent, Score } from "../support/mutation-page.ts";
import { mutationPage, unexplained } from "../support/mutation-page.ts";
import { sqsMutantsOf } from "../support/sqs-mutants.ts";

// Each compiled system is broken in every way a person might, and the proof has to fail. A proof that cannot fail proves nothing.

type Case = "redrive" | "visibility" | "redrive at once" | "asking" | "per key" | "per key at once";

const retries: Readonly<Record<Case, object>> = {
  redrive: { attempts: 4, backoff: { kind: "constant", delay: "20s" } },
  visibility: { attempts: 4, backoff: { kind: "steps", delays: ["5s", "20s", "60s"] } },
  "redrive at once": { attempts: 4, backoff: { kind: "immediate" } },
  asking: { attempts: 4, backoff: { kind: "constant", delay: "20s", jitter: "50%" }, retryAfter: { max: "5m" } },
  "per key": { attempts: 4, backoff: { kind: "constant", delay: "20s" } },
  "per key at once": { attempts: 4, backoff: { kind: "immediate" } },
};
const cases = Object.keys(retries) as readonly Case[];
const atOnce: readonly Case[] = ["redrive at once", "per key at once"];
/** The consumer sets the time itself, and the queue's own is what is left of it for a handler that is late. */
const byConsumer: readonly Case[] = ["visibility", "asking", ...atOnce];
const perKey: readonly Case[] = ["per key", "per key at once"];

/** Mutants that behave no differently for a message, as far as anything is promised about it, with the reason. */
const equivalent: readonly Equivalent[] = [
  {
    name: /a visibility timeout (1 s (longer|shorter)|of 12 h) of the work queue/,
    in: byConsumer,
    because: "it covers the handler with 10 s to spare, and no promise says when a crashed message comes back",
  },
  {
    name: /a retention of 14 days of the work queue/,
    because: "the dead queue keeps as long, so nothing is lost on the way",
  },
  { name: /a delay of 15 min of the work queue/, because: "no promise says when the first attempt comes" },
  { name: /no long polling/, because: "polling only costs more" },
  { name: /a delay of 15 min of the dead queue/, because: "a dead letter is only seen later" },
  { name: /a visibility timeout of 0 of the dead queue/, because: "nothing that is promised happens there" },
  {
    name: /a retention of 60 s of the dead queue/,
    in: perKey,
    because: "on FIFO the clock starts again there; how long dead letters stay is checked by the compiler",
  },
  {
    name: /a retention of 60 s of the undelivered queue/,
    because: "how long what is undelivered stays is checked by the compiler",
  },
  { name: /a transient failure (1 s|12 h) later/, in: ["redrive", "per key"], because: "there is no time in it" },
  { name: /a transient failure does nothing/, in: ["redrive", "per key"], because: "that is what it does" },
  { name: /a transient failure is visible at once/, in: atOnce, because: "that is what it does" },
];

function scoreOf(which: Case): Score {
  const order = perKey.includes(which) ? "per-key" : "none";
  const consumer = {
    from: { orders: ["order.placed", "order.late.#"], returns: "all" },
    retry: retries[which],
    handlerTimeout: "30s",
    order,
  };
  const target = brokers.sqs.checkTarget({ broker: "sqs", region: "eu-west-1" });
  if (!target.ok) throw new Error("the region is known");
  const compiled = compile<"sqs">(
    checked({
      name: "shop",
      sources: { orders: { kind: "topic" }, returns: { kind: "fanout" } },
      consumers: { billing: consumer, shipping: { ...consumer, from: { orders: ["order.shipped"] } } },
    }),
    target.value,
  );
  if (!compiled.ok) throw new Error("it does not compile");
  const violationsOf = (value: CompiledSystem<"sqs">): readonly unknown[] =>
    verifyAll(brokers.sqs.subjectsOf(value, target.value)).flatMap(({ violations }) => violations);
  expect(violationsOf(compiled.value)).toEqual([]);
  const mutants = sqsMutantsOf(compiled.value);
  const alive = mutants.filter((mutant) => violationsOf(mutant.compiled).length === 0).map(({ name }) => name);
  return { what: which, mutants: mutants.map(({ name }) => name), alive };
}

test("every mutant is caught, or behaves no differently, and the page says so", { timeout: 60_000 }, async () => {
  const scores = cases.map(scoreOf);
  expect(unexplained(scores, equivalent)).toEqual([]);
  for (const { mutants } of scores) expect(mutants.length).toBeGreaterThan(60);
  const page = mutationPage(
    {
      title: "Mutations on Amazon SQS",
      writtenBy: "test/property/sqs-mutations.test.ts",
      what: "The same as for [RabbitMQ](mutations.md): what is compiled is broken, and the proof has to refute it. The system has two consumers with four attempts.",
      rows: "what",
    },
    scores,
    equivalent,
  );
  await expect(page).toMatchFileSnapshot("../../docs/mutations-sqs.md");
});
