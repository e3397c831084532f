import { distance } from "fastest-levenshtein";
import type { z } from "zod";

import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { durationPattern } from "./duration.ts";
import { declarationJsonSchema, jitterPattern } from "./schema.ts";

type Issue = z.core.$ZodIssue;
type JsonSchema = { readonly [key: string]: unknown };

/** Turns the issues that zod found into diagnostics with the user's own values. */
export function describeIssues(issues: readonly Issue[], input: unknown): Diagnostic[] {
  return issues.flatMap((issue) => describeIssue(issue, [], input));
}

function describeIssue(issue: Issue, prefix: readonly PathSegment[], input: unknown): Diagnostic[] {
  const path = [...prefix, ...(issue.path as PathSegment[])];
  const value = valueAt(input, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(path, key, input));
    case "invalid_format":
      return [malformed(path, input, issue)];
    case "too_small":
    case "too_big":
      return [outOfRange(path, value, issue)];
    case "invalid_union":
      return describeUnion(issue, path, input);
    case "invalid_key":
      return [
        diagnostic("RD111", {
          path,
          message: "a name must have from 1 to 255 characters",
          value: path.at(-1),
          help: "choose a short name of letters, digits, dots, dashes and underscores",
        }),
      ];
    case "invalid_value":
      return [
        diagnostic("RD101", {
          path,
          message: `${describe(value)} is none of the allowed values`,
          value,
          help: suggestion(value, issue.values.map(String)),
        }),
      ];
    default:
      return [wrongType(path, value, input, "expected" in issue ? String(issue.expected) : "another value")];
  }
}

/** A union's issue is that of the branch which the value was meant for: told by its kind, or by its being a list. */
function describeUnion(issue: Issue & { code: "invalid_union" }, path: PathSegment[], input: unknown): Diagnostic[] {
  const value = valueAt(input, path);
  if (path.at(-1) === "kind") {
    return [
      diagnostic("RD101", {
        path,
        message: value === undefined ? "the backoff has no kind" : `${describe(value)} is no kind of backoff`,
        value,
        help: suggestion(value, ["immediate", "constant", "linear", "exponential", "steps"]),
      }),
    ];
  }
  if (Array.isArray(value)) {
    const branch = issue.errors.find((errors) => errors.every((each) => each.path.length > 0));
    if (branch !== undefined) return branch.flatMap((each) => describeIssue(each, path, input));
  }
  return [wrongType(path, value, input, 'a list of routing keys, or "all"')];
}

function unknownKey(path: readonly PathSegment[], key: string, input: unknown): Diagnostic {
  const allowed = allowedKeys(path, input);
  return diagnostic("RD102", {
    path: [...path, key],
    message: `${JSON.stringify(key)} is no key of ${placeName(path)}`,
    value: valueAt(input, [...path, key]),
    notes: [`the keys there are ${allowed.join(", ")}`],
    help: suggestion(key, allowed, "remove it"),
  });
}

function malformed(
  path: readonly PathSegment[],
  input: unknown,
  issue: Issue & { code: "invalid_format" },
): Diagnostic {
  const value = valueAt(input, path);
  if (issue.pattern === String(jitterPattern)) {
    return diagnostic("RD104", {
      path,
      message: `${describe(value)} is no jitter`,
      value,
      notes: ["jitter is the share of the delay that is added to it at random: a whole percentage from 1% to 100%"],
      help: 'write it as "20%"; leave jitter out for none',
    });
  }
  if (issue.pattern !== String(durationPattern)) return wrongType(path, value, input, "a text of another form");
  return diagnostic("RD103", {
    path,
    message: `${describe(value)} is no duration`,
    value,
    notes: ["a duration is a whole number and one of the units ms, s, m, h, d"],
    help: durationHelp(value),
  });
}

/** What people know from elsewhere is ISO 8601, in which `P5M` is five months. */
function durationHelp(value: unknown): string {
  const iso = /^P(T?)(\d+)([DHMS])$/i.exec(String(value));
  if (iso !== null) {
    const isMonths = iso[1] === "" && iso[3]?.toUpperCase() === "M";
    return `write it as "${iso[2]}${iso[3]?.toLowerCase()}"${isMonths ? `, if you mean minutes: in ISO 8601 ${String(value)} is months` : ""}`;
  }
  const number = /^\s*(\d+)(?:\.(\d+))?\s*([a-zA-Z]*)/.exec(String(value));
  if (number === null) return 'write it as "250ms", "30s", "5m", "2h" or "14d"';
  if (number[2] !== undefined) return "write it in the next smaller unit, as a whole number";
  return `write it as "${number[1]}s", or with the unit you mean: "${number[1]}ms", "${number[1]}m"`;
}

