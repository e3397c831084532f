import type { SarifRule } from "../../diagnostics/sarif.ts";
import type { Reported } from "../../diagnostics/reported.ts";
import { docsOfRule } from "../rule.ts";
import { rules } from "../rules.ts";
import type { PreviewViolation } from "../preview.ts";
import type { SourcePosition } from "./preview.ts";

/**
 * A violation as diagnostics are shown: in a terminal, in a log for code scanning, as an annotation.
 *
 * @param fileOf the path by which the repository knows a file; null where it is none of its files
 */
export function reportedViolation(
  { rule, level, severity, description, message, resource, source, url }: PreviewViolation,
  fileOf: (source: SourcePosition) => string | null,
): Reported {
  const [first = "", ...others] = message.split("\n");
  const file = source === null ? null : fileOf(source);
  const fix = others.findLast((line) => line.startsWith("fix: "));
  return {
    code: rule,
    severity: level === "mandatory" ? "error" : "warning",
    message: first,
    path: resource === null ? "" : `${resource.name} (${resource.type})`,
    notes: [`${description} Severity: ${severity}.`, ...others.filter((line) => line !== fix)],
    ...(fix === undefined ? {} : { help: fix.slice("fix: ".length) }),
    docs: url,
    ...(source !== null && file !== null && { place: { file, region: { line: source.line, column: source.column } } }),
  };
}

export function sarifRuleOf(name: string): SarifRule {
  const rule = rules.find((each) => each.name === name);
  if (rule === undefined) throw new Error(`there is no rule ${name}`);
  const { description, why, remediationSteps, severity, tags } = rule;
  const page = [
    `# ${name}`,
    description,
    `Severity: ${severity}.`,
    "## Why",
    why,
    "## The fix",
    remediationSteps,
    `With programs that fail and pass: ${docsOfRule(rule)}`,
  ];
  return {
    title: description,
    explanation: why,
    page: `${page.join("\n\n")}\n`,
    docs: docsOfRule(rule),
    level: "warning",
    tags: [...tags],
  };
}
