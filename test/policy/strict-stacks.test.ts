import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { runExampleStack } from "../support/example-stack.ts";
import { policyHost, type ReportedViolation } from "../support/policy-host.ts";
import type { ProgramRun } from "../support/pulumi.ts";

const root = resolve(import.meta.dirname, "../..");
const options = readFileSync(resolve(root, "policies/strict.yaml"), "utf8");
const stacks = globSync("stacks/Pulumi.*.yaml", { cwd: root }).toSorted();

const host = policyHost(options);

/** Each program runs once, because running it takes longer than judging it. */
const runs = new Map<string, Promise<ProgramRun>>();

async function runOf(file: string): Promise<ProgramRun> {
  const known = runs.get(file);
  if (known !== undefined) return known;
  const run = runExampleStack(file);
  runs.set(file, run);
  return run;
}

describe("with preset strict and the waivers of policies/strict.yaml", () => {
  test.each(stacks)("%s passes every rule", async (file) => {
    const run = await runOf(file);
    expect(run.resources.length).toBeGreaterThan(10);
    expect(await host().analyze(run.resources)).toEqual([]);
    expect(await host().analyzeStack(run)).toEqual([]);
  });

  test("every waiver is needed by a stack", async () => {
    const rule = "promises-kept-by-broker";
    const { rules } = parse(options) as {
      readonly rules: Readonly<Record<string, { readonly waivers: readonly { readonly resource: string }[] }>>;
    };
    expect(Object.keys(rules)).toEqual([rule]);
    await host().configure({ [rule]: { waivers: [] } });
    const found: ReportedViolation[] = [];
    for (const file of stacks) {
      const { resources } = await runOf(file);
      found.push(...(await host().analyze(resources.filter(({ type }) => type.endsWith(":RetryTopology")))));
    }
    expect(new Set(found.map((each) => [each.rule, each.level].join(" ")))).toEqual(new Set([`${rule} mandatory`]));
    const consumers = new Set(found.map(({ message }) => /^(\w+): /m.exec(message)?.[1]));
    expect(consumers).toEqual(new Set(rules[rule]?.waivers.map(({ resource }) => resource.split(".")[1])));
  });
});