function outOfRange(
  path: readonly PathSegment[],
  value: unknown,
  issue: Issue & { code: "too_small" | "too_big" },
): Diagnostic {
  if (issue.origin === "string" || issue.origin === "array") {
    const length = typeof value === "string" || Array.isArray(value) ? value.length : 0;
    const isShort = issue.code === "too_small";
    const bound = isShort ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
    const what = issue.origin === "string" ? "characters" : "entries";
    return diagnostic(issue.origin === "string" ? "RD111" : "RD104", {
      path,
      message: `this has ${length} ${what}; it must have ${bound}`,
      value,
      help: isShort ? "fill it in" : "shorten it",
    });
  }
  const range = rangeOf(path);
  return diagnostic("RD104", {
    path,
    message: `${describe(value)} is out of range: ${range}`,
    value,
    ...(path.at(-1) === "attempts"
      ? { notes: ["attempts counts the first one: 1 means no retry"] }
      : path.at(-1) === "factor"
        ? { notes: ["a factor below 1 would make each wait shorter than the one before"] }
        : {}),
    help: `choose ${range}`,
  });
}

function rangeOf(path: readonly PathSegment[]): string {
  const schema = schemaAt(path, undefined);
  const minimum = schema?.["minimum"] ?? 0;
  const maximum = schema?.["maximum"];
  const number = schema?.["type"] === "integer" ? "a whole number" : "a number";
  return typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER
    ? `${number} from ${String(minimum)} to ${maximum}`
    : `${number} of at least ${String(minimum)}`;
}

function wrongType(path: readonly PathSegment[], value: unknown, input: unknown, expected: string): Diagnostic {
  const readable: Readonly<Record<string, string>> = {
    object: "a mapping",
    record: "a mapping",
    array: "a list",
    string: "a text",
    number: "a number",
    int: "a whole number",
  };
  if (path.length === 0) {
    return diagnostic("RD101", {
      path,
      message: `a declaration is a mapping with name, sources and consumers; this is ${describe(value)}`,
      help: 'start with { "name": "shop", "sources": { … }, "consumers": { … } }',
    });
  }
  const isDuration = schemaAt(path, input)?.["pattern"] === durationPattern.source;
  const wanted = isDuration ? "a duration" : (readable[expected] ?? expected);
  const example = isDuration ? ', for example "30s"' : "";
  return diagnostic("RD101", {
    path,
    message: value === undefined ? `${String(path.at(-1))} is missing` : `${describe(value)} is not ${wanted}`,
    value,
    help:
      value === undefined
        ? `add ${String(path.at(-1))}: ${wanted}${example}`
        : isDuration && typeof value === "number"
          ? durationHelp(value)
          : `write ${wanted}${example}`,
  });
}

/** What a value is, in a sentence. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

function suggestion(value: unknown, allowed: readonly string[], otherwise?: string): string {
  const nearest =
    typeof value === "string" && value.length <= 100
      ? allowed
          .map((each) => ({ each, edits: distance(each.toLowerCase(), value.toLowerCase()) }))
          .toSorted((a, b) => a.edits - b.edits)[0]
      : undefined;
  if (nearest !== undefined && nearest.edits <= 3) return `did you mean ${nearest.each}?`;
  return otherwise ?? `write one of ${allowed.join(", ")}`;
}

function placeName(path: readonly PathSegment[]): string {
  if (path.length === 0) return "a system";
  if (path.length === 2) return path[0] === "sources" ? "a source" : "a consumer";
  return `${String(path.at(-1))}`;
}

function allowedKeys(path: readonly PathSegment[], input: unknown): string[] {
  return Object.keys((schemaAt(path, input)?.["properties"] as JsonSchema | undefined) ?? {});
}

/** The JSON Schema of the place, so that messages and the published schema cannot disagree. */
function schemaAt(path: readonly PathSegment[], input: unknown): JsonSchema | undefined {
  let schema: JsonSchema | undefined = declarationJsonSchema();
  for (const [index, segment] of path.entries()) {
    const properties = schema?.["properties"] as Record<string, JsonSchema> | undefined;
    const branches = schema?.["oneOf"] ?? schema?.["anyOf"];
    schema = Array.isArray(branches)
      ? branches
          .map((each: JsonSchema) => (each["properties"] as Record<string, JsonSchema> | undefined)?.[String(segment)])
          .find((each) => each !== undefined)
      : (properties?.[String(segment)] ?? (schema?.["additionalProperties"] as JsonSchema | undefined));
    const alternatives = schema?.["oneOf"] as JsonSchema[] | undefined;
    const kind = (valueAt(input, path.slice(0, index + 1)) as { kind?: unknown } | undefined)?.kind;
    if (alternatives !== undefined && kind !== undefined) {
      schema = alternatives.find(
        (each) => ((each["properties"] as Record<string, JsonSchema>)["kind"] ?? {})["const"] === kind,
      );
    }
  }
  return schema;
}

function valueAt(input: unknown, path: readonly PathSegment[]): unknown {
  let value = input;
  for (const segment of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PathSegment, unknown>)[segment];
  }
  return value;
}
