import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");

test.for(["docs/sqs.md", "docs/servicebus.md", "docs/sources.md", "docs/dead-letters.md"])(
  "the target of %s compiles the portable example",
  (page, { onTestFinished }) => {
    const text = readFileSync(resolve(root, page), "utf8");
    const [, target = ""] = /^```yaml\n(# target\.yaml\n[\s\S]*?)^```$/m.exec(text) ?? [];
    expect(target).not.toBe("");
    const folder = temporaryFolder("target", onTestFinished);
    const file = join(folder, "target.yaml");
    writeFileSync(file, target);
    const words = ["compile", "examples/portable.yaml", "--target", file];
    const child = spawnSync(process.execPath, ["src/cli/main.ts", ...words], { cwd: root, encoding: "utf8" });
    expect(child.status, child.stderr).toBe(0);
  },
);
