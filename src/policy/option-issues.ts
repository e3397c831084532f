import { distance } from "fastest-levenshtein";
import { z } from "zod";

import { durationPattern } from "../declare/duration.ts";
import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { impossible } from "./settings.ts";

type Issue = z.core.$ZodIssue;
type JsonSchema = { readonly [key: string]: unknown };

/** Turns the issues that zod found in the options of a policy pack into diagnostics with the user's own values. */
export function describeOptionIssues(issues: readonly Issue[], input: unknown, schema: z.ZodType): Diagnostic[] {
  return issues.flatMap((issue) => {
    const path = pathIn(input, issue.path as PathSegment[]);
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key, input, schema));
    return [isImpossible(issue) ? impossibleBudget(path, input, issue) : malformed(path, input, issue, schema)];
  });
}

/** A level that was written alone is where the rule's settings would be. */
function pathIn(input: unknown, path: readonly PathSegment[]): readonly PathSegment[] {
  const parent = path.slice(0, -1);
  return path.at(-1) === "enforcementLevel" && typeof valueAt(input, parent) === "string" ? parent : path;
}

function unknownKey(path: readonly PathSegment[], key: string, input: unknown, schema: z.ZodType): Diagnostic {
  const allowed = Object.keys((schemaAt(path, schema)?.["properties"] as JsonSchema | undefined) ?? {});
  const isRule = path.length === 1 && path[0] === "rules";
  const place = path.length === 0 ? "the options of a policy pack" : String(path.at(-1));
  return diagnostic(isRule ? "RD902" : "RD901", {
    path: [...path, key],
    message: `${JSON.stringify(key)} is ${isRule ? "the name of no rule" : `no key of ${place}`}`,
    value: valueAt(input, [...path, key]),
    notes: [`${isRule ? "the rules are" : "the keys there are"} ${allowed.join(", ")}`],
    help: nearest(key, allowed) ?? "remove it",
  });
}

function isImpossible(issue: Issue): boolean {
  if (issue.code === "custom") return issue.params?.["kind"] === impossible;
  return issue.code === "too_small" && issue.origin !== "string" && issue.origin !== "array";
}

function impossibleBudget(path: readonly PathSegment[], input: unknown, issue: Issue): Diagnostic {
  const value = valueAt(input, path);
  const least = issue.code === "too_small" ? String(issue.minimum) : "1ms";
  return diagnostic("RD903", {
    path,
    message: `a budget of ${JSON.stringify(value)} cannot be kept by anything; the least is ${least}`,
    value,
    help: `write ${least} or more, or turn the rule off with enforcementLevel: disabled`,
  });
}

function malformed(path: readonly PathSegment[], input: unknown, issue: Issue, schema: z.ZodType): Diagnostic {
  const value = valueAt(input, path);
  const expected = expectedBy(issue, path, schema);
  const isWhole = path.length === 0;
  const subject = isWhole ? `${describe(value)}, as the options of a policy pack,` : describe(value);
  return diagnostic("RD901", {
    path,
    message: value === undefined ? `${String(path.at(-1))} is missing` : `${subject} is not ${expected}`,
    value: isWhole ? undefined : value,
    help: isWhole ? "begin with preset: advisory" : `write ${expected}`,
  });
}

/** What ought to stand there, in a few words. */
function expectedBy(issue: Issue, path: readonly PathSegment[], schema: z.ZodType): string {
  if (issue.code === "custom") return issue.message;
  if (issue.code === "invalid_value") return `one of ${issue.values.join(", ")}`;
  const { type, format, pattern } = schemaAt(path, schema) ?? {};
  if (format === "date") return "a day such as 2027-01-31";
  if (pattern === durationPattern.source) return 'a duration such as "30s", "2h" or "14d"';
  switch (type) {
    case "integer":
      return "a whole number";
    case "array":
      return "a list";
    case "object":
      return "a mapping";
    default:
      return "a text with something in it";
  }
}

/** The JSON Schema of the place, so that messages and the schema cannot disagree. */
function schemaAt(path: readonly PathSegment[], whole: z.ZodType): JsonSchema | undefined {
  let schema: JsonSchema | undefined = z.toJSONSchema(whole, { io: "input" }) as JsonSchema;
  for (const segment of path) {
    const properties = schema?.["properties"] as Record<string, JsonSchema> | undefined;
    schema = properties?.[String(segment)] ?? (schema?.["items"] as JsonSchema | undefined);
  }
  return schema;
}

function nearest(value: string, allowed: readonly string[]): string | undefined {
  const [first] = allowed.map((each) => ({ each, edits: distance(each, value) })).toSorted((a, b) => a.edits - b.edits);
  return first !== undefined && first.edits <= 4 ? `did you mean ${first.each}?` : undefined;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return JSON.stringify(value) ?? String(value);
}

function valueAt(input: unknown, path: readonly PathSegment[]): unknown {
  let value = input;
  for (const segment of path) value = (value as Record<PathSegment, unknown> | null | undefined)?.[segment];
  return value;
}
