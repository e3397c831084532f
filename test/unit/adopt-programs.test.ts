import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { programsOf } from "../../src/adopt/programs.ts";
import { brokers, checkTarget } from "../../src/brokers/index.ts";
import { accepted } from "../support/examples.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
const target = accepted(checkTarget<"rabbitmq">({ broker: "rabbitmq", version: "4.3.6", strategy: "staged" }));
const deployment = { brokerVersion: "4.3.6", virtualHosts: [{ name: 'the "shop"' }] };
const templates = brokers.rabbitmq.adopter.programsOf?.(deployment as never, target) ?? expect.unreachable();
const settings = { declaration: "my shop.yaml", isImported: false, options: { deadQueue: "shared" } };

test("the programs name the declaration, its target with all settings, and the virtual host", () => {
  const files = programsOf(templates, { name: "it's", consumers: { "a/b": {}, "a b": {} } }, settings, read);
  expect(Object.keys(files)).toEqual([
    "target.json",
    "Pulumi.yaml",
    "index.mjs",
    "consumers/a-b.mjs",
    "consumers/a-b-2.mjs",
  ]);
  expect(JSON.parse(files["target.json"] ?? "")).toEqual({
    broker: "rabbitmq",
    version: "4.3.6",
    strategy: "staged",
    deadQueue: "shared",
  });
  expect(files["Pulumi.yaml"]).toContain('name: "it\'s"\n');
  expect(files["index.mjs"]).toContain('parse(read("my shop.yaml"))');
  expect(files["index.mjs"]).toContain('RetryTopology("it\'s", { system, target, vhost: "the \\"shop\\"" });');
  expect(files["consumers/a-b-2.mjs"]).toContain('consume(system, "a b", ');
});

test("after an import the component says that its resources are imported", () => {
  const system = { name: "shop", consumers: {} };
  const { "index.mjs": index } = programsOf(templates, system, { ...settings, isImported: true }, read);
  expect(index).toContain('vhost: "the \\"shop\\"", imported: true });');
});

test("adopt writes no program over a file, without a declaration, or for a broker that has none", async () => {
  const folder = temporaryFolder("adopt-programs", onTestFinished);
  const output = join(folder, "shop.yaml");
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const spring = ["--definitions", join(root, "examples/spring.json"), "--programs"];
  const sqs = join(root, "examples/hand-made-queues.json");
  const adopt = async (...words: readonly string[]) => {
    const { code, error } = await runCommand(["adopt", ...words]);
    return [code, error.trim()];
  };
  expect(await adopt(...spring)).toEqual([
    2,
    "error: --programs writes files beside the declaration: name that with --output",
  ]);
  expect(await adopt("--sqs", sqs, "--programs", "--output", output)).toEqual([
    2,
    expect.stringContaining("error: Redeliver has no programs for Amazon SQS yet"),
  ]);
  writeFileSync(join(folder, "index.mjs"), "");
  expect(await adopt(...spring, "--output", output)).toEqual([
    2,
    expect.stringContaining("index.mjs exists, and adopt replaces no file; name another one"),
  ]);
  expect(readdirSync(folder).toSorted()).toEqual(["index.mjs"]);
});
