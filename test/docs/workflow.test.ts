import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import { parseSarif } from "../support/sarif.ts";

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

test("the workflow of the README runs, and uploads the log that it wrote", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
  const workflow = parse(blocks.find((block) => block.includes("jobs:")) ?? "") as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run }) => (run?.startsWith("npx redeliver ") === true ? [run] : []));
  expect(commands).toHaveLength(1);

  const folder = mkdtempSync(join(tmpdir(), "redeliver-workflow-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  copyFileSync(join(root, "examples/shop.yaml"), join(folder, "shop.yaml"));
  for (const command of commands) {
    const words = command.split(" ").slice(2);
    const child = spawnSync(process.execPath, [join(root, "src/cli/main.ts"), ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    expect([child.status, child.stdout, child.stderr]).toEqual([0, "", ""]);
  }
  const upload = steps.find(({ uses }) => uses?.startsWith("github/codeql-action/upload-sarif@"));
  expect(parseSarif(readFileSync(join(folder, String(upload?.with?.["sarif_file"])), "utf8")).runs).toHaveLength(1);
  expect(workflow.permissions["security-events"]).toBe("write");
});
