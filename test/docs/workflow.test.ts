import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import { runExample } from "../support/example-program.ts";
import { digestOf } from "../support/preview.ts";
import { parseSarif } from "../support/sarif.ts";
import { parseWorkflowCommands } from "../support/workflow-commands.ts";
import { withoutProgress } from "../support/without-progress.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}
interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

test("the workflow for declarations runs, and uploads the log that it wrote", () => {
  const text = readFileSync(join(root, "docs/ci.md"), "utf8");
  const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
  const workflow = parse(blocks.find((block) => block.includes("jobs:")) ?? "") as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run }) => (run?.startsWith("npx redeliver ") === true ? [run] : []));
  expect(commands).toHaveLength(1);

  const folder = temporaryFolder("workflow", onTestFinished);
  copyFileSync(join(root, "examples/shop.yaml"), join(folder, "shop.yaml"));
  for (const command of commands) {
    const words = command.split(" ").slice(2);
    const child = spawnSync(process.execPath, [join(root, "src/cli/main.ts"), ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    expect([child.status, child.stdout, withoutProgress(child.stderr)]).toEqual([0, "", ""]);
  }
  const upload = steps.find(({ uses }) => uses?.startsWith("github/codeql-action/upload-sarif@"));
  expect(parseSarif(readFileSync(join(folder, String(upload?.with?.["sarif_file"])), "utf8")).runs).toHaveLength(1);
  expect(workflow.permissions["security-events"]).toBe("write");
});

test("the workflow for pull requests judges a preview, and annotates it", async () => {
  const page = readFileSync(join(root, "docs/policy-in-ci.md"), "utf8");
  const [, block = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const workflow = parse(block) as Workflow;
  const [job] = Object.values(workflow.jobs);
  const commands = (job?.steps ?? []).flatMap(({ run }) => run ?? []);
  expect(commands).toEqual([
    "npm ci",
    expect.stringMatching(/^pulumi preview .*--json --show-sames > preview.json$/),
    expect.stringMatching(/^npx redeliver policy /),
  ]);

  const folder = temporaryFolder("workflow", onTestFinished);
  const run = await runExample("examples/policies/sqs-dead-letter-queue/fails.ts");
  writeFileSync(join(folder, "preview.json"), JSON.stringify(digestOf(run, run)));
  cpSync(join(root, "policies"), join(folder, "policies"), { recursive: true });
  const policy = (words: readonly string[], input?: string) => {
    const given = { cwd: folder, encoding: "utf8", ...(input === undefined ? {} : { input }) } as const;
    return spawnSync(process.execPath, [join(root, "src/cli/main.ts"), ...words], given);
  };
  const annotated = policy((commands.at(-1) ?? "").split(" ").slice(2));
  expect(annotated.status).toBe(0);
  expect(parseWorkflowCommands(annotated.stdout)).toMatchObject([{ command: "warning" }]);

  const deploying = readFileSync(join(root, "docs/deploying.md"), "utf8");
  const [, words = ""] = /^pulumi preview .* \| npx redeliver (policy .*)$/m.exec(deploying) ?? [];
  const piped = policy(words.split(" "), readFileSync(join(folder, "preview.json"), "utf8"));
  expect(piped).toMatchObject({ status: 0, stdout: annotated.stdout });
});
