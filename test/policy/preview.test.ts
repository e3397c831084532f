import { globSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { type JudgedPreview, judgePreview, type PreviewViolation } from "../../src/policy/preview.ts";
import { parseSourcePosition } from "../../src/policy/preview/source-position.ts";
import { readPreview } from "../../src/policy/preview/read-preview.ts";
import type { PolicyOptions } from "../../src/policy/index.ts";
import { runExample } from "../support/example-program.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import { digestOf, type DigestOptions } from "../support/preview.ts";
import type { ProgramRun } from "../support/pulumi.ts";
import { accepted } from "../support/examples.ts";

const root = resolve(import.meta.dirname, "../..");
const programs = globSync("examples/policies/*/fails.ts", { cwd: root }).toSorted();
const strict: PolicyOptions = { preset: "strict" };

async function judged(
  before: ProgramRun | null,
  after: ProgramRun,
  options: DigestOptions = {},
): Promise<JudgedPreview> {
  const read = accepted(readPreview(JSON.stringify(digestOf(before, after, options))));
  return judgePreview(read, strict, new Map());
}

const keysOf = (found: readonly (PreviewViolation | { rule: string; message: string; urn: string })[]): string[] =>
  found.map((each) => `${each.rule} ${"urn" in each ? each.urn : each.resource?.urn} ${each.message}`).toSorted();

/** The same key while the region is unknown. */
const notKnownYet = (key: string): string => key.replace(/^at regions\.eu-west-1\./m, "at regions.not-known-yet.");

describe("the policy pack and the command find the same violations", () => {
  test.each(programs)("%s", async (program) => {
    const run = await runExample(program);
    const found = keysOf(await foundInProcess(run, strict));
    expect(keysOf((await judged(run, run)).violations)).toEqual(found);
    expect(keysOf((await judged(run, run, { hasOutputs: true })).violations)).toEqual(found);
    // The preview of a new stack may know less, such as the region of a queue. It must not find anything else.
    const known = new Set([...found, ...found.map(notKnownYet)]);
    for (const hasOutputs of [false, true]) {
      const ofNew = keysOf((await judged(null, run, { hasOutputs })).violations);
      expect(ofNew.filter((key) => !known.has(key))).toEqual([]);
    }
  });
});

describe("the parts of a stack that a preview must have", () => {
  const refusalOf = (digest: unknown): string => {
    const read = readPreview(typeof digest === "string" ? digest : JSON.stringify(digest));
    return read.ok ? "" : read.diagnostics.map(({ code, message, help }) => `${code} ${message}; ${help}`).join("\n");
  };

  test("without unchanged resources nothing is judged: a dead-letter queue would count as any other queue", async () => {
    const run = await runExample("examples/policies/sqs-dead-letter-queue/passes.ts");
    const digest = digestOf(run, run, { showSames: false });
    expect(digest.steps).toHaveLength(1);
    expect(refusalOf(digest)).toBe(
      "RD905 2 of the 3 unchanged resources are not in it; run pulumi preview --json --show-sames",
    );
  });

  test("a failed preview is not judged, and the reason is given", async () => {
    const run = await runExample("examples/policies/sqs-dead-letter-queue/passes.ts");
    const diagnostics = [
      { message: "[pulumi] fetching plugin", severity: "info" },
      { urn: run.resources[0]?.urn, message: 'error: unable to replace resource "x"\nas it is', severity: "error" },
    ];
    expect(refusalOf({ ...digestOf(run, run), diagnostics })).toMatch(
      /^RD905 the preview failed: error: unable to replace resource "x"; correct/,
    );
    const { changeSummary: _, ...cut } = digestOf(run, run);
    expect(refusalOf(cut)).toMatch(/^RD905 the preview did not finish/);
  });

  test.each([
    [
      '{"sequence":0,"preludeEvent":{"config":{}}}\n{"sequence":1,"cancelEvent":{}}\n',
      /RD904 this is a stream of events/,
    ],
    ['{"version":3,"deployment":{"resources":[]}}', /RD904 this is JSON, but not the output of pulumi preview --json/],
    ["[]", /RD904 this is JSON, but not/],
    ['{"steps":[{"op":"same"}],"changeSummary":{"same":1}}', /RD904 a step of this preview has an unknown form/],
    ['{"steps":{},"diagnostics":[]}', /RD904 a step of this preview has an unknown form/],
    ['{"steps":[{"op":"same","urn":"u","newState":{"type":7}}]}', /RD904 a step of this preview/],
    ['{"steps":', /RD002 the JSON looks truncated/],
    ["  ", /RD004 the file holds nothing/],
  ])("%s is refused", (text, refusal) => {
    expect(refusalOf(text)).toMatch(refusal);
  });
});

describe("steps that the program did not cause", () => {
  const urn = "urn:pulumi:prod::shop::aws:sqs/queue:Queue::orders";
  const state = { urn, custom: true, type: "aws:sqs/queue:Queue" };
  const arn = "arn:aws:sqs:eu-west-1:123456789012:orders";
  const judgedSteps = async (steps: readonly object[]): Promise<readonly string[]> => {
    const read = accepted(readPreview(JSON.stringify({ steps, duration: 1, changeSummary: { create: 1 } })));
    return (await judgePreview(read, strict, new Map())).violations.map((each) => each.rule);
  };

  test("a queue that is only looked up needs no protection, and the model knows it only after the lookup", async () => {
    const external = { ...state, id: "https://sqs/orders", external: true };
    expect(await judgedSteps([{ op: "read", urn, newState: external, detailedDiff: null }])).toEqual([]);
    const outputs = { name: "orders", arn, messageRetentionSeconds: 345_600, visibilityTimeoutSeconds: 30 };
    const oldState = { ...external, outputs };
    // Once the program has looked it up, the pack judges it with the others.
    const found = ["sqs-dead-letter-queue"];
    expect(await judgedSteps([{ op: "read", urn, oldState, newState: external, detailedDiff: null }])).toEqual(found);
    expect(await judgedSteps([{ op: "read", urn, newState: oldState, detailedDiff: null }])).toEqual(found);
  });

  test("a queue that a refresh does not find is made again, and does not count as deleted by the program", async () => {
    const inputs = { name: "orders" };
    const steps = [
      { op: "delete", urn, oldState: { ...state, inputs, outputs: { ...inputs, arn } }, detailedDiff: null },
      { op: "create", urn, newState: { ...state, inputs, protect: true }, detailedDiff: null },
    ];
    // Its missing dead-letter queue is its only fault, and this fault depends on no value that AWS assigns.
    expect(await judgedSteps(steps)).toEqual(["sqs-dead-letter-queue"]);
    expect(await judgedSteps(steps.slice(0, 1))).toEqual(["queue-deletion"]);
  });

  test("a secret is not judged, and is in no message", async () => {
    const inputs = {
      name: "orders",
      redrivePolicy: "[secret]",
      sqsManagedSseEnabled: false,
      kmsMasterKeyId: "[secret]",
    };
    const step = { op: "create", urn, newState: { ...state, inputs, protect: true }, detailedDiff: null };
    expect(await judgedSteps([step])).toEqual([]);
  });
});

describe("the place where the program made a resource", () => {
  test.each([
    ["project:///index.ts#12,3", { path: "index.ts", line: 12, column: 3 }],
    ["project:///stacks/a%20b.ts#12", { path: "stacks/a b.ts", line: 12, column: 1 }],
    // The frames of an ES module name URLs. The SDK takes them for paths below the working directory.
    ["project:///stacks/file:/repo/stacks/index.ts#7,1", { path: "/repo/stacks/index.ts", line: 7, column: 1 }],
    ["project:///node_modules/redeliver/dist/deploy/retry-topology.js#9,5", null],
    ["project:///../other/index.ts#9,5", null],
    ["project:///index.ts", null],
    ["project:///%E0%A4%A#1", null],
    ["project:///index.ts#0", null],
    [undefined, null],
  ])("%s", (text, position) => {
    expect(parseSourcePosition(text)).toEqual(position);
  });
});

test("a resource that is its own parent has no place in the program", async () => {
  const [type, urn] = ["rabbitmq:index/queue:Queue", "urn:a::b::c::q"];
  const newState = { type, urn, parent: urn, inputs: { name: "q", vhost: "/", settings: {} } };
  const read = accepted(
    readPreview(JSON.stringify({ steps: [{ op: "create", urn, newState }], changeSummary: { create: 1 } })),
  );
  const { violations } = await judgePreview(read, strict, new Map());
  expect(violations.map(({ source }) => source)).toEqual(violations.map(() => null));
});
