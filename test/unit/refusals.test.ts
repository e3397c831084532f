import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { runCommand, type Said } from "../support/run-command.ts";
import { parseSarif } from "../support/sarif.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("refusals");
const shop = join(root, "examples/shop.yaml");
const cut = join(folder, "cut.json");
writeFileSync(cut, '{"name": ');
const target = ["--target", "rabbitmq@4.3"];

/** Runs a command whose answer goes into a file. */
async function redeliver(words: readonly string[]): Promise<Said & { readonly written: string }> {
  const place = join(folder, "answer");
  const said = await runCommand([...words, "--output", place]);
  const written = existsSync(place) ? readFileSync(place, "utf8") : "";
  rmSync(place, { force: true });
  return { ...said, written };
}

const judges: readonly (readonly [words: readonly string[], exitCode: number])[] = [
  [["audit", "--definitions", cut], 2],
  [["audit", "--stack", "none.json"], 2],
  [["audit", "--definitions", cut, "--target", "rabbitmq@five"], 2],
  [["policy", "--preview", cut], 2],
  [["policy", "--preview", cut, "--config", "none.yaml"], 2],
];
const makers: readonly (readonly [words: readonly string[], exitCode: number])[] = [
  [["check", cut, ...target], 1],
  [["compile", cut, ...target], 1],
  [["contract", cut, "billing", ...target], 1],
  [["graph", cut, ...target, "--format", "dot"], 1],
  [["simulate", cut, ...target], 1],
  [["simulate", shop, ...target, "--scenario", "none.yaml"], 2],
];

describe("a refusal to judge stands in place of the answer, in its format", () => {
  const withCheck = [...judges, ...makers.slice(0, 1)];
  test.for(withCheck)("%j for tools", async ([words, exitCode]) => {
    const sarif = await redeliver([...words, "--format", "sarif"]);
    expect(sarif).toMatchObject({ code: exitCode, out: "", error: "" });
    expect(parseSarif(sarif.written).runs[0]?.results).toHaveLength(1);
    const github = await redeliver([...words, "--format", "github"]);
    expect(github).toMatchObject({
      code: exitCode,
      out: "",
      error: "",
      written: expect.stringMatching(/^::error .*\n$/),
    });
  });

  test.for(judges)("%j as JSON", async ([words, exitCode]) => {
    const json = await redeliver([...words, "--format", "json"]);
    expect(json).toMatchObject({ code: exitCode, out: "", error: "" });
    expect(JSON.parse(json.written)).toMatchObject({ ok: false, diagnostics: [{ severity: "error" }] });
    expect(await redeliver([...words, "--json"])).toEqual(json);
  });

  test.for([...judges, ...makers])("%j for a person", async ([words, exitCode]) => {
    const error = expect.stringMatching(/^error\[RD/);
    expect(await redeliver(words)).toEqual({ code: exitCode, out: "", written: "", error });
  });
});

test.for(makers)("a refusal to write a deployment replaces no file: %j", async ([words, exitCode]) => {
  const json = await redeliver([...words, "--json"]);
  expect(json).toMatchObject({ code: exitCode, error: "", written: "" });
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, diagnostics: [{ severity: "error" }] });
});

describe("wrong usage is reported in the same places", () => {
  const misused: readonly (readonly [words: readonly string[], place: "out" | "written"])[] = [
    [["audit", "--definitions", "a", "--stack", "b"], "written"],
    [["audit"], "written"],
    [["policy", "--preview", cut, "--stack-tag", "owner"], "written"],
    [["contract", shop, "nobody", ...target], "out"],
    [["compile", shop, ...target, "--format", "aws-json"], "out"],
  ];
  test.for(misused)("%j", async ([words, place]) => {
    const error = expect.stringMatching(/^error: /);
    expect(await redeliver(words)).toEqual({ code: 2, out: "", written: "", error });
    const json = await redeliver([...words, "--json"]);
    expect(json).toMatchObject({ code: 2, error: "" });
    expect(JSON.parse(json[place])).toEqual({ ok: false, usage: expect.any(String) });
  });
});
