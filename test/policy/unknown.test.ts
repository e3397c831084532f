import { globSync } from "node:fs";
import { resolve } from "node:path";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { runExample } from "../support/example-program.ts";
import type { FoundViolation } from "../support/policy-in-process.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import type { ProgramRun } from "../support/pulumi.ts";

const root = resolve(import.meta.dirname, "../..");
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const programs = globSync("examples/policies/*/*.ts", { cwd: root }).toSorted();

type Values = Readonly<Record<string, unknown>>;

/** Every value of the run that a preview might not know: whole properties, and what is in them. */
function placesIn(run: ProgramRun): readonly (readonly [urn: string, path: readonly string[]])[] {
  const within = (value: unknown, path: readonly string[]): (readonly string[])[] =>
    typeof value !== "object" || value === null
      ? [path]
      : [path, ...Object.entries(value).flatMap(([key, each]) => within(each, [...path, key]))];
  return run.resources.flatMap(({ urn }) =>
    Object.entries({ ...run.resourceOutputs.get(urn) }).flatMap(([key, value]) =>
      within(value, [key]).map((path) => [urn, path] as const),
    ),
  );
}

function withUnknown(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || typeof value !== "object" || value === null) return unknown;
  const changed = withUnknown((value as Values)[key], rest);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
}

/** The run as a preview would see it. Inputs and outputs that come from the same value are unknown together. */
function previewOf(run: ProgramRun, places: ReturnType<typeof placesIn>): ProgramRun {
  const outputs = new Map(run.resourceOutputs);
  const inputs = new Map(run.resources.map(({ urn, inputs }) => [urn, inputs]));
  for (const [urn, path] of places) {
    for (const side of [outputs, inputs]) {
      const values = side.get(urn) ?? {};
      if ((path[0] ?? "") in values) side.set(urn, withUnknown(values, path) as Values);
    }
  }
  const resources = run.resources.map((each) => ({ ...each, inputs: inputs.get(each.urn) ?? {} }));
  return { ...run, resources, resourceOutputs: outputs };
}

const keyOf = ({ rule, urn }: FoundViolation): string => `${rule} ${urn}`;

describe("what a preview does not know never makes a rule fire", () => {
  test.each(programs)("%s", async (program) => {
    const run = await runExample(program);
    const known = new Set((await foundInProcess(run)).map(keyOf));
    const places = placesIn(run);
    await fc.assert(
      fc.asyncProperty(fc.subarray([...places], { minLength: 1, maxLength: 3 }), async (chosen) => {
        const found = await foundInProcess(previewOf(run, chosen));
        expect(found.filter((each) => !known.has(keyOf(each)))).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});
