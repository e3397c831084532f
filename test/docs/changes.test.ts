import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { changeCases } from "../../scripts/change-cases.ts";
import { rowsOf } from "../../scripts/changes-table.ts";
import { changeCases as liveCases } from "../support/change/cases.ts";

/** The text of a live test, with that of its cases. */
function textOf(file: string): string {
  const folder = resolve(import.meta.dirname, "../integration");
  const text = readFileSync(resolve(folder, `${file}.test.ts`), "utf8");
  const cases = [...text.matchAll(/from "(\.\.\/support\/change\/[a-z-]*cases\.ts)"/g)].map(([, name = ""]) => name);
  return [text, ...cases.map((each) => readFileSync(resolve(folder, each), "utf8"))].join("\n");
}

test.for([...new Set(changeCases.flatMap(({ live }) => live))])("the live test of the table exists: %s", (live) => {
  const [file = "", name = ""] = live.split(": ");
  expect(textOf(file)).toContain(name);
});

// Another test compares the page with the generator's.
test("each change is one on some broker", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/changes.md"), "utf8");
  expect(changeCases.filter(({ name }) => !page.includes(name))).toEqual([]);
});

test("the table has no single deployment for the changes that the live test finds refused", () => {
  const lived = liveCases("4.3", "/", "other", "1s").map(({ name, steps }) => ({
    name: `deployment-changes: ${name}`,
    isRefused: steps.some(({ refused }) => /in place|from the source/.test(refused?.source ?? "")),
  }));
  const compared = changeCases.flatMap((each) => {
    const tests = lived.filter(({ name }) => each.live.some((live) => name.startsWith(live) && !live.endsWith(" ")));
    return tests.map(({ name, isRefused }) => ({ each, name, isRefused }));
  });
  expect(compared.length).toBeGreaterThan(5);
  for (const { each, name, isRefused } of compared)
    for (const { how } of rowsOf(each, "rabbitmq")) expect(/^refused|^\d steps/.test(how), name).toBe(isRefused);
});

/** On the way back its consumers would take from two topics in order, and Service Bus cannot do that. */
const withoutWayBack = "servicebus, no such order any more: 2 steps (RD302)";

test("each change that goes in steps has a way back from every one of them, or with an order from the last one", () => {
  const rows = changeCases.flatMap((each) =>
    (["rabbitmq", "sqs", "servicebus"] as const).flatMap((broker) =>
      rowsOf(each, broker).map(({ how }) => `${broker}, ${each.name}: ${how}`),
    ),
  );
  const inSteps = rows.filter((row) => /\d steps/.test(row));
  expect(inSteps.length).toBeGreaterThan(20);
  expect(inSteps.filter((row) => !row.includes("and back"))).toEqual([withoutWayBack]);
  const fromLast = inSteps.filter((row) => row.includes("and back from the last"));
  expect(fromLast.length).toBeGreaterThan(5);
  expect(fromLast.filter((row) => !/order/.test(row))).toEqual([]);
});
