import { globSync } from "node:fs";
import { resolve } from "node:path";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { runExample } from "../support/example-program.ts";
import { forAllAsync } from "../support/for-all.ts";
import { foundInProcess, type FoundViolation } from "../support/policy-in-process.ts";
import type { ProgramRun } from "../support/pulumi.ts";

const root = resolve(import.meta.dirname, "../..");
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const programs = globSync("examples/policies/*/*.ts", { cwd: root }).toSorted();

type Values = Readonly<Record<string, unknown>>;

/** Every value of the run that a preview might not know: whole properties, and the values inside them. */
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

function changedAt(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined || typeof value !== "object" || value === null) return other;
  const changed = changedAt((value as Values)[key], rest, other);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
}

/** The run with other values in some places. Inputs and outputs that come from the same value change together. */
function withPlaces(run: ProgramRun, places: readonly (readonly [Place, unknown])[]): ProgramRun {
  const outputs = new Map(run.resourceOutputs);
  const inputs = new Map(run.resources.map(({ urn, inputs }) => [urn, inputs]));
  for (const [[urn, path], other] of places) {
    for (const side of [outputs, inputs]) {
      const values = side.get(urn) ?? {};
      if ((path[0] ?? "") in values) side.set(urn, changedAt(values, path, other) as Values);
    }
  }
  const resources = run.resources.map((each) => ({ ...each, inputs: inputs.get(each.urn) ?? {} }));
  return { ...run, resources, resourceOutputs: outputs };
}

/**
 * Values of the same kind that the update may bring instead. Names of the stack are among them, so that the value may
 * lead elsewhere.
 */
function othersLike(value: unknown, key: string, names: readonly string[]): readonly unknown[] {
  if (typeof value === "number") return [value, 0, 1, 5, 60, 345_600, 1_209_600];
  if (typeof value === "boolean") return [true, false];
  if (typeof value !== "string" || isIdentity(value)) return [value];
  if (/^P(T?\d)/.test(value)) return [value, "PT1M", "PT5M", "P14D"];
  if (key === "vhost") return [value, "elsewhere"];
  return key === "name" || key.endsWith("Name") || /source|destination$|forward|dead-letter|routing/i.test(key)
    ? [value, ...names, "elsewhere"]
    : [value];
}

/** A preview also shows which resource such a value belongs to, if the program takes it from another resource. */
function isIdentity(value: string): boolean {
  return /arn:|https?:|^\//.test(value);
}

/** A preview also shows which resource is named, if the program takes the name from a resource. */
function isTakenFromAzure(run: ProgramRun, [urn, [key = ""]]: Place): boolean {
  const { type = "", propertyDependencies = {} } = run.resources.find((each) => each.urn === urn) ?? {};
  return type.startsWith("azure-native:") && (propertyDependencies[key] ?? []).length > 0;
}

function valueAt(run: ProgramRun, [urn, path]: Place): unknown {
  return path.reduce<unknown>((value, key) => (value as Values)[key], run.resourceOutputs.get(urn) ?? {});
}

type Place = ReturnType<typeof placesIn>[number];

const namesIn = (run: ProgramRun): readonly string[] =>
  run.resources.flatMap(({ urn }) => {
    const { name } = run.resourceOutputs.get(urn) ?? {};
    return typeof name === "string" ? [name] : [];
  });

const keyOf = ({ rule, urn }: FoundViolation): string => `${rule} ${urn}`;

describe("the findings of a preview hold for every possible value of its unknowns", () => {
  test.each(programs)("%s", async (program) => {
    const run = await runExample(program);
    const places = placesIn(run);
    const names = namesIn(run);
    const unknowns = fc.subarray([...places], { minLength: 1, maxLength: 3 });
    const withValues = unknowns.chain((chosen) =>
      fc.tuple(
        ...chosen.map((place) => {
          const value = valueAt(run, place);
          const others = isTakenFromAzure(run, place) ? [value] : othersLike(value, place[1].at(-1) ?? "", names);
          return fc.tuple(fc.constant(place), fc.constantFrom(...others));
        }),
      ),
    );
    await forAllAsync(6, [withValues], async (chosen) => {
      const places = chosen.map(([place]) => [place, unknown] as const);
      const found = await foundInProcess(withPlaces(run, places));
      const atUpdate = new Set((await foundInProcess(withPlaces(run, chosen))).map(keyOf));
      expect(found.filter((each) => !atUpdate.has(keyOf(each)))).toEqual([]);
    });
  });
});
