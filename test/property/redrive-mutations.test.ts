import { expect, test } from "vitest";

import { brokerOf, compileAndProve, type SystemInput, type Target } from "../../src/index.ts";
import { verifyRedrive } from "../../src/verify/verify-redrive.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { type Equivalent, mutationPage, type Score, unexplained } from "../support/mutation-page.ts";
import { type RedriveCase, redriveCases } from "../support/redrive-cases.ts";
import { redriveMutantsOf } from "../support/redrive-mutants.ts";

// Breaks the redrive in every way that a person might. The proof must fail each time.

const records = /^the copy keeps the records of its deaths$/;
const titles = redriveCases.map(({ title }) => title);
/** Mutants that lose nothing and count nothing wrong, with the reason. People and filters still read false records. */
const equivalent: readonly Equivalent[] = [
  {
    name: records,
    in: titles.filter((title) => title.startsWith("rabbitmq")),
    because:
      "on RabbitMQ a consumer counts by the delivery count, the exchange or the routing key, and a copy has new ones",
  },
  {
    name: records,
    in: [...titles.filter((title) => title.startsWith("sqs")), "servicebus immediate"],
    because: "on SQS, and for `immediate` on Service Bus, the broker counts the deliveries of a copy anew",
  },
];

/** The promise that each mutant breaks. */
const broken = new Map<string, string>();

function scoreOf({ title, target: input, consumer }: RedriveCase): Score {
  const system = shopWith({ billing: consumer, audit: { ...consumer, from: { orders: "all" } } });
  const { compiled, target } = accepted(compileAndProve(checked(system as SystemInput), input as Target));
  const [model, neighbour] = brokerOf(target)
    .subjectsOf(compiled, target)
    .map((subject) => subject.model());
  if (model === undefined || neighbour === undefined) throw new Error("no consumers");
  const mutants = redriveMutantsOf(model as never, neighbour as never);
  for (const { name, breaks } of mutants) broken.set(name, breaks);
  const alive = mutants.flatMap((mutant) => {
    const [violation] = verifyRedrive(mutant.model, mutant.contract).violations;
    if (violation !== undefined)
      expect([title, mutant.name, violation.property]).toEqual([title, mutant.name, mutant.breaks]);
    return violation === undefined ? [mutant.name] : [];
  });
  return { what: title, mutants: mutants.map(({ name }) => name), alive };
}

const page = {
  title: "Mutations of the redrive",
  writtenBy: "test/property/redrive-mutations.test.ts",
  rows: "strategy",
};
const intro =
  "A test breaks the redrive of dead letters in many ways, as it does [with topologies](mutations.md). The proof has to refute each of these mutants, by the promise that it breaks. The system has two consumers of one source.";

test("the proof refutes every mutant of the redrive, and the page lists the others", async () => {
  const scores = redriveCases.map(scoreOf);
  expect(unexplained(scores, equivalent)).toEqual([]);
  const promises = [...broken].map(([name, breaks]) => `| ${name} | \`${breaks}\` |`);
  const what = [intro, "", "| mutant | promise that it breaks |", "|---|---|", ...promises].join("\n");
  await expect(mutationPage({ ...page, what }, scores, equivalent)).toMatchFileSnapshot(
    "../../docs/mutations-redrive.md",
  );
});
