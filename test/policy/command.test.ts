import { spawn } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { docsOfRule } from "../../src/policy/rule.ts";
import { runExample } from "../support/example-program.ts";
import { type Digest, digestOf } from "../support/preview.ts";
import { parseSarif } from "../support/sarif.ts";
import { withoutProgress } from "../support/without-progress.ts";
import { parseWorkflowCommands } from "../support/workflow-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("policy");

async function policy(words: readonly string[], input = "") {
  const child = spawn(process.execPath, [join(root, "src/cli/main.ts"), "policy", ...words], { cwd: folder });
  const text = { out: "", error: "" };
  child.stdout.on("data", (data: Buffer) => (text.out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (text.error += data.toString()));
  // A program that ends without reading its input closes the pipe.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, out: text.out, error: withoutProgress(text.error) };
}

/** The digest as the command prints it: four spaces of indentation and a line end. */
function file(name: string, data: unknown): string {
  writeFileSync(join(folder, name), typeof data === "string" ? data : `${JSON.stringify(data, null, 4)}\n`);
  return name;
}

const rule = "sqs-dead-letter-queue";
const strict = ["--config", file("strict.yaml", "# everything\npreset: strict\n")];
let bad: string;
let good: string;
let ownerless: string;
let text: string;
let urn: string;

/** The digest with a place in the program for one of its resources. */
function placed(digest: Digest, at: string, sourcePosition: string): Digest {
  const steps = digest.steps?.map((step) =>
    step.urn === at ? { ...step, newState: { ...step.newState, sourcePosition } } : step,
  );
  return { ...digest, ...(steps === undefined ? {} : { steps }) };
}

beforeAll(async () => {
  const fails = await runExample(`examples/policies/${rule}/fails.ts`);
  urn = fails.resources.find(({ name }) => name === "orders")?.urn ?? "";
  const digest = placed(digestOf(fails, fails), urn, "project:///infra/queues.ts#3,1");
  bad = file("bad.json", digest);
  text = JSON.stringify(digest);
  const passes = await runExample(`examples/policies/${rule}/passes.ts`);
  good = file("good.json", digestOf(passes, passes));
  const run = await runExample("examples/policies/topology-owner/fails.ts");
  ownerless = file("ownerless.json", digestOf(run, run));
});

describe.concurrent("the exit code", () => {
  test("is 0 without a finding, and with advisory ones only", async () => {
    expect(await policy(["--preview", good, ...strict])).toMatchObject({ code: 0, error: "" });
    const { code, out } = await policy(["--preview", bad]);
    expect(code).toBe(0);
    expect(out).toContain(`warning[${rule}]: [RD415]`);
    expect(out).toMatch(/found {6}0 mandatory, 1 advisory\n$/);
  });

  test("a place in a preview cannot control a terminal", async () => {
    const at = file("at.json", placed(JSON.parse(text) as Digest, urn, "project:///%1b%5D0;taken%07.ts#3,1"));
    const { out } = await policy(["--preview", at]);
    expect(out).toContain("␛]0;taken␇.ts:3:1");
    // oxlint-disable-next-line no-control-regex -- these are what it is about
    expect(out).not.toMatch(/[\u001b\u0007]/);
  });

  test("is 1 for a broken mandatory rule, read from a file or from the standard input", async () => {
    const fromFile = await policy(["--preview", bad, ...strict]);
    const fromInput = await policy(["--preview", "-", ...strict], text);
    expect(fromFile.code).toBe(1);
    expect(fromFile).toEqual(fromInput);
    expect(fromFile.out).toContain(`error[${rule}]: [RD415]`);
    expect(fromFile.out).toContain("infra/queues.ts:3:1: orders (aws:sqs/queue:Queue)");
    expect(fromFile.out).toContain(`see  ${docsOfRule({ name: rule })}`);
  });

  test.each([
    [["--preview", "nowhere.json"], "RD001"],
    [["--preview", "bad.json", "--config", "nowhere.yaml"], "RD001"],
    [["--preview", "bad.json", "--stack-tag", "owner"], "--stack-tag owner=team-billing"],
    [["--preview", "bad.json", "--format", "xml"], "Allowed choices are text, json, sarif, github"],
    [[], "required option '--preview <file>' not specified"],
  ])("is 2 with %j", async (words, told) => {
    const { code, out, error } = await policy(words);
    expect([code, out]).toEqual([2, ""]);
    expect(error).toContain(told);
    expect(error).not.toMatch(/\n\s+at .*:\d+:\d+/);
  });

  test("is 2 for options that the policy pack would refuse, and for a text that is not a preview", async () => {
    const wrong = file("wrong.yaml", "rules: { retry-attempts-limit: { max: 0 } }\n");
    expect(await policy(["--preview", bad, "--config", wrong])).toMatchObject({
      code: 2,
      error: expect.stringMatching(/error\[RD903\].*\n {2}at {3}wrong.yaml: rules/),
    });
    expect(await policy(["--preview", "-"], "Previewing update (dev)\n")).toMatchObject({ code: 2, out: "" });
  });
});

describe.concurrent("output for tools", () => {
  test("a log for code scanning has the rule, its page's text, the severity and the place", async () => {
    const { code, out } = await policy(["--preview", bad, ...strict, "--format", "sarif"]);
    expect(code).toBe(1);
    const [run] = parseSarif(out).runs;
    expect(run?.tool.driver.rules).toMatchObject([
      {
        id: rule,
        properties: { tags: ["sqs", "dead letters", "data loss"] },
        help: { text: expect.stringContaining(docsOfRule({ name: rule })) },
        helpUri: docsOfRule({ name: rule }),
      },
    ]);
    expect(run?.results).toMatchObject([
      {
        ruleId: rule,
        level: "error",
        message: { text: expect.stringContaining("Every SQS queue has a dead-letter queue. Severity: high.") },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: "infra/queues.ts" },
              region: { startLine: 3, startColumn: 1 },
            },
            logicalLocations: [{ fullyQualifiedName: "orders (aws:sqs/queue:Queue)" }],
          },
        ],
      },
    ]);
  });

  test("annotations stand beside the line of the program, in the folder of its project", async () => {
    const { code, out } = await policy(["--preview", bad, ...strict, "--format", "github", "--project", "deploy"]);
    expect(code).toBe(1);
    expect(parseWorkflowCommands(out)).toMatchObject([
      {
        command: "error",
        properties: {
          file: "deploy/infra/queues.ts",
          line: "3",
          col: "1",
          title: `${rule} orders (aws:sqs/queue:Queue)`,
        },
        message: expect.stringMatching(/^\[RD415\].*\nfix: /s),
      },
    ]);
  });

  test("a violation without a place in the program is shown at the file of the project", async () => {
    const { out } = await policy(["--preview", ownerless, "--format", "github"]);
    expect(parseWorkflowCommands(out)).toMatchObject([{ properties: { file: "Pulumi.yaml", line: "1" } }]);
  });

  test("an ES module gives an absolute path, which counts if it is in the repository", async () => {
    const digest = (file: string): Digest =>
      placed(JSON.parse(text) as Digest, urn, `project:///stacks/file:${file}#3,1`);
    const annotations = async (file: string): Promise<unknown> => {
      const { out } = await policy(["--preview", "-", "--format", "github"], JSON.stringify(digest(file)));
      return parseWorkflowCommands(out)[0]?.properties;
    };
    // A folder for temporary files may be a link.
    expect(await annotations(join(realpathSync(folder), "stacks/index.ts"))).toMatchObject({
      file: "stacks/index.ts",
      line: "3",
    });
    expect(await annotations("/elsewhere/index.ts")).toMatchObject({ file: "Pulumi.yaml", line: "1" });
  });

  test("a tag of the stack counts as an owner", async () => {
    const { out } = await policy(["--preview", ownerless, "--json", "--stack-tag", "owner=team-billing", "size=small"]);
    expect(JSON.parse(out)).toMatchObject({ ok: true, violations: [] });
  });

  test("JSON has all facts about a violation", async () => {
    const { code, out } = await policy(["--preview", bad, ...strict, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      ok: false,
      resources: 1,
      unknown: [],
      violations: [
        {
          rule,
          level: "mandatory",
          severity: "high",
          description: "Every SQS queue has a dead-letter queue.",
          message: expect.stringMatching(/^\[RD415\]/),
          resource: { name: "orders", type: "aws:sqs/queue:Queue", urn },
          source: { path: "infra/queues.ts", line: 3, column: 1 },
          url: docsOfRule({ name: rule }),
        },
      ],
    });
  });

  test("if nothing can be judged, the log is valid and has the reason", async () => {
    const log = join(folder, "log.sarif");
    expect((await policy(["--preview", "-", "--format", "sarif", "--output", log], "{}")).code).toBe(2);
    expect(parseSarif(readFileSync(log, "utf8")).runs[0]?.results).toMatchObject([{ ruleId: "RD904", level: "error" }]);
    const { code, out } = await policy(["--preview", "-", "--format", "github"], "{}");
    expect([code, parseWorkflowCommands(out)]).toMatchObject([
      2,
      [{ command: "error", properties: { title: "RD904" } }],
    ]);
  });
});
