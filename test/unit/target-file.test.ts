import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { loadTarget } from "../../src/cli/load-target.ts";
import { runCommand, type Said } from "../support/run-command.ts";

const root = resolve(import.meta.dirname, "../..");
const portable = join(root, "examples/portable.yaml");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "redeliver-target-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test.each([
  ["target.yaml", "broker: sqs\nregion: eu-west-1\ntags: { team: a }\n"],
  ["target.yml", "broker: sqs\nregion: eu-west-1\ntags: { team: a }\n"],
  ["TARGET.JSON", '{ "broker": "sqs", "region": "eu-west-1", "tags": { "team": "a" } }'],
])("%s is a target", (name, text) => {
  expect(loadTarget(file(name, text), "auto")).toMatchObject({
    ok: true,
    value: { broker: "sqs", region: "eu-west-1", strategy: "auto", tags: { team: "a" } },
  });
});

test("a word is still a target, and the strategy of the command line goes before that of the file", () => {
  expect(loadTarget("sqs@eu-west-1", "redrive")).toMatchObject({ ok: true, value: { strategy: "redrive" } });
  const own = file("own.yaml", "{ broker: sqs, region: eu-west-1, strategy: visibility }");
  expect(loadTarget(own, "auto")).toMatchObject({ ok: true, value: { strategy: "visibility" } });
  expect(loadTarget(own, "redrive")).toMatchObject({ ok: true, value: { strategy: "redrive" } });
  const rabbitmq = file("rabbitmq.yaml", '{ broker: rabbitmq, version: "4.3" }');
  expect(loadTarget(rabbitmq, "waits")).toMatchObject({ ok: true, value: { broker: "rabbitmq", strategy: "waits" } });
});

test.each([
  ["a list", "[sqs]", "RD201"],
  ["a word without a region", "sqs", "RD201"],
  ["no broker", "region: eu-west-1", "RD201"],
  ["another broker", "broker: nats", "RD201"],
  ["no region", "broker: sqs", "RD201"],
  ["no version", "broker: rabbitmq", "RD201"],
  ["a version that YAML made a number of", "{ broker: rabbitmq, version: 4.3 }", "RD201"],
  ["a patch that is none", '{ broker: rabbitmq, version: "4.3", patch: x }', "RD201"],
  ["an option of another broker", '{ broker: rabbitmq, version: "4.3", region: eu-west-1 }', "RD221"],
  ["an unknown option", "{ broker: sqs, region: eu-west-1, kms: a }", "RD221"],
  ["nothing", "", "RD004"],
  ["no YAML", "{", "RD002"],
])("%s is not a target", (_, text, code) => {
  const target = loadTarget(file("bad.yaml", text), "auto");
  expect(target.ok ? [] : target.diagnostics.map((each) => each.code)).toEqual([code]);
});

test("a missing file is wrong usage, and so is a mistake in it", async () => {
  const run = async (target: string): Promise<Said> => runCommand(["compile", portable, "--target", target]);
  const missing = await run(join(folder, "nowhere.yaml"));
  expect([missing.code, missing.error.split("\n")[0]]).toEqual([
    2,
    `error[RD201]: ${JSON.stringify(join(folder, "nowhere.yaml"))}: there is no such file`,
  ]);
  const key = await run(file("key.yaml", "{ broker: sqs, region: eu-west-1, kmsKey: alias/aws/sqs }"));
  // The problem lies in the target, so the message does not name the declaration.
  expect([key.code, key.error.split("\n")[1]]).toEqual([
    2,
    `  at   ${relative(process.cwd(), join(folder, "key.yaml"))}:1:43: target.kmsKey = "alias/aws/sqs"`,
  ]);
});

describe("a target file that cannot be read as data is refused at its own place, as wrong usage", () => {
  const problems = [
    ["empty.yaml", "", "1:1", /write a target, such as \{ broker: rabbitmq/],
    ["open.yaml", "broker: [\n", "2:1", /correct the text there/],
    ["open.json", '{\n"broker": \n', "2:11", /correct the text there/],
    ["twice.yaml", 'broker: rabbitmq\nversion: "4.3"\nversion: "4.2"\n', "3:1", /remove one of the two/],
    ["number.yaml", "broker: rabbitmq\nversion: 4.3\n", "2:10", /"4\.3"/],
  ] as const;
  test.for(problems)("%s", async ([name, text, place, fix]) => {
    const given = relative(process.cwd(), file(name, text));
    for (const words of [["check"], ["plan"], ["check", "--from", portable, "--from-target", given]]) {
      const [command = "", ...options] = words;
      const own = options.length === 0 ? given : "sqs@eu-west-1";
      const { code, out, error } = await runCommand([command, portable, "--target", own, ...options]);
      expect([code, out]).toEqual([2, ""]);
      // The deployed target comes after the warnings about the declaration.
      const refusal = error.slice(error.indexOf("error["));
      expect(refusal).toContain(`\n  at   ${given}:${place}`);
      expect(refusal).toMatch(fix);
      expect(refusal).not.toContain("portable.yaml");
    }
    const sarif = await runCommand(["check", portable, "--target", given, "--format", "sarif"]);
    expect([sarif.code, sarif.out]).toEqual([2, expect.stringContaining(`"${given}"`)]);
  });
});
