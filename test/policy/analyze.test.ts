import { execFile } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import { runExampleStack } from "../support/example-stack.ts";
import { exportedState } from "../support/exported-state.ts";
import type { ProgramRun } from "../support/pulumi.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

// Pulumi's engine with the pack, on what a deployment would have left. Without the command line only its policy host runs: the tests beside this one.
const what = "pulumi policy analyze on the example stacks and on every rule's examples";
console.log(`[policy] ${hasPulumiCli ? "what runs" : "what does not run (there is no pulumi on PATH)"}: ${what}`);

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "redeliver-analyze-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const allMandatory = join(folder, "strict.yaml");
writeFileSync(allMandatory, "preset: strict\n");

interface Analysis {
  readonly exitCode: number;
  readonly output: string;
  /** The rules that were broken, each with the level at which the engine says so. */
  readonly broken: readonly string[];
}

async function analyze(run: ProgramRun, options: string): Promise<Analysis> {
  const file = join(folder, "state.json");
  writeFileSync(file, JSON.stringify(exportedState(run)));
  const words = [
    "policy",
    "analyze",
    "--policy-pack",
    "policies",
    "--file",
    file,
    "--non-interactive",
    "--color",
    "never",
  ];
  const env = { ...process.env, REDELIVER_POLICY_OPTIONS: options, PULUMI_SKIP_UPDATE_CHECK: "true" };
  return new Promise((done) => {
    execFile("pulumi", words, { cwd: root, env }, (error, stdout, stderr) => {
      const output = stdout + stderr;
      const found = [...output.matchAll(/^ +- \[(\w+)\] +(?:\[severity: \w+\] +)?([\w-]+) /gm)];
      const broken = [...new Set(found.map(([, level = "", rule = ""]) => `${rule} ${level}`))];
      done({ exitCode: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, output, broken });
    });
  });
}

describe.skipIf(!hasPulumiCli)("pulumi policy analyze", { timeout: 120_000 }, () => {
  test.each(globSync("stacks/Pulumi.*.yaml", { cwd: root }).toSorted())("lets %s pass", async (stack) => {
    const { exitCode, output } = await analyze(await runExampleStack(stack), resolve(root, "policies/strict.yaml"));
    expect(exitCode, output).toBe(0);
    expect(output).toContain("✅ redeliver@");
  });

  // What an update does is in no state.
  const judged = rules.filter(({ kind }) => kind !== "change");

  test.each(judged)("stops the bad example of $name, and for that alone", async ({ name, isOnlyAdvice }) => {
    const analysis = await analyze(await runExample(`examples/policies/${name}/fails.ts`), allMandatory);
    expect(analysis.broken, analysis.output).toEqual([`${name} ${isOnlyAdvice === true ? "advisory" : "mandatory"}`]);
    expect(analysis.exitCode === 0, analysis.output).toBe(isOnlyAdvice === true);
  });

  test.each(judged)("lets the good example of $name pass", async ({ name }) => {
    const { exitCode, output } = await analyze(await runExample(`examples/policies/${name}/passes.ts`), allMandatory);
    expect(exitCode, output).toBe(0);
    expect(output).toContain("✅ redeliver@");
  });
});
