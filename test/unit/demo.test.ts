import { globSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

import { commandLinePackages } from "../../scripts/packages.mjs";
import { brokers } from "../../src/brokers/index.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("demo");

/** npm prints this many lines of its own before the output of `npm start`, and the installation two more. */
const linesBefore = 10;

describe("redeliver demo", () => {
  test("shows on one screen the declaration, the targets, the proof and the page to open", async () => {
    const said = await runCommand(["demo", "--output", folder]);
    expect([said.code, said.error]).toEqual([0, ""]);
    const lines = said.out.trimEnd().split("\n");
    expect(lines.length + linesBefore).toBeLessThanOrEqual(25);
    expect(Math.max(...lines.slice(0, -1).map(({ length }) => length))).toBeLessThanOrEqual(120);
    for (const { exampleTarget } of Object.values(brokers)) {
      expect(said.out).toContain(`  ${exampleTarget}: `);
      expect(readdirSync(join(folder, exampleTarget.replace("@", "-")))).toContain("compiled.json");
    }
    expect(said.out).toMatch(/^proved in all \d+ states/m);
    const [, link = ""] = /^open (file:.*)$/m.exec(said.out) ?? [];
    expect(readFileSync(fileURLToPath(link), "utf8")).toContain("<!doctype html>");
  });

  test("prints with --verbose what report prints, and proves the declaration as check does", async () => {
    const declaration = join(root, "examples/portable.yaml");
    const said = await runCommand(["demo", "--output", folder, "--verbose"]);
    const targets = Object.values(brokers).flatMap(({ exampleTarget }) => ["--target", exampleTarget]);
    const report = await runCommand(["report", declaration, ...targets, "--output", folder]);
    expect(said.out.startsWith(report.out)).toBe(true);
    let states = 0;
    for (const { exampleTarget } of Object.values(brokers)) {
      const checked = await runCommand(["check", declaration, "--target", exampleTarget, "--json"]);
      const { verdicts } = JSON.parse(checked.out) as { verdicts: readonly { readonly states: number }[] };
      states += verdicts.reduce((sum, verdict) => sum + verdict.states, 0);
    }
    expect(said.out).toContain(`proved in all ${states} states`);
  });

  test("says why a folder cannot be written", async () => {
    const said = await runCommand(["demo", "--output", join(folder, "index.html")]);
    expect([said.code, said.out]).toEqual([2, ""]);
    expect(said.error).toContain("a part of its path is no folder");
  });
});

test("npm start installs each package that the command line imports, and no client or provider", () => {
  const elsewhere =
    /^src\/(consume|deploy)\/|^src\/policy\/(index|pulumi)\.ts$|^src\/brokers\/\w+\/(make|run|operate|pages)\//;
  const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !elsewhere.test(file));
  const imported = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), "utf8")
        .replaceAll(/^import type .*$/gm, "")
        .matchAll(/(?:from|import\() ?"((?:@[\w-]+\/)?[\w-]+)["/]/g),
    ].map(([, name = ""]) => name),
  );
  const { devDependencies, dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as Readonly<Record<"dependencies" | "devDependencies" | "peerDependencies", object>>;
  const packages = new Set(
    imported.filter((name) => name in { ...devDependencies, ...dependencies } && !(name in peerDependencies)),
  );
  expect([...packages].toSorted()).toEqual([...commandLinePackages].toSorted());
});
