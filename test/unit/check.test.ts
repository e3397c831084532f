import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { brokers, parseTarget } from "../../src/brokers/index.ts";
import { versions } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import { liveReleases } from "../../src/brokers/rabbitmq/prove/evidence.ts";
import { semanticsVersions, versionRules } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { inFolderOfItsOwn, runCommand, runSeparately, type Said } from "../support/run-command.ts";
import { parseSarif } from "../support/sarif.ts";
import { parseWorkflowCommands } from "../support/workflow-commands.ts";
import { withoutProgress } from "../support/without-progress.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = inFolderOfItsOwn("check");

/** A module is loaded as in a program of a user, by Node itself. */
async function check(file: string, ...words: string[]): Promise<Said> {
  const said = await (file.endsWith(".ts") ? runSeparately : runCommand)(["check", file, ...words]);
  return { ...said, error: withoutProgress(said.error) };
}
const on = (version: string): string[] => ["--target", `rabbitmq@${version}`];
const sarif = [...on("4.3"), "--format", "sarif"];

const shop = readFileSync(join(root, "examples/shop.yaml"), "utf8");
beforeAll(() => {
  mkdirSync(join(folder, "my retries"));
  writeFileSync(join(folder, "shop.yaml"), shop);
  writeFileSync(join(folder, "my retries/größe #1.yaml"), shop.replace("attempts: 5", "attempts: 0"));
  writeFileSync(join(folder, "shop.json"), '{\n  "name": "shop",\n  "sources": {},\n  "consumers": {}, "x": 1\n}\n');
  writeFileSync(join(folder, "shop.ts"), 'export default { name: "shop", sources: {}, consumers: {}, x: 1 };\n');
  writeFileSync(join(folder, "broken.yaml"), "name: shop\nname: shop\n");
});

/** The code, file and region of the first result in the log. */
function firstOf(text: string): unknown[] {
  const first = parseSarif(text).runs[0]?.results[0];
  const place = first?.locations[0]?.physicalLocation;
  return [first?.ruleId, place?.artifactLocation.uri, place?.region];
}
const region = (line: number, column: number, length: number): object => ({
  startLine: line,
  startColumn: column,
  endLine: line,
  endColumn: column + length,
});

describe("for any result, the log is valid and the exit code agrees", () => {
  const cases: readonly (readonly [file: string, version: string, exitCode: number, first: unknown[]])[] = [
    ["shop.yaml", "4.3", 0, [undefined, undefined, undefined]],
    ["shop.yaml", "4.0", 0, ["RD207", "shop.yaml", region(10, 26, 1)]],
    ["my retries/größe #1.yaml", "4.3", 1, ["RD104", "my%20retries/gr%C3%B6%C3%9Fe%20%231.yaml", region(8, 17, 1)]],
    ["./my retries/../shop.json", "4.3", 1, ["RD102", "shop.json", region(4, 25, 1)]],
    [join(folder, "shop.json"), "4.3", 1, ["RD102", "shop.json", region(4, 25, 1)]],
    ["shop.ts", "4.3", 1, ["RD102", "shop.ts", { startLine: 1 }]],
    ["broken.yaml", "4.3", 1, ["RD002", "broken.yaml", region(2, 1, 1)]],
    ["missing.yaml", "4.3", 2, ["RD001", "missing.yaml", { startLine: 1 }]],
    ["my retries", "4.3", 2, ["RD001", "my%20retries", { startLine: 1 }]],
    [".", "4.3", 2, ["RD001", ".", { startLine: 1 }]],
    ["shop.yaml", "5", 2, ["RD201", "shop.yaml", { startLine: 1 }]],
  ];
  test.for(cases)("%s on %s", async ([file, version, exitCode, first]) => {
    const { code, out, error } = await check(file, ...on(version), "--format", "sarif");
    expect([code, error]).toEqual([exitCode, ""]);
    expect(firstOf(out)).toEqual(first);
    const commands = await check(file, ...on(version), "--format", "github");
    expect([commands.code, commands.error]).toEqual([exitCode, ""]);
    expect(parseWorkflowCommands(commands.out).length).toBe(parseSarif(out).runs[0]?.results.length);
  });
});

