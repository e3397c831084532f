import { z } from "zod";

import { durationTexts } from "../declare/schema-issues.ts";
import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import type { InputForm, JsonSchema, Mistake } from "../diagnostics/schema-issues.ts";
import { describeIssues, valueText } from "../diagnostics/schema-issues.ts";
import { impossible } from "./settings.ts";

type Issue = z.core.$ZodIssue;

export function describeOptionIssues(issues: readonly Issue[], input: unknown, type: z.ZodType): Diagnostic[] {
  const schema = z.toJSONSchema(type, { io: "input" }) as JsonSchema;
  return describeIssues(issues, input, { ...optionsForm, schema: () => schema });
}

const optionsForm: Omit<InputForm, "schema"> = {
  whole: "the options of a policy pack are a mapping",
  begin: "begin with preset: advisory",
  placeName: (path) => (path.length === 0 ? "the options of a policy pack" : String(path.at(-1))),
  texts: durationTexts,
  codeOf: (mistake) => (isRule(mistake) ? "RD902" : isImpossible(mistake.issue) ? "RD903" : "RD901"),
  placeOf: levelAlone,
  sentencesOf: (mistake) => {
    const { path, value, issue, schema } = mistake;
    if (isRule(mistake)) {
      const rules = Object.keys((schema?.["properties"] as JsonSchema | undefined) ?? {});
      return {
        message: `${JSON.stringify(path.at(-1))} is not the name of a rule`,
        notes: [`the rules are ${rules.join(", ")}`],
      };
    }
    if (!isImpossible(issue)) return {};
    const least = issue.code === "too_small" ? String(issue.minimum) : "1ms";
    return {
      message: `a budget of ${valueText(value)} cannot be kept; the least is ${least}`,
      help: `write ${least} or more, or turn the rule off with enforcementLevel: disabled`,
    };
  },
};

/** A level that was written alone stands in the place of the rule's settings. */
function levelAlone(path: readonly PathSegment[], input: unknown): readonly PathSegment[] {
  const [, rule] = path;
  const rules = (input as { readonly rules?: Readonly<Record<string, unknown>> } | null)?.rules;
  const isAlone = path.length === 3 && path[2] === "enforcementLevel" && typeof rules?.[String(rule)] === "string";
  return isAlone ? path.slice(0, 2) : path;
}

function isRule({ kind, path }: Mistake): boolean {
  return kind === "unknown-key" && path.length === 2 && path[0] === "rules";
}

function isImpossible(issue: Issue): boolean {
  if (issue.code === "custom") return issue.params?.["kind"] === impossible;
  return issue.code === "too_small" && issue.origin !== "string" && issue.origin !== "array";
}
