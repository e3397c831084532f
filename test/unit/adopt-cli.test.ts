import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll, expect, test } from "vitest";

import { adoptedTopologies, exportOf } from "../support/adopted-topologies.ts";
import { queue, vhosts } from "../support/known-topologies.ts";

const folder = mkdtempSync(join(tmpdir(), "redeliver-adopt-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const [topology] = Object.values(adoptedTopologies) as [(typeof adoptedTopologies)[string]];
const sound = at("sound.json");
writeFileSync(sound, exportOf(topology));

function adopt(...words: readonly string[]): { readonly code: number | null; readonly text: string } {
  const main = resolve(import.meta.dirname, "../../src/cli/main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "adopt", ...words], { encoding: "utf8" });
  return { code: status, text: stdout + stderr };
}

test("the files that are named are written, and nothing else", () => {
  const [output, importFile] = [at("shop.yaml"), at("import.json")];
  const { code, text } = adopt("--definitions", sound, "--name", "shop", "--output", output, "--import", importFile);
  expect(code).toBe(0);
  expect(text).toContain("orders.q: 5 attempts by staged, then orders.q.parkingLot");
  expect(readFileSync(output, "utf8")).toContain("name: shop\n");
  const { resources } = JSON.parse(readFileSync(importFile, "utf8")) as { resources: readonly object[] };
  expect(resources[0]).toMatchObject({ component: true, logicalName: "shop" });
});

test.for([
  ["no input", [], /adopt reads one of --definitions FILE and --url URL/],
  ["two inputs", ["--definitions", sound, "--url", "http://localhost"], /adopt reads one of/],
  ["an input of a broker without adoption", ["--sqs", sound], /adopt reads one of/],
  ["an output that exists", ["--definitions", sound, "--output", sound], /replace/],
  ["an import file that exists", ["--definitions", sound, "--import", at("sound.json")], /exists, and adopt replaces/],
  ["one file for both", ["--definitions", sound, "--output", at("x"), "--import", at("x")], /name one file/],
  [
    "a target of another broker",
    ["--definitions", sound, "--target", "sqs@eu-west-1", "--output", at("x")],
    /another broker/,
  ],
] as const)("%s is wrong usage, and nothing is written", ([, words, message]) => {
  const { code, text } = adopt(...words);
  expect(code).toBe(2);
  expect(text).toMatch(message);
  expect(existsSync(at("x"))).toBe(false);
});

test.for([
  ["RD331", { vhosts, queues: [queue("orders.dlq")] }, []],
  ["RD331", { vhosts, queues: [queue("orders")] }, ["--queue", "order"]],
  ["RD315", { vhosts: [{ name: "/" }, { name: "b" }], queues: [queue("a"), { ...queue("a"), vhost: "b" }] }, []],
] as const)("%s refuses the input, and nothing is written", ([expected, definitions, words]) => {
  writeFileSync(at("refused.json"), JSON.stringify({ exchanges: [], bindings: [], ...definitions }));
  const { code, text } = adopt("--definitions", at("refused.json"), "--output", at("x"), "--json", ...words);
  const { diagnostics } = JSON.parse(text) as { diagnostics: readonly { code: string }[] };
  expect([code, diagnostics.map((each) => each.code)]).toEqual([1, [expected]]);
  expect(existsSync(at("x"))).toBe(false);
});

test("a queue that no declaration can name is left out with the reason, and the exit code says so", () => {
  const queues = [queue("orders", { "x-queue-type": "quorum" }), queue("a/b", { "x-queue-type": "quorum" })];
  writeFileSync(at("odd.json"), JSON.stringify({ vhosts, exchanges: [], bindings: [], queues }));
  const { code, text } = adopt("--definitions", at("odd.json"), "--json");
  const answer = JSON.parse(text) as { declaration: { consumers: object }; refused: readonly object[] };
  expect(code).toBe(3);
  expect(Object.keys(answer.declaration.consumers)).toEqual(["orders"]);
  expect(answer.refused).toMatchObject([{ place: "a/b", fact: expect.stringMatching(/left out: .*\//) as unknown }]);
});
