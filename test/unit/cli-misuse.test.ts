import { copyFileSync, linkSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { inFolderOfItsOwn, runCommand } from "../support/run-command.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = inFolderOfItsOwn("misuse");
const target = ["--target", "rabbitmq@4.3"];
beforeAll(() => {
  const files = { "shop.yaml": "shop.yaml", "scenario.yaml": "outage.yaml", "export.json": "hand-written.json" };
  for (const [name, file] of Object.entries(files)) copyFileSync(join(root, "examples", file), name);
  writeFileSync("target.yaml", '{ broker: rabbitmq, version: "4.3" }');
  writeFileSync("preview.json", '{ "steps": [] }');
  symlinkSync("shop.yaml", "link.yaml");
  linkSync("shop.yaml", "same.yaml");
});

describe("no output replaces an input", () => {
  const cases: readonly (readonly [input: string, ...words: string[]])[] = [
    ["shop.yaml", "compile", "shop.yaml", ...target, "--output", "shop.yaml"],
    ["shop.yaml", "compile", "shop.yaml", ...target, "-o./shop.yaml"],
    ["shop.yaml", "compile", "shop.yaml", ...target, "--output=link.yaml"],
    ["link.yaml", "contract", "link.yaml", "billing", ...target, "--output", "shop.yaml"],
    ["same.yaml", "check", "same.yaml", ...target, "--output", join(folder, "shop.yaml")],
    ["shop.yaml", "graph", "shop.yaml", ...target, "--format", "svg", "--output", "shop.yaml"],
    ["shop.yaml", "check", "shop.yaml", "--target", "5", "--format", "sarif", "--output", "shop.yaml"],
    ["target.yaml", "check", "shop.yaml", "--target", "target.yaml", "--output", "target.yaml"],
    ["link.yaml", "check", "target.yaml", ...target, "--from", "link.yaml", "--output", "shop.yaml"],
    ["scenario.yaml", "simulate", "shop.yaml", ...target, "--scenario", "scenario.yaml", "-o", "scenario.yaml"],
    ["export.json", "audit", "--definitions", "export.json", "--output", "export.json"],
    ["export.json", "audit", "--definitions", "export.json", "--url", "x", "--json", "--output", "export.json"],
    ["export.json", "diff", "shop.yaml", ...target, "--definitions", "export.json", "--output", "export.json"],
    ["target.yaml", "diff", "shop.yaml", "target.yaml", ...target, "--output", "target.yaml"],
    ["preview.json", "policy", "--preview", "preview.json", "--output", "preview.json"],
  ];
  test.for(cases)("%s: %s", async ([input, ...words]) => {
    const before = readFileSync(input, "utf8");
    const { code, out, error } = await runCommand(words);
    expect([code, out]).toEqual([2, ""]);
    expect(error).toContain(`error: the output would replace the input ${input}`);
    expect(readFileSync(input, "utf8")).toBe(before);
  });

  test("an output may bear the name of a consumer or a format, and replace itself", async () => {
    for (const words of [
      ["contract", "shop.yaml", "billing", ...target, "--output", "billing"],
      ["graph", "shop.yaml", ...target, "--format", "dot", "--output", "dot"],
      ["compile", "shop.yaml", ...target, "--output", "rabbitmq@4.3"],
    ])
      for (let run = 1; run <= 2; run++) expect((await runCommand(words)).code).toBe(0);
  });
});

describe("an option with one value is refused if it is given twice", () => {
  test.for([
    ["--target", "check", "shop.yaml", "--target", "sqs@eu-west-1", "-t", "rabbitmq@4.3"],
    ["--strategy", "plan", "shop.yaml", ...target, "--strategy", "waits", "--strategy=staged"],
    ["--format", "audit", "--definitions", "export.json", "--format", "sarif", "--format", "text"],
    ["--definitions", "audit", "--definitions", "export.json", "--definitions", "other.json"],
    ["--group", "dead list", "--queue", "q", "--group", "a", "--group", "b"],
    ["--output", "report", "shop.yaml", ...target, "--output", "a", "--output", "b"],
  ] as const)("%s: %s", async ([flag, command, ...words]) => {
    const { code, out, error } = await runCommand([...command.split(" "), ...words]);
    expect([code, out]).toEqual([2, ""]);
    const name = command.split(" ").at(-1);
    expect(error).toMatch(new RegExp(`^error: option '.*${flag} <.*>' is given twice, and ${name} takes one value; `));
    expect(error).toContain(`run ${name} once for each`);
  });
});

describe("an option with several values takes one each time, before and after the file", () => {
  const targets = ["--target", "rabbitmq@4.3", "-t", "servicebus@standard"];
  test.for([
    ["report", ...targets, "shop.yaml", "--output", "first"],
    ["report", "shop.yaml", ...targets, "--output", "last"],
  ])("%s", async (words) => {
    const { code, out, error } = await runCommand(words);
    expect([code, error]).toEqual([0, expect.not.stringContaining("error")]);
    expect(out).toMatch(/rabbitmq-4\.3.graph\.svg\n[^]*servicebus-standard.graph\.svg\n/);
  });

  test("the systems beside that of leftovers", async () => {
    const also = ["--also", "shop.yaml", "--also", "link.yaml"];
    for (const words of [
      [...also, "shop.yaml"],
      ["shop.yaml", ...also],
    ])
      expect(await runCommand(["leftovers", ...words, ...target, "--definitions", "export.json"])).toMatchObject({
        code: 0,
        error: "",
      });
  });
});

test("a missing option comes with an example of its value", async () => {
  for (const command of ["check", "compile", "report"]) {
    const { code, error } = await runCommand([command, "shop.yaml"]);
    expect([code, error]).toEqual([2, expect.stringMatching(/^error: required option .*--target rabbitmq@4\.3/)]);
  }
});

test("diff offers an export of every broker, and refuses that of another broker", async () => {
  const help = (await runCommand(["diff", "--help"])).out;
  expect(help).toContain("--definitions <file>");
  for (const option of ["sqs", "servicebus"]) {
    expect(help).toContain(`--${option} <file>`);
    const { code, out, error } = await runCommand(["diff", "shop.yaml", ...target, `--${option}`, "export.json"]);
    expect([code, out]).toEqual([2, ""]);
    expect(error).toBe("error: the target is one of RabbitMQ, but the input is of another broker\n");
  }
  expect((await runCommand(["diff", "shop.yaml", ...target])).error).toBe(
    "error: diff takes one of --url URL (or managementUrl of the environment), --definitions FILE, --sqs FILE, --servicebus FILE and a second declaration\n",
  );
});

test.for(["diff", "leftovers"])("%s names an export that it cannot read", async (command) => {
  writeFileSync("broken.json", "{");
  for (const file of ["none.json", "broken.json"]) {
    const { code, error } = await runCommand([command, "shop.yaml", ...target, "--definitions", file]);
    expect([code, error]).toEqual([2, expect.stringMatching(new RegExp(`^  at   ${file}`, "m"))]);
  }
});

test("text in UTF-16 is refused, with the encoding to save it in", async () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, "utf16le");
  writeFileSync("wide.yaml", utf16(readFileSync("shop.yaml", "utf8")));
  writeFileSync("wide.json", utf16(readFileSync("export.json", "utf8")).swap16());
  for (const words of [
    ["check", "wide.yaml", ...target],
    ["check", "shop.yaml", "--target", "wide.yaml"],
    ["audit", "--definitions", "wide.json"],
    ["simulate", "shop.yaml", ...target, "--scenario", "wide.json"],
    ["policy", "--preview", "wide.json"],
  ]) {
    const { code, error } = await runCommand(words);
    expect([words, code, error]).toEqual([
      words,
      2,
      expect.stringMatching(/: the file is in UTF-16\n[^]*save it as UTF-8/),
    ]);
  }
});

test("a proof of one delivery says so", async () => {
  const consumer =
    "{ from: { orders: all }, retry: { attempts: 1, backoff: { kind: immediate } }, crash: { deliveries: 1 } }";
  writeFileSync("once.yaml", `name: shop\nsources: { orders: { kind: topic } }\nconsumers: { billing: ${consumer} }\n`);
  const { out } = await runCommand(["check", "once.yaml", ...target]);
  expect(out).toMatch(/^proved {3}billing: \d+ states, 1 delivery at most$/m);
});
