import { globSync } from "node:fs";
import { resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import { firstPreviewOf } from "../support/first-preview.ts";
import { forAllAsync } from "../support/for-all.ts";
import { foreignRun } from "../support/foreign-run.ts";
import { type EngineConfig, type PolicyHost, type ReportedViolation, startPolicyHost } from "../support/policy-host.ts";
import type { ProgramRun } from "../support/pulumi.ts";

// The pack reads each resource of a request once for all rules. A pack that reads it once for each rule must find the
// same.

const root = resolve(import.meta.dirname, "../..");
const programs = globSync("examples/policies/*/fails.ts", { cwd: root }).toSorted();

let host: PolicyHost;
let plain: PolicyHost;
/** The stack of every bad example. It violates every rule somewhere. */
let all: ProgramRun;
beforeAll(async () => {
  const started = await Promise.all([
    startPolicyHost("preset: strict\n"),
    startPolicyHost("", "test/policy/plain-pack"),
  ]);
  [host, plain] = started;
  const runs: ProgramRun[] = [];
  for (const program of programs) runs.push(await runExample(program));
  all = together(runs);
}, 120_000);
afterAll(async () => {
  await host.stop();
  await plain.stop();
});

/** Puts independent programs into one stack. Each gets its own name into its URNs. */
function together(runs: readonly ProgramRun[]): ProgramRun {
  const named = runs.map((run, index): ProgramRun => {
    const inStack = (text: string): string => text.replaceAll("urn:pulumi:test::", `urn:pulumi:test-${index}::`);
    return JSON.parse(inStack(JSON.stringify(plainRun(run))), (key, value: unknown) =>
      key === "resourceOutputs" || key === "registeredOutputs" ? new Map(value as [string, never][]) : value,
    ) as ProgramRun;
  });
  return {
    ...(named[0] as ProgramRun),
    resources: named.flatMap(({ resources }) => resources),
    resourceOutputs: new Map(named.flatMap(({ resourceOutputs }) => [...resourceOutputs])),
    registeredOutputs: new Map(named.flatMap(({ registeredOutputs }) => [...registeredOutputs])),
  };
}

function plainRun({ resourceOutputs, registeredOutputs, ...others }: ProgramRun): unknown {
  return { ...others, resourceOutputs: [...resourceOutputs], registeredOutputs: [...registeredOutputs] };
}

async function foundBy(asked: PolicyHost, run: ProgramRun): Promise<readonly ReportedViolation[]> {
  return [...(await asked.analyze(run.resources)), ...(await asked.analyzeStack(run))];
}

test("reading a resource once finds the same violations in all bad examples, and in their first previews", async () => {
  for (const run of [all, firstPreviewOf(all)]) {
    const found = await foundBy(host, run);
    expect(found.length).toBeGreaterThan(20);
    expect(found).toEqual(await foundBy(plain, run));
  }
});

test("reading a resource once finds the same violations for one rule at a time", async () => {
  const served = await host.served();
  const found = await host.analyzeStack(all);
  const ofStacks = new Set(rules.flatMap(({ kind, name }) => (kind === "topology" ? [name] : [])));
  const oneByOne: ReportedViolation[] = [];
  for (const { name, level } of served.filter((each) => ofStacks.has(each.name))) {
    const settings = served.map((each) => [each.name, { enforcementLevel: each.name === name ? level : "disabled" }]);
    await host.configure(Object.fromEntries(settings) as EngineConfig);
    oneByOne.push(...(await host.analyzeStack(all)));
  }
  await host.configure({});
  expect(oneByOne).toEqual(found);
});

test("reading a resource once finds the same violations in resources of any form", async () => {
  await forAllAsync(30, [foreignRun], async (run) => {
    expect(await foundBy(host, run)).toEqual(await foundBy(plain, run));
  });
});
