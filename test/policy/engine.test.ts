import { execFile } from "node:child_process";
import { globSync, mkdtempSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, test, vi } from "vitest";

import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import { readExampleStack, runExampleStack } from "../support/example-stack.ts";
import { exportedState } from "../support/exported-state.ts";
import type { ProgramRun } from "../support/pulumi.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// The pack in Pulumi's own engine. Without the command line only the policy host exists, and the other tests use that.
const what =
  "pulumi policy analyze and pulumi preview --policy-pack, on the example stacks and on every rule's examples";
console.log(`[policy] ${hasPulumiCli ? "what runs" : "what does not run (there is no pulumi on PATH)"}: ${what}`);

const root = resolve(import.meta.dirname, "../..");
const pack = resolve(root, "policies");
const stacks = globSync("stacks/Pulumi.*.yaml", { cwd: root }).toSorted();
/** Neither a state nor a first preview shows the changes that an update makes. */
const judged = rules.filter(({ kind }) => kind !== "change");

const folder = temporaryFolder("engine");

/** Makes every rule mandatory. The example stacks have their own waivers. */
const allMandatory = join(folder, "strict.yaml");
writeFileSync(allMandatory, "preset: strict\n");
const withWaivers = resolve(pack, "strict.yaml");

interface Verdict {
  readonly isStopped: boolean;
  /** The violated rules, each with the level that the engine reports. */
  readonly broken: readonly string[];
  readonly output: string;
}

const passes = { isStopped: false, broken: [], output: expect.stringContaining("✅ redeliver@") };

function verdictOf(isStopped: boolean, output: string): Verdict {
  const found = [...output.matchAll(/^ +- \[(\w+)\] +(?:\[severity: \w+\] +)?([\w-]+) /gm)];
  return { isStopped, broken: [...new Set(found.map(([, level, rule]) => `${rule} ${level}`))], output };
}

/** The engine's verdict on the state that a deployment of the program would leave. */
async function analyzed(run: ProgramRun, options: string): Promise<Verdict> {
  const file = join(folder, "state.json");
  writeFileSync(file, JSON.stringify(exportedState(run)));
  const words = ["policy", "analyze", "--policy-pack", pack, "--file", file, "--non-interactive", "--color", "never"];
  const env = { ...process.env, REDELIVER_POLICY_OPTIONS: options, PULUMI_SKIP_UPDATE_CHECK: "true" };
  return new Promise((done) => {
    execFile("pulumi", words, { cwd: root, env }, (error, stdout, stderr) =>
      done(verdictOf(error !== null, stdout + stderr)),
    );
  });
}

/** The engine's verdict on the program's first preview. RabbitMQ's provider needs no broker for it. */
async function previewed(file: string, config: Readonly<Record<string, unknown>>, options: string): Promise<Verdict> {
  const { LocalWorkspace } = await import("@pulumi/pulumi/automation/index.js");
  const workDir = mkdtempSync(join(folder, "stack-"));
  const envVars = {
    PULUMI_BACKEND_URL: pathToFileURL(workDir).href,
    PULUMI_CONFIG_PASSPHRASE: "in clear, for a test",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    REDELIVER_POLICY_OPTIONS: options,
  };
  const program = async (): Promise<void> => {
    vi.resetModules();
    await import(resolve(root, file));
  };
  const stack = await LocalWorkspace.createStack(
    { stackName: "test", projectName: "redeliver", program },
    { workDir, envVars },
  );
  for (const [key, value] of Object.entries(config)) {
    const secret = key.endsWith(":password");
    const parts = typeof value === "string" ? { [key]: value } : withPaths(key, value as object);
    for (const [path, part] of Object.entries(parts)) await stack.setConfig(path, { value: part, secret }, true);
  }
  try {
    const { stdout } = await stack.preview({ policyPacks: [pack], color: "never" });
    return verdictOf(false, stdout);
  } catch (error) {
    return verdictOf(true, (error as Error).message);
  }
}

function withPaths(key: string, mapping: object): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(mapping).map(([name, value]) => [`${key}.${name}`, String(value)]));
}

const onRabbitmq = ({ resources }: ProgramRun): boolean =>
  resources.every(({ custom, type }) => !custom || type.includes("rabbitmq"));
const providerConfig = {
  "rabbitmq:endpoint": "http://127.0.0.1:1",
  "rabbitmq:username": "deployer",
  "rabbitmq:password": "x",
};

describe.skipIf(!hasPulumiCli)("in Pulumi's engine", () => {
  test.each(stacks)("%s passes", async (file) => {
    expect(await analyzed(await runExampleStack(file), withWaivers)).toEqual(passes);
    const { config, broker } = readExampleStack(file);
    if (broker === "rabbitmq") expect(await previewed("stacks/index.ts", config, withWaivers)).toEqual(passes);
  });

  test.each(judged)("$name stops its bad example, no other rule does, and the good example passes", async (rule) => {
    const isAdvice = rule.isOnlyAdvice === true;
    const broken = [`${rule.name} ${isAdvice ? "advisory" : "mandatory"}`];
    const programs = [
      ["fails", { isStopped: !isAdvice, broken }],
      ["passes", passes],
    ] as const;
    for (const [program, verdict] of programs) {
      const file = `examples/policies/${rule.name}/${program}.ts`;
      const run = await runExample(file);
      expect(await analyzed(run, allMandatory)).toMatchObject(verdict);
      if (onRabbitmq(run)) expect(await previewed(file, providerConfig, allMandatory)).toMatchObject(verdict);
    }
  });
});
