import { join, relative, resolve } from "node:path";

import { parseText } from "../declare/parse.ts";
import { type Checked, type Diagnostic, accepted } from "../diagnostics/diagnostic.ts";
import type { Reported } from "../diagnostics/reported.ts";
import { type PolicyOptions, selectRules } from "../policy/options.ts";
import { type JudgedPreview, judgePreview } from "../policy/preview.ts";
import type { Preview, SourcePosition } from "../policy/preview/preview.ts";
import { readPreview } from "../policy/preview/read-preview.ts";
import { reportedViolation, sarifRuleOf } from "../policy/preview/reported-violations.ts";
import { readText, standardInput } from "./read-text.ts";
import { type ReportOptions, answerOf, ended, formatOf, refuse, renderedForTools, usage } from "./refuse.ts";
import { exitCodes } from "./exit-codes.ts";
import { paintOn, print } from "./output.ts";

export interface PolicyCommandOptions extends ReportOptions {
  readonly preview: string;
  readonly config?: string;
  readonly project: string;
  readonly stackTag?: readonly string[];
}

/** The preview and the rules; or the reason that there is nothing to judge, with its file. */
type Asked =
  | { readonly ok: true; readonly preview: Preview; readonly config: PolicyOptions }
  | { readonly ok: false; readonly file: string | undefined; readonly diagnostics: readonly Diagnostic[] };

/**
 * Judges a preview by the rules of the policy pack.
 *
 * @returns the exit code: fine if no mandatory rule is broken, refused if one is, usage if there is nothing to judge
 */
export async function policyCommand(options: PolicyCommandOptions): Promise<number> {
  const answer = answerOf(options);
  const tags = stackTagsIn(options.stackTag ?? []);
  if (tags === null)
    return usage("a tag of the stack is a name and a value, such as --stack-tag owner=team-billing", answer);
  const asked = readAsked(options);
  if (!asked.ok) return refuse(asked.diagnostics, answer, asked, exitCodes.usage);
  const judged = judgePreview(asked.preview, asked.config, tags);
  const reported = judged.violations.map((each) =>
    reportedViolation(each, (source) => fileOf(source, options.project)),
  );
  const printed = await print(await rendered(judged, reported, options), options.output);
  return ended(printed, isRefused(judged) ? exitCodes.refused : exitCodes.fine);
}

function isRefused({ violations }: JudgedPreview): boolean {
  return violations.some(({ level }) => level === "mandatory");
}

function readAsked({ preview: file, config: configFile }: PolicyCommandOptions): Asked {
  const config = configFile === undefined ? accepted({}) : readConfig(configFile);
  if (!config.ok) return { ...config, file: configFile };
  const isStandardInput = file === "-";
  const text = readText(isStandardInput ? standardInput : file);
  const preview = text.ok ? readPreview(text.value) : text;
  if (!preview.ok) return { ...preview, file: isStandardInput ? undefined : file };
  return { ok: true, preview: preview.value, config: config.value };
}

/** The file of the policy pack, checked in the same way. An empty one sets nothing. */
function readConfig(file: string): Checked<PolicyOptions> {
  const text = readText(file);
  if (!text.ok) return text;
  const isEmpty = text.value.split("\n").every((line) => /^\s*(?:#|$)/.test(line));
  const parsed = isEmpty ? accepted({}) : parseText(text.value, "yaml");
  if (!parsed.ok) return parsed;
  const selected = selectRules(parsed.value);
  return selected.ok ? accepted(parsed.value as PolicyOptions) : selected;
}

/** Null if one of them is no tag. */
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
): Promise<unknown> {
  const format = formatOf(options);
  switch (format) {
    case "text": {
      const { renderDiagnostics } = await import("../diagnostics/render.ts");
      const colour = paintOn(process.stdout, options.output);
      const blocks = reported.length === 0 ? "" : `${renderDiagnostics(reported, { colour })}\n\n`;
      return `${blocks}${summaryOf(judged)}\n`;
    }
    case "json": {
      const { judged: resources, unknown, violations } = judged;
      return { ok: !isRefused(judged), resources, unknown, violations };
    }
    case "sarif":
    case "github":
      // A finding without a place in the program belongs to the file of the project.
      return renderedForTools(reported, format, { file: join(options.project, "Pulumi.yaml") }, sarifRuleOf);
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
