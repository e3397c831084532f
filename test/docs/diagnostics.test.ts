import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import manifest from "../../package.json" with { type: "json" };
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";

import { generatedFiles } from "../../scripts/generate.ts";
import { unreadAsError } from "../../src/foreign/unread.ts";
import { brokerOf, brokers } from "../../src/brokers/index.ts";
import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { askedOf, readLock, refuseSecond } from "../../src/migrate/lock.ts";
import { endedWaivers, readProject, todayUtc } from "../../src/cli/project.ts";
import { loadDeclaration } from "../../src/cli/load-declaration.ts";
import { checkTargetData } from "../../src/cli/load-target.ts";
import { parseText } from "../../src/declare/parse.ts";
import { SqsRetryTopology } from "../../src/brokers/sqs/make/index.ts";
import { readStackConfig } from "../../src/deploy/stack-config.ts";
import {
  type CatalogueEntry,
  type DiagnosticCode,
  catalogue,
  diagnosticCodes,
} from "../../src/diagnostics/catalogue.ts";
import { type Checked, type Diagnostic, diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { docsOfCode } from "../../src/diagnostics/docs-site.ts";
import { renderSarif } from "../../src/diagnostics/sarif.ts";
import type {
  BrokerExample,
  DeclarationExample,
  Example,
  TargetFileExample,
} from "../../examples/diagnostics/example.ts";
import { examples } from "../../examples/diagnostics/examples.ts";
import { renderPage } from "../../scripts/diagnostics-page.ts";
import { type SystemInput, checkSystem, compile, parseTarget } from "../../src/index.ts";
import { type Deployed as DeployedSystem, readDeployed } from "../../src/migrate/deployed.ts";
import { proveChange } from "../../src/migrate/prove-change.ts";
import {
  againstDeclaration,
  driftBetween,
  driftDiagnostics,
  driftFrom,
  judgeDrift,
  otherDiagnostics,
} from "../../src/migrate/judge-drift.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { selectRules } from "../../src/policy/options.ts";
import { readPreview } from "../../src/policy/preview/read-preview.ts";
import { checkScenario } from "../../src/simulate/check-scenario.ts";
import { readState } from "../support/read-topology.ts";
import { answersOf, closedPort, refuseLogin, startFakeBroker } from "../support/fake-broker.ts";
import { reportedByAdopt } from "../support/reported-by-adopt.ts";
import { explained } from "../support/explained.ts";
import { reportedByStart } from "../support/consume/reported-by-start.ts";
import { reportedByOperating } from "../support/reported-by-operating.ts";
import { parseSarif } from "../support/sarif.ts";
import { runProgram } from "../support/pulumi.ts";

const { rabbitmq, servicebus, sqs } = brokers;
const root = resolve(import.meta.dirname, "../..");
const { homepage, version } = manifest;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "redeliver-examples-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Reported = Pick<Diagnostic, "code" | "docs">;

const reportsOf = (checked: Checked<unknown>): readonly Reported[] =>
  checked.ok ? checked.warnings : checked.diagnostics;

/** Everything that an example reports, in order, through the same functions as a user's input. */
async function reportedBy(example: Example): Promise<readonly Reported[]> {
  switch (example.kind) {
    case "declaration":
      return reportedByDeclaration(example);
    case "target":
      return reportsOf(parseTarget(example.target, example.strategy));
    case "file": {
      const file = join(mkdtempSync(join(folder, "file-")), example.name);
      writeFileSync(file, example.text);
      const loaded = await loadDeclaration(file);
      if (!loaded.ok || example.target === undefined) return loaded.ok ? loaded.warnings : loaded.diagnostics;
      const target = parseTarget(example.target);
      const compiled = target.ok ? compile(loaded.value, target.value) : target;
      return compiled.ok ? [...loaded.warnings, ...compiled.warnings] : compiled.diagnostics;
    }
    case "target-file":
      return reportedByTargetFile(example);
    case "stack":
      return reportedByStack(example.text);
    case "project": {
      const file = join(mkdtempSync(join(folder, "project-")), "redeliver.config.yaml");
      writeFileSync(file, example.text);
      const project = readProject(file);
      return project.ok ? endedWaivers(project.value, todayUtc()) : project.diagnostics;
    }
    case "lock":
      return reportsOf(readLock(example.text));
    case "scenario": {
      const scenario = parseText(example.text, "yaml");
      const consumers = [{ consumer: "billing", hasRetryAfter: false }];
      return reportsOf(scenario.ok ? checkScenario(scenario.value, consumers) : scenario);
    }
    case "dead-queue":
      return reportedByOperating(example.text, folder);
    case "policy":
      return reportsOf(selectRules(parse(example.text)));
    case "preview":
      return reportsOf(readPreview(example.text));
    case "definitions":
      return reportedByAudit(rabbitmq.auditor.file.read(example.text), example);
    case "export": {
      const { auditor } = example.option === "sqs" ? sqs : servicebus;
      const read = auditor.file.read(example.text);
      if (!read.ok) return read.diagnostics;
      const target = auditor.targetOf(read.value as never);
      if (!target.ok || target.value === null) throw new Error("every deployment has a target");
      return [...read.warnings, ...auditor.audit(read.value as never, target.value as never, null)];
    }
    case "state":
      return reportedByAudit(readState(example.text), example).map((each) =>
        example.allowUnread === true ? each : unreadAsError(each, true),
      );
    case "broker":
      return reportedByBroker(example);
    case "change": {
      const [before, after] = [deployedFrom(example.before), deployedFrom(example.after)];
      if (example.by === "migrate") return reportsOf(planMigration(before, after.system, after.target));
      if (example.by === "migrate --next") {
        const going = { asked: askedOf(before), phase: 0, since: "2026-11-25T09:00:00Z", steps: [before] };
        return reportsOf(refuseSecond(going, after));
      }
      if (example.by === undefined) {
        const refused = refuseChange(before, after);
        if (refused.length > 0) return refused;
        const { problems, warnings } = proveChange(before, after);
        return [...problems, ...warnings];
      }
      return reportedByDrift(driftBetween(before, after));
    }
    case "drift": {
      const read = rabbitmq.auditor.file.read(example.text);
      const { declaration: text, target } = example;
      const declared = deployedFrom({ kind: "declaration", format: "yaml", text, target });
      return read.ok ? reportedByDrift(driftFrom(read.value, declared)) : read.diagnostics;
    }
    case "adopt":
      return reportedByAdopt(example);
    case "start":
      return reportedByStart(example.text);
    default:
      return example satisfies never;
  }
}

function reportedByDeclaration({
  format,
  text,
  target,
  strategy,
  exportAs = "json",
}: DeclarationExample): readonly Diagnostic[] {
  const parsed = parseText(text, format);
  const system = parsed.ok ? checkSystem(parsed.value) : parsed;
  if (!system.ok) return system.diagnostics;
  if (target === undefined) return system.warnings;
  const parsedTarget = parseTarget(target, strategy);
  if (!parsedTarget.ok) return parsedTarget.diagnostics;
  const compiled = compile(system.value, parsedTarget.value);
  if (!compiled.ok) return compiled.diagnostics;
  const exported = brokerOf(parsedTarget.value).diagnoseExport?.(compiled.value, exportAs) ?? [];
  return [...system.warnings, ...compiled.warnings, ...exported];
}

function deployedFrom({ text, target = "", strategy }: DeclarationExample): DeployedSystem {
  const system = checkSystem(parse(text) as SystemInput);
  const checked = parseTarget(target, strategy);
  const deployed = system.ok && checked.ok ? readDeployed(system.value, checked.value) : null;
  if (deployed === null) throw new Error("one side of the change does not compile");
  return deployed;
}

function reportedByDrift(drift: ReturnType<typeof driftBetween>): readonly Diagnostic[] {
  if (!drift.ok) return drift.diagnostics;
  return [...driftDiagnostics(judgeDrift(drift.value), againstDeclaration), ...otherDiagnostics(drift.value)];
}

function reportedByTargetFile({ text, declaration }: TargetFileExample): readonly Diagnostic[] {
  const parsed = parseText(text, "yaml");
  const target = parsed.ok ? checkTargetData(parsed.value) : parsed;
  if (!target.ok) return target.diagnostics;
  const system = parseText(declaration, "yaml");
  const checked = system.ok ? checkSystem(system.value) : system;
  if (!checked.ok) return checked.diagnostics;
  const compiled = compile(checked.value, target.value);
  return compiled.ok ? [...checked.warnings, ...compiled.warnings] : compiled.diagnostics;
}

type Deployed = ReturnType<typeof rabbitmq.auditor.file.read>;

function reportedByAudit(
  deployment: Deployed,
  { target, upgradeTo }: { readonly target?: string; readonly upgradeTo?: string },
): readonly Diagnostic[] {
  if (!deployment.ok) return deployment.diagnostics;
  const own =
    target === undefined
      ? rabbitmq.auditor.targetOf(deployment.value)
      : rabbitmq.parseTarget(target.replace(/^rabbitmq@/, ""));
  if (!own.ok) return own.diagnostics;
  if (own.value === null) throw new Error("the example does not say which version it is for");
  const next = upgradeTo === undefined ? null : parseTarget(`rabbitmq@${upgradeTo}`);
  if (next?.ok === false) return next.diagnostics;
  const found = rabbitmq.auditor.audit(deployment.value, own.value, next?.value ?? null);
  return [...own.warnings, ...deployment.warnings, ...found];
}

/** Another process may use the example's port, so the test serves it on another. */
async function reportedByBroker({ url, answers }: BrokerExample): Promise<readonly Diagnostic[]> {
  const fake = await startFakeBroker(answers === "refusal" ? refuseLogin : answersOf());
  const port = answers === "nothing" ? await closedPort() : fake.port;
  const served = url.replace("localhost:15672", `127.0.0.1:${port}`);
  try {
    return reportedByAudit(await readLiveBroker(served, rabbitmq.auditor.live, {}), {});
  } finally {
    await fake.close();
  }
}

/** The system that the example stacks deploy to SQS. */
function deployed(): SystemInput {
  return parse(readFileSync(join(root, "examples/portable.yaml"), "utf8")) as SystemInput;
}

/** A stack's refusal is one error that contains the rendered diagnostics. */
async function reportedByStack(file: string): Promise<readonly Reported[]> {
  const { config } = parse(file) as { config: Record<string, unknown> };
  const values = Object.entries(config).map(([key, value]) => {
    const secret = typeof value === "object" && value !== null && "secure" in value ? value.secure : undefined;
    return { key, value: secret ?? value, isSecret: secret !== undefined };
  });
  const program = (): void => {
    const own = readStackConfig<"rabbitmq" | "sqs">(new pulumi.Config(), ["rabbitmq", "sqs"]);
    if (own.broker === "sqs") void new SqsRetryTopology("shop", { system: deployed(), target: own.target });
  };
  const run = await runProgram(program, {
    config: Object.fromEntries(values.map(({ key, value }) => [key, value])),
    secretKeys: values.filter(({ isSecret }) => isSecret).map(({ key }) => key),
  });
  if (run.error !== undefined && !pulumi.RunError.isInstance(run.error)) throw run.error;
  const text = [run.error?.message ?? "", ...run.log].join("\n");
  const blocks = text.matchAll(/\[(RD\d+)\][\s\S]*?^ {2}see {2}(\S+)$/gm);
  return [...blocks].map(([, code, docs]) => ({ code: code as DiagnosticCode, docs: docs ?? "" }));
}

const codes = (reported: readonly Reported[]): DiagnosticCode[] =>
  [...new Set(reported.map(({ code }) => code))].toSorted();

describe.each(diagnosticCodes)("%s", (code) => {
  const { fires, quiet } = examples[code];

  test("the first example reports the code, and only those other codes that the page names", async () => {
    const reported = await reportedBy(fires);
    expect(codes(reported)).toEqual([code, ...(fires.also ?? [])].toSorted());
    if (fires.also === undefined) expect(reported[0]?.code).toBe(code);
  });

  test("the second example does not report the code", async () => {
    expect(codes(await reportedBy(quiet))).toEqual([...(quiet.also ?? [])].toSorted());
  });

  test("both examples are on the page, below its title", () => {
    const page = renderPage(code);
    expect(page.split("\n")[0]).toBe(`# ${code}: ${catalogue[code].title}`);
    for (const example of [fires, quiet]) {
      if (example.kind === "broker") expect(page).toContain(`--url ${example.url}\n`);
      else if (example.kind === "change") {
        for (const each of [example.before, example.after]) expect(page).toContain(`\n${each.text.trimEnd()}\n`);
      } else if (example.kind !== "target") expect(page).toContain(`\n${example.text.trimEnd()}\n`);
      if ("target" in example) {
        const strategy =
          !("strategy" in example) || example.strategy === undefined ? "" : ` --strategy ${example.strategy}`;
        expect(page).toMatch(new RegExp(`--target ${`${example.target}${strategy}`.replaceAll(".", "\\.")}[\`\n]`));
      }
    }
  });

  test("its explanation is two to six sentences of at most 25 words", () => {
    const { explanation }: CatalogueEntry = catalogue[code];
    const sentences = explanation.split(/(?<=\.)\s+/);
    expect(sentences.length, explanation).toBeGreaterThanOrEqual(2);
    expect(sentences.length, explanation).toBeLessThanOrEqual(6);
    expect(sentences.filter((each) => each.split(/\s+/).length > 25)).toEqual([]);
  });

  test("the diagnostic, its rule for code scanning and its explanation link to its page on the site of this version", async () => {
    const reported = (await reportedBy(fires)).find((each) => each.code === code);
    const page = `${homepage}/${/^\d+\.\d+/.exec(version)?.[0]}/diagnostics/${code.toLowerCase()}`;
    expect(reported?.docs).toBe(page);
    const log = renderSarif([diagnostic(code, { message: "any", path: "" })], {});
    expect(parseSarif(log).runs[0]?.tool.driver.rules).toMatchObject([{ helpUri: page }]);
    expect(explained(code, {}).output).toBe(`${renderPage(code)}\n${page}\n`);
  });
});

test("every code in the source is in the catalogue, and some code path reports every code of the catalogue", () => {
  const reporting = globSync(
    "src/{adopt,brokers,cli,compile,consume,contract,foreign,declare,deploy,migrate,operate,plan,policy,simulate}/**/*.ts",
    // The codes and their examples report nothing.
    { cwd: root, exclude: ["src/brokers/*/problems.ts", "src/brokers/*problems.ts"] },
  );
  const named = new Set(reporting.flatMap((file) => readFileSync(join(root, file), "utf8").match(/"RD\d+"/g) ?? []));
  expect([...named].map((each) => each.slice(1, -1)).toSorted()).toEqual(diagnosticCodes);
});

describe("a generated file equals its generator's output", () => {
  test("each generated file has one generator", () => {
    expect(generatedFiles.map(({ file }) => file)).toEqual(
      expect.arrayContaining(["docs/diagnostics.md", "schema.json"]),
    );
    expect(new Set(generatedFiles.map(({ file }) => file)).size).toBe(generatedFiles.length);
  });

  // One of them is the table of a simulation.
  test.each(generatedFiles)("$file (npm run generate)", { timeout: 600_000 }, async ({ file, text }) => {
    expect(readFileSync(join(root, file), "utf8")).toBe(await text());
  });
});

describe("redeliver explain", () => {
  test.each(["RD101", "rd101", "101"])("%s prints the page", (code) => {
    const { exitCode, output, errors } = explained(code, {});
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(output).toContain(renderPage("RD101"));
    expect(output.split("\n")[0]).toBe("# RD101: A value is missing or of the wrong kind");
  });

  test("prints the entry as JSON", () => {
    const { exitCode, output } = explained("rd209", { json: true });
    expect(exitCode).toBe(0);
    expect(JSON.parse(output)).toEqual({
      code: "RD209",
      ...catalogue.RD209,
      docs: docsOfCode("RD209"),
      page: renderPage("RD209"),
    });
  });

  test("an unknown code is wrong usage, and the message names the nearest codes", () => {
    expect(explained("rd1011", {})).toEqual({
      exitCode: 2,
      output: "",
      errors: 'error: no diagnostic has the code "rd1011"; the nearest are RD101, RD111, RD001\n',
    });
    const asJson = explained("RD999", { json: true });
    expect([asJson.exitCode, JSON.parse(asJson.output)]).toEqual([
      2,
      { ok: false, usage: expect.stringContaining('no diagnostic has the code "RD999"') },
    ]);
  });
});
