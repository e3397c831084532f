import { distance } from "fastest-levenshtein";
import { z } from "zod";

import { durationPattern } from "../declare/duration.ts";
import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { scenarioSchema, sharePattern } from "./scenario-schema.ts";

type Issue = z.core.$ZodIssue;
type JsonSchema = { readonly [key: string]: unknown };

/** Turns the issues that zod found in a scenario into diagnostics with the user's own values. */
export function describeScenarioIssues(issues: readonly Issue[], input: unknown): Diagnostic[] {
  return issues.flatMap((issue) => {
    const path = issue.path as PathSegment[];
    const value = valueAt(input, path);
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key, input));
    if (issue.code === "invalid_union") return [unknownEvent(path, value)];
    return [malformed(path, value, expectedBy(issue, path))];
  });
}

function unknownKey(path: readonly PathSegment[], key: string, input: unknown): Diagnostic {
  const allowed = Object.keys((schemaAt(path, input)?.["properties"] as JsonSchema | undefined) ?? {});
  const place = path.length === 0 ? "a scenario" : String(path.at(-1));
  return diagnostic("RD502", {
    path: [...path, key],
    message: `${JSON.stringify(key)} is no key of ${typeof path.at(-1) === "number" ? "this event" : place}`,
    value: valueAt(input, [...path, key]),
    notes: [`the keys there are ${allowed.join(", ")}`],
    help: nearest(key, allowed) ?? "remove it",
  });
}

const eventKinds = ["outage", "stopped", "burst"];

function unknownEvent(path: readonly PathSegment[], value: unknown): Diagnostic {
  return diagnostic("RD502", {
    path,
    message: value === undefined ? "the event has no kind" : `${describe(value)} is no kind of event`,
    value,
    notes: [`the kinds of events are ${eventKinds.join(", ")}`],
    help: nearest(value, eventKinds) ?? `write one of ${eventKinds.join(", ")}`,
  });
}

function malformed(path: readonly PathSegment[], value: unknown, expected: string): Diagnostic {
  return diagnostic("RD501", {
    path,
    message:
      path.length === 0
        ? `a scenario is a mapping; this is ${describe(value)}`
        : value === undefined
          ? `${String(path.at(-1))} is missing`
          : `${describe(value)} is not ${expected}`,
    value: path.length === 0 ? undefined : value,
    help: path.length === 0 ? "start with duration: 1h" : `write ${expected}`,
  });
}

/** What ought to stand there, in a few words. */
function expectedBy(issue: Issue, path: readonly PathSegment[]): string {
  switch (issue.code) {
    case "custom":
      return issue.message;
    case "invalid_value":
      return `one of ${issue.values.join(", ")}`;
    case "invalid_format":
      return formOf(issue.pattern);
    case "too_small":
    case "too_big":
    case "invalid_type":
      return typeOf(schemaAt(path, undefined));
    default:
      return "a value of this kind";
  }
}

function formOf(pattern: string | undefined): string {
  if (pattern === String(sharePattern)) return 'a percentage such as "2%" or "0.05%"';
  if (pattern === String(durationPattern)) return 'a duration such as "250ms", "30s" or "2h"';
  return "a text of another form";
}

function typeOf(schema: JsonSchema | undefined): string {
  const { type, pattern, minimum, maximum } = schema ?? {};
  if (type === "integer" || type === "number") {
    return `a ${type === "integer" ? "whole " : ""}number from ${String(minimum)} to ${String(maximum)}`;
  }
  if (type === "array") return schema?.["minItems"] === 1 ? "a list with something in it" : "a list";
  if (type === "object") return "a mapping";
  if (pattern === sharePattern.source) return formOf(String(sharePattern));
  if (pattern === durationPattern.source) return formOf(String(durationPattern));
  return type === "string" ? "a text" : "a mapping with a kind";
}

/** The JSON Schema of the place, so that messages and the schema cannot disagree. */
function schemaAt(path: readonly PathSegment[], input: unknown): JsonSchema | undefined {
  let schema: JsonSchema | undefined = z.toJSONSchema(scenarioSchema, { io: "input" }) as JsonSchema;
  for (const [index, segment] of path.entries()) {
    const properties = schema?.["properties"] as Record<string, JsonSchema> | undefined;
    schema = (properties?.[String(segment)] ?? schema?.["additionalProperties"] ?? schema?.["items"]) as
      | JsonSchema
      | undefined;
    const branches = schema?.["oneOf"] as readonly JsonSchema[] | undefined;
    if (branches === undefined || index === path.length) continue;
    const at = path.slice(0, index + 1);
    const kind = (valueAt(input, at) as { kind?: unknown } | undefined)?.kind;
    const kindOf = (each: JsonSchema): unknown => (each["properties"] as Record<string, JsonSchema>)["kind"]?.["const"];
    const wanted: unknown = path[index + 1];
    schema =
      branches.find((each) => kindOf(each) === kind) ??
      branches.find((each) => Object.hasOwn(each["properties"] as JsonSchema, String(wanted))) ??
      (wanted === undefined ? schema : branches[0]);
  }
  return schema;
}

/** What was most likely meant; undefined where nothing is near. */
export function nearest(value: unknown, allowed: readonly string[]): string | undefined {
  if (typeof value !== "string" || value.length > 100) return undefined;
  const [first] = allowed
    .map((each) => ({ each, edits: distance(each.toLowerCase(), value.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits);
  return first !== undefined && first.edits <= 3 ? `did you mean ${first.each}?` : undefined;
}

/** What a value is, in a sentence. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

function valueAt(input: unknown, path: readonly PathSegment[]): unknown {
  let value = input;
  for (const segment of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PathSegment, unknown>)[segment];
  }
  return value;
}
