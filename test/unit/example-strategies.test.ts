import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

import { loadDeclaration } from "../../src/cli/load-declaration.ts";
import { compile } from "../../src/index.ts";
import { accepted } from "../support/examples.ts";

const folder = resolve(import.meta.dirname, "../../examples");

// By hand, as somebody who knows RabbitMQ would choose. Up to 3.12 no broker tells a failure from a crash, so only the
// consumer can count. 4.0 can count by exchanges, with a tier before each attempt. 4.3 delays in the queue itself.
const steady = { "3.10": "waits", "4.0": "staged", "4.3": "native" } as const;
// A queue of 4.3 has one delay that may grow by equal steps. It never doubles.
const doubling = { ...steady, "4.3": "staged" } as const;
// A tier and a queue have one delay for all messages in them. Only the choice between queues spreads a burst.
const spread = { "3.10": "waits", "4.0": "waits", "4.3": "waits" } as const;

const choices = [
  ["direct.yaml", "invoices", "constant", steady],
  ["events.yaml", "billing", "constant", steady],
  ["events-jitter.yaml", "billing", "jitter", spread],
  ["events-next.yaml", "billing", "constant", steady],
  ["names.yaml", "billing", "constant", steady],
  ["names.yaml", "invoices", "constant", steady],
  ["portable.yaml", "billing", "exponential", doubling],
  ["portable.yaml", "shipping", "constant", steady],
  ["shop.yaml", "billing", "exponential", doubling],
] as const;

/** The strategy of each consumer of a system. */
async function chosen(file: string, version: "3.10" | "4.0" | "4.3"): Promise<Readonly<Record<string, string>>> {
  const system = accepted(await loadDeclaration(join(folder, file)));
  const { choices: all } = accepted(compile(system, { broker: "rabbitmq", version }));
  return Object.fromEntries(all.map(({ consumer, strategy }) => [consumer, strategy]));
}

test.each(["3.10", "4.0", "4.3"] as const)("auto on %s picks what an expert would", async (version) => {
  for (const file of new Set(choices.map(([each]) => each))) {
    const wanted = choices.filter(([each]) => each === file);
    expect(await chosen(file, version), file).toEqual(
      Object.fromEntries(wanted.map(([, consumer, , by]) => [consumer, by[version]])),
    );
  }
});

test("every example of a system has its choices in the table", () => {
  const isScenario = (name: string): boolean => name === "outage.yaml";
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml") && !isScenario(name));
  expect(files.toSorted()).toEqual([...new Set(choices.map(([file]) => file))].toSorted());
});
