import { join, relative, resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";

import { parseText } from "../declare/parse.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Reported } from "../diagnostics/reported.ts";
import { selectRules } from "../policy/options.ts";
import type { PolicyOptions } from "../policy/options.ts";
import { judgePreview } from "../policy/preview/judge-preview.ts";
import type { JudgedPreview, Preview, SourcePosition } from "../policy/preview/preview.ts";
import { readPreview } from "../policy/preview/read-preview.ts";
import { reportedViolation, sarifRuleOf } from "../policy/preview/reported-violations.ts";
import { printableJson, visibleDiagnostic } from "../report/audit-text.ts";
import { ownVersion } from "./check.ts";
import { print } from "./commands.ts";
import { readText } from "./read-text.ts";
import { exitCodes } from "./run.ts";

export interface PolicyCommandOptions {
  readonly preview: string;
  readonly config?: string;
  readonly project: string;
  readonly stackTag?: readonly string[];
  readonly format: "text" | "json" | "sarif" | "github";
  readonly json?: boolean;
  readonly output?: string;
}

/** What is judged, and by what; or why there is nothing to judge, and in which file. */
type Asked =
  | { readonly ok: true; readonly preview: Preview; readonly config: PolicyOptions }
  | { readonly ok: false; readonly file: string | undefined; readonly diagnostics: readonly Diagnostic[] };

/**
 * Judges a preview by the rules of the policy pack.
 *
 * @returns the exit code: fine where no mandatory rule is broken, refused where one is, usage where there is nothing to judge
 */
export async function policyCommand(options: PolicyCommandOptions): Promise<number> {
  const tags = stackTagsIn(options.stackTag ?? []);
  if (tags === null)
    return usage("a tag of the stack is a name and a value, such as --stack-tag owner=team-billing", options);
  const asked = await readAsked(options);
  if (!asked.ok) return refuse(asked.diagnostics, asked.file, options);
  const judged = await judgePreview(asked.preview, asked.config, tags);
  const reported = judged.violations.map((each) =>
    visibleDiagnostic(reportedViolation(each, (source) => fileOf(source, options.project))),
  );
  const printed = await print(await rendered(judged, reported, options), options.output);
  if (printed !== exitCodes.fine) return printed;
  return isRefused(judged) ? exitCodes.refused : exitCodes.fine;
}

function isRefused({ violations }: JudgedPreview): boolean {
  return violations.some(({ level }) => level === "mandatory");
}

async function readAsked({ preview: file, config: configFile }: PolicyCommandOptions): Promise<Asked> {
  const config = configFile === undefined ? fine({}) : await readConfig(configFile);
  if (!config.ok) return { ...config, file: configFile };
  const isStandardInput = file === "-";
  const text = isStandardInput ? fine(await textOf(process.stdin)) : await readText(file);
  const preview = text.ok ? readPreview(text.value) : text;
  if (!preview.ok) return { ...preview, file: isStandardInput ? undefined : file };
  return { ok: true, preview: preview.value, config: config.value };
}

function fine<Value>(value: Value): Checked<Value> {
  return { ok: true, value, warnings: [] };
}

/** The file that the policy pack reads, checked in the same way. An empty one says nothing. */
async function readConfig(file: string): Promise<Checked<PolicyOptions>> {
  const text = await readText(file);
  if (!text.ok) return text;
  const isEmpty = text.value.split("\n").every((line) => /^\s*(?:#|$)/.test(line));
  const parsed = isEmpty ? fine({}) : parseText(text.value, "yaml");
  if (!parsed.ok) return parsed;
  const selected = selectRules(parsed.value);
  return selected.ok ? fine(parsed.value as PolicyOptions) : selected;
}

/** Null where one of them is no tag. */
function stackTagsIn(texts: readonly string[]): ReadonlyMap<string, string> | null {
  const tags = texts.map((text) => /^([^=]+)=(.*)$/s.exec(text)?.slice(1));
  return tags.includes(undefined) ? null : new Map(tags as [string, string][]);
}

/** Code scanning knows files by their paths from the root of the repository, where workflows run. */
function fileOf({ path }: SourcePosition, project: string): string | null {
  const file = relative("", resolve(project, path));
  return file.startsWith("..") ? null : file;
}

async function rendered(
  judged: JudgedPreview,
  reported: readonly Reported[],
  options: PolicyCommandOptions,
): Promise<string> {
  const format = formatOf(options);
  switch (format) {
    case "text": {
      const { renderDiagnostics } = await import("../diagnostics/render.ts");
      const colour = options.output === undefined && (process.stdout.hasColors?.() ?? false);
      const blocks = reported.length === 0 ? "" : `${renderDiagnostics(reported, { colour })}\n\n`;
      return `${blocks}${summaryOf(judged)}\n`;
    }
    case "json": {
      const { judged: resources, unknown, violations } = judged;
      return printableJson({ ok: !isRefused(judged), resources, unknown, violations });
    }
    case "sarif":
    case "github":
      return renderedForTools(reported, join(options.project, "Pulumi.yaml"), format, sarifRuleOf);
    default:
      return format satisfies never;
  }
}

function summaryOf({ judged, unknown, violations }: JudgedPreview): string {
  const mandatory = violations.filter(({ level }) => level === "mandatory").length;
  const known = unknown.length === 0 ? "" : `; ${unknown.length} of them have values that only the update knows`;
  return [
    `looked at  ${judged} ${judged === 1 ? "resource" : "resources"} of message brokers${known}`,
    `found      ${mandatory} mandatory, ${violations.length - mandatory} advisory`,
  ].join("\n");
}

/** Without a place in the program it is the file of the project that something is about. */
async function renderedForTools(
  reported: readonly Reported[],
  file: string | undefined,
  format: "sarif" | "github",
  ruleOf?: typeof sarifRuleOf,
): Promise<string> {
  const place = file === undefined ? {} : { file: relative("", resolve(file)) };
  if (format === "sarif") {
    const { renderSarif } = await import("../diagnostics/sarif.ts");
    return renderSarif(reported, { ...place, version: ownVersion(), ruleOf });
  }
  const { renderGithub } = await import("../diagnostics/github.ts");
  return renderGithub(reported, place);
}

/** There is nothing to judge. A log for tools holds the reason, so that it is there and valid whatever happened. */
async function refuse(
  diagnostics: readonly Diagnostic[],
  file: string | undefined,
  options: PolicyCommandOptions,
): Promise<number> {
  const format = formatOf(options);
  const shown = diagnostics.map(visibleDiagnostic);
  if (format === "json") await print(printableJson({ ok: false, diagnostics }), options.output);
  else if (format === "text") {
    const { renderDiagnostics } = await import("../diagnostics/render.ts");
    const colour = process.stderr.hasColors?.() ?? false;
    process.stderr.write(`${renderDiagnostics(shown, { colour, ...(file === undefined ? {} : { file }) })}\n`);
  } else await print(await renderedForTools(shown, file, format), options.output);
  return exitCodes.usage;
}

function formatOf({ json, format }: PolicyCommandOptions): PolicyCommandOptions["format"] {
  return json === true ? "json" : format;
}

async function usage(message: string, options: PolicyCommandOptions): Promise<number> {
  if (formatOf(options) === "json") await print({ ok: false, usage: message });
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}