test("without a consumer every format reports that nothing is proved, with exit code 0", async () => {
  writeFileSync(join(folder, "none.yaml"), "name: shop\nsources: {}\nconsumers: {}\n");
  const formats = ["text", "json", "sarif", "github"];
  const said: Said[] = [];
  for (const format of formats) said.push(await check("none.yaml", ...on("4.3"), "--format", format));
  const [text, json, sarif, github] = said;
  expect([text, json, sarif, github].map((each) => each?.code)).toEqual([0, 0, 0, 0]);
  expect(text?.out).toContain("nothing is proved");
  expect(text?.error).toContain("warning[RD114]: no consumer is declared");
  expect(JSON.parse(json?.out ?? "")).toMatchObject({ verdicts: [], warnings: [{ code: "RD114", path: "consumers" }] });
  expect(firstOf(sarif?.out ?? "")).toEqual(["RD114", "none.yaml", region(3, 12, 2)]);
  expect(parseWorkflowCommands(github?.out ?? "")).toHaveLength(1);
});

test("the log is written to a file even if the declaration is refused", async () => {
  const { code, out, error } = await check("broken.yaml", ...sarif, "--output", "out/found.sarif");
  expect([code, out, error]).toEqual([1, "", ""]);
  expect(firstOf(readFileSync(join(folder, "out/found.sarif"), "utf8"))[0]).toBe("RD002");
});

test("a file that cannot be written is wrong usage", async () => {
  const { code, out, error } = await check("shop.yaml", ...sarif, "--output", "shop.json/x.sarif");
  expect([code, out]).toEqual([2, ""]);
  expect(error).toContain("cannot be written");
});

test("a refusal in text or JSON writes no file", async () => {
  expect((await check("shop.ts", ...on("4.3"), "--output", "refused.txt")).code).toBe(1);
  expect((await check("shop.ts", ...on("4.3"), "--json", "--output", "refused.txt")).code).toBe(1);
  expect(readdirSync(folder)).not.toContain("refused.txt");
});

test("--json is --format json, with the warnings in it", async () => {
  const json = await check("shop.yaml", ...on("4.2"), "--json");
  expect(await check("shop.yaml", ...on("4.2"), "--format", "json")).toEqual(json);
  expect(json.error).toBe("");
  expect(JSON.parse(json.out)).toMatchObject({
    target: "rabbitmq@4.2",
    evidence: { testedLive: false, rules: "follows the server's source only" },
    verdicts: [{ consumer: "billing", violations: [] }],
    warnings: [{ code: "RD207" }],
  });
});

test("an unknown format is wrong usage", async () => {
  expect((await check("shop.yaml", ...on("4.3"), "--format", "xml")).code).toBe(2);
});

test("the terminal shows line and column; a module has neither", async () => {
  expect((await check("my retries/größe #1.yaml", ...on("4.3"))).error).toContain(
    "  at   my retries/größe #1.yaml:8:17: consumers.billing.retry.attempts = 0\n",
  );
  expect((await check("shop.yaml", ...on("4.0"))).error).toContain("  at   shop.yaml:10:26: consumers.billing.crash.");
  expect((await check("shop.ts", ...on("4.3"))).error).toContain("  at   shop.ts: x = 1\n");
});

describe("the evidence behind a proof", () => {
  test("is in the text", async () => {
    expect((await check("shop.yaml", ...on("4.3"))).out).toContain("\nmodel    compared with live brokers (4.3.6)\n");
    expect((await check("shop.yaml", ...on("4.1"))).out).toContain("\nmodel    follows the server's source only\n");
  });
  test("names the release for exactly those classes of versions that tests run live", () => {
    const tested = semanticsVersions.filter((each) => versionRules[each].testedLive);
    expect(Object.keys(liveReleases).toSorted()).toEqual(tested.toSorted());
    const facts = readFileSync(join(root, "docs/broker-facts.md"), "utf8");
    for (const release of Object.values(liveReleases))
      expect(facts).toMatch(new RegExp(`RabbitMQ [^)]*\\b${release}\\b`));
  });
  test("can differ between the first release of a class and later ones", () => {
    const evidence = (version: string): unknown => {
      const target = parseTarget(`rabbitmq@${version}`);
      return target.ok && brokers.rabbitmq.evidenceOf(target.value).testedLive;
    };
    expect(Object.fromEntries([...versions, "4.3.0"].map((each) => [each, evidence(each)]))).toEqual({
      "3.10": true,
      "3.11": true,
      "3.12": false,
      "3.13": false,
      "4.0": true,
      "4.1": false,
      "4.2": false,
      "4.3": true,
      "4.3.0": false,
    });
  });
});
