import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const main = join(root, "src/cli/main.ts");

/** A module may import others, and Node never imports one twice in one thread. */
const files = (delay: string): Readonly<Record<string, string>> => ({
  "shop.ts": `import { constant, defineSystem } from "redeliver";\nimport { delay } from "./delay.ts";\nexport default defineSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: { from: { orders: "all" }, retry: { attempts: 2, backoff: constant(delay) } } } });\n`,
  "delay.ts": `export const delay = "${delay}" as const;\n`,
});

test("--watch runs again after a change of a file that the declaration imports", async () => {
  const folder = temporaryFolder("watch", onTestFinished);
  const write = (delay: string): void => {
    for (const [file, text] of Object.entries(files(delay))) writeFileSync(join(folder, file), text);
  };
  write("7s");
  const child = spawn(process.execPath, [main, "plan", "shop.ts", "--watch"], { cwd: folder });
  onTestFinished(() => void child.kill());
  const said = { out: "", error: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.error += chunk.toString()));
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise((done) => setTimeout(done, 50));
  };
  const runs = (): number => said.error.split("waiting for a change").length - 1;
  await until(() => runs() === 1);
  expect(said.out).toContain("7s");
  write("13s");
  await until(() => said.out.includes("13s"));
  // A mistake ends nothing.
  writeFileSync(join(folder, "shop.ts"), "export default 1;\n");
  await until(() => said.error.includes("RD101"));
  expect(child.exitCode).toBeNull();
});

test("--watch ends at once on wrong usage, and only the three commands that prove or show have it", () => {
  const codeOf = (...words: string[]): number | null =>
    spawnSync(process.execPath, [main, ...words], { cwd: root, encoding: "utf8" }).status;
  expect(codeOf("check", "examples/shop.yaml", "--watch")).toBe(2);
  expect(codeOf("plan", "nowhere/shop.yaml", "--watch")).toBe(2);
  expect(codeOf("compile", "examples/shop.yaml", "--target", "rabbitmq@4.3", "--watch")).toBe(2);
  expect(readFileSync(join(root, "docs/commands.md"), "utf8")).toContain("`--watch`");
});
