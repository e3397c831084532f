import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { loadTarget } from "../../src/cli/load-target.ts";
import { withoutProgress } from "../support/without-progress.ts";

const portable = resolve(import.meta.dirname, "../../examples/portable.yaml");
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

test("a missing file is wrong usage, and so is a mistake in it", () => {
  const run = (target: string): { status: number | null; stderr: string } => {
    const words = ["src/cli/main.ts", "compile", portable, "--target", target];
    return spawnSync(process.execPath, words, { encoding: "utf8", cwd: resolve(import.meta.dirname, "../..") });
  };
  const missing = run(join(folder, "nowhere.yaml"));
  expect([missing.status, withoutProgress(missing.stderr).split("\n")[0]]).toEqual([
    2,
    `error[RD201]: ${JSON.stringify(join(folder, "nowhere.yaml"))}: there is no such file`,
  ]);
  const key = run(file("key.yaml", "{ broker: sqs, region: eu-west-1, kmsKey: alias/aws/sqs }"));
  // The problem lies in the target, so the message does not name the declaration.
  expect([key.status, withoutProgress(key.stderr).split("\n")[1]]).toEqual([
    2,
    '  at   target.kmsKey = "alias/aws/sqs"',
  ]);
});
