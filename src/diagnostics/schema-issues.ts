import type { z } from "zod";

import type { DiagnosticCode } from "./catalogue.ts";
import { type Diagnostic, type PathSegment, diagnostic, formatPath } from "./diagnostic.ts";
import { nearest, nearestWord } from "./distance.ts";
import { wordOf } from "./word-of.ts";

type Issue = z.core.$ZodIssue;
export type JsonSchema = { readonly [key: string]: unknown };

/** A mistake that a schema found, as data for a sentence. */
export interface Mistake {
  readonly kind: "unknown-key" | "unknown-kind" | "bad-name" | "length" | "range" | "missing" | "wrong";
  readonly path: readonly PathSegment[];
  readonly value: unknown;
  readonly issue: Issue;
  /** The JSON Schema of the place. Undefined if unknown. */
  readonly schema: JsonSchema | undefined;
}

interface Sentences {
  readonly message: string;
  readonly notes?: readonly string[];
  readonly help: string;
}

/** The differences between the inputs that a schema checks. */
export interface InputForm {
  readonly schema: () => JsonSchema;
  /** The description of the input and the way to begin it, for an input that is no mapping. */
  readonly whole: string;
  readonly begin: string;
  /** The name of the place in a sentence about a key. */
  readonly placeName: (path: readonly PathSegment[]) => string;
  /** A description for each pattern, such as `a duration such as "30s"`, by the pattern's source. */
  readonly texts: Readonly<Record<string, string>>;
  readonly codeOf: (mistake: Mistake) => DiagnosticCode;
  /** True if the value may be a secret. Then the sentence names the place and never the value. */
  readonly hidesValues?: (mistake: Mistake) => boolean;
  /** The user's place of an issue. Left out if the issue already has it. */
  readonly placeOf?: (path: readonly PathSegment[], input: unknown) => readonly PathSegment[];
  /** Replaces sentences if the form has better ones. */
  readonly sentencesOf?: (mistake: Mistake) => Partial<Sentences>;
  /** The places that an unknown key stands for. By default it is that of a key with a similar name. */
  readonly meantBy?: (mistake: Mistake) => readonly (readonly PathSegment[])[];
}

/** Turns zod's issues about an input into diagnostics with the user's own values. */
export function describeIssues(issues: readonly Issue[], input: unknown, form: InputForm): Diagnostic[] {
  const mistakes = mistakesOf(issues, input, form);
  const above = meantPlaces(mistakes, form).flatMap((path) => path.map((_, last) => path.slice(0, last + 1)));
  const meant = new Set(above.map((path) => JSON.stringify(path)));
  // A misspelled key is one problem. Its correction also adds the missing value, or the mapping that the value is in.
  const independent = mistakes.filter(({ kind, path }) => kind !== "missing" || !meant.has(JSON.stringify(path)));
  return independent.map((mistake) => {
    const { path, value } = mistake;
    return diagnostic(form.codeOf(mistake), {
      path,
      ...sentencesOf(mistake, form),
      ...form.sentencesOf?.(mistake),
      value: path.length === 0 || form.hidesValues?.(mistake) === true ? undefined : value,
    });
  });
}

/** The places that unknown keys stand for. */
export function meantPlaces(
  mistakes: readonly Mistake[],
  { meantBy = meantKey }: InputForm,
): (readonly PathSegment[])[] {
  return mistakes.flatMap((mistake) => (mistake.kind === "unknown-key" ? meantBy(mistake) : []));
}

function meantKey({ path, schema }: Mistake): readonly (readonly PathSegment[])[] {
  const word = nearestWord(path.at(-1), keysIn(schema));
  return word === undefined ? [] : [[...path.slice(0, -1), word]];
}

export function keysIn(schema: JsonSchema | undefined): readonly string[] {
  return Object.keys((schema?.["properties"] as JsonSchema | undefined) ?? {});
}

/** Turns zod's issues into mistakes, with the user's own values. */
export function mistakesOf(issues: readonly Issue[], input: unknown, form: InputForm): Mistake[] {
  return issues.flatMap((issue) => {
    const own = issue.path as PathSegment[];
    const path = form.placeOf?.(own, input) ?? own;
    const value = valueAt(input, path);
    const at = { path, value, issue, schema: schemaAt(form.schema(), path, input) };
    switch (issue.code) {
      case "unrecognized_keys":
        return issue.keys.map((key) => {
          const unknown = [...path, key];
          return { ...at, kind: "unknown-key" as const, path: unknown, value: valueAt(input, unknown) };
        });
      case "invalid_key":
        return [{ ...at, kind: "bad-name" as const, value: path.at(-1) }];
      case "invalid_union": {
        if (path.at(-1) === "kind") return [{ ...at, kind: "unknown-kind" as const }];
        // A list belongs to the branch that takes lists.
        const branch = Array.isArray(value)
          ? issue.errors.find((errors) => errors.every((each) => each.path.length > 0))
          : undefined;
        if (branch === undefined) return [{ ...at, kind: value === undefined ? "missing" : ("wrong" as const) }];
        return mistakesOf(
          branch.map((each) => ({ ...each, path: [...own, ...each.path] })),
          input,
          form,
        );
      }
      case "too_small":
      case "too_big": {
        const isLength = issue.origin === "string" || issue.origin === "array";
        return [{ ...at, kind: isLength ? ("length" as const) : ("range" as const) }];
      }
      default:
        return [
          { ...at, kind: value === undefined && !saysWhyMissing(issue) ? ("missing" as const) : ("wrong" as const) },
        ];
    }
  });
}

function sentencesOf(mistake: Mistake, form: InputForm): Sentences {
  const { kind, path, value, issue, schema } = mistake;
  const last = String(path.at(-1));
  const isHidden = form.hidesValues?.(mistake) === true;
  const subject = isHidden ? formatPath(path) : valueText(value);
  switch (kind) {
    case "unknown-key": {
      const allowed = keysIn(schema);
      return {
        message: `${JSON.stringify(last)} is no key of ${form.placeName(path.slice(0, -1))}`,
        notes: [`the keys there are ${allowed.join(", ")}`],
        help: nearest(last, allowed) ?? "remove it",
      };
    }
    case "unknown-kind": {
      const kinds = kindsIn(schema);
      const noun = form.placeName(path.slice(0, -1)).replace(/^an? /, "");
      return {
        message: value === undefined ? `the ${noun} has no kind` : `${subject} is no kind of ${noun}`,
        notes: [`the kinds are ${kinds.join(", ")}`],
        help: nearest(value, kinds) ?? `write one of ${kinds.join(", ")}`,
      };
    }
    case "bad-name":
      return {
        message: "a name must have from 1 to 255 characters",
        help: "choose a short name of letters, digits, dots, dashes and underscores",
      };
    case "length":
      return lengthSentences(value, issue as Issue & { readonly code: "too_small" | "too_big" });
    case "range":
      return {
        message: `${subject} is out of range: ${numberText(schema)}`,
        help: `choose ${numberText(schema)}`,
      };
    case "missing":
      if (path.length === 0) return { message: `${form.whole}; this is nothing`, help: form.begin };
      return {
        message: `${isHidden ? subject : last} is missing`,
        help: `add ${last}: ${expectedText(mistake, form)}`,
      };
    case "wrong": {
      const whole = isHidden ? form.whole : `${form.whole}; this is ${valueText(value)}`;
      if (hasPredicate(issue)) {
        const { message } = issue;
        const help = message.startsWith("is not ") ? message.replace("is not ", "write ") : "correct it";
        return { message: `${subject} ${message}`, help };
      }
      if (path.length === 0) return { message: whole, help: form.begin };
      const expected = expectedText(mistake, form);
      const words = issue.code === "invalid_value" ? issue.values.map(String) : [];
      return { message: `${subject} is not ${expected}`, help: nearest(value, words) ?? `write ${expected}` };
    }
    default:
      return kind satisfies never;
  }
}

/** True if a rule beside the schema gives the reason for a value: `is missing, and the private key is encrypted`. */
function saysWhyMissing({ code, message }: Issue): boolean {
  return code === "custom" && message.startsWith("is missing");
}

/** A rule beside the schema has its own predicate. Its message begins with "is" or "has", and zod's own do not. */
function hasPredicate({ code, message }: Issue): boolean {
  return code === "custom" || /^(is|has) /.test(message);
}

function lengthSentences(value: unknown, issue: Issue & { readonly code: "too_small" | "too_big" }): Sentences {
  const length = typeof value === "string" || Array.isArray(value) ? value.length : 0;
  const isShort = issue.code === "too_small";
  const bound = isShort ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
  return {
    message: `this has ${length} ${issue.origin === "string" ? "characters" : "entries"}; it must have ${bound}`,
    help: isShort ? "fill it in" : "shorten it",
  };
}

/** The expected value, in a few words. */
function expectedText({ issue, schema }: Mistake, { texts }: InputForm): string {
  if (issue.code === "invalid_value") return `one of ${issue.values.join(", ")}`;
  const { type, format, pattern, minItems, minLength } = schema ?? {};
  if (format === "date") return "a day such as 2027-01-31";
  const text = texts[String(pattern)];
  if (text !== undefined) return text;
  switch (type) {
    case "integer":
    case "number":
      return numberText(schema);
    case "array":
      return minItems === 1 ? "a list with something in it" : "a list";
    case "object":
      return "a mapping";
    case "boolean":
      return "true or false";
    case "string":
      return minLength === 1 ? "a text with something in it" : "a text";
    default:
      return kindsIn(schema).length > 0 ? "a mapping with a kind" : "a value of this kind";
  }
}

function numberText(schema: JsonSchema | undefined): string {
  const { type, minimum, maximum } = schema ?? {};
  const number = type === "integer" ? "a whole number" : "a number";
  const hasMost = typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER;
  const hasLeast = typeof minimum === "number" && minimum > -Number.MAX_SAFE_INTEGER;
  if (hasMost) return `${number} from ${hasLeast ? minimum : 0} to ${maximum}`;
  return hasLeast ? `${number} of at least ${minimum}` : number;
}

export function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value) : wordOf(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

function branchesOf(schema: JsonSchema | undefined): readonly JsonSchema[] {
  return (schema?.["oneOf"] ?? schema?.["anyOf"] ?? []) as readonly JsonSchema[];
}

export function propertyIn(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  return (schema?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined)?.[name];
}

function kindOf(branch: JsonSchema): unknown {
  return propertyIn(branch, "kind")?.["const"];
}

function kindsIn(schema: JsonSchema | undefined): readonly string[] {
  return branchesOf(schema).flatMap((each) => (kindOf(each) === undefined ? [] : [String(kindOf(each))]));
}

/**
 * The JSON Schema of a place, so that messages and the published schema agree. If there are several forms, the value's
 * kind chooses one. For a `kind` it is the schema of its mapping, which lists the kinds.
 */
export function schemaAt(whole: JsonSchema, path: readonly PathSegment[], input: unknown): JsonSchema | undefined {
  let schema: JsonSchema | undefined = whole;
  for (const [index, segment] of path.entries()) {
    const name = String(segment);
    const branches = branchesOf(schema);
    if (branches.length > 0) {
      const kind = valueAt(input, [...path.slice(0, index), "kind"]);
      const known = branches.find((each) => kind !== undefined && kindOf(each) === kind);
      if (known === undefined && name === "kind") return schema;
      schema = known ?? branches.find((each) => propertyIn(each, name) !== undefined) ?? branches[0];
    }
    schema =
      propertyIn(schema, name) ?? ((schema?.["additionalProperties"] ?? schema?.["items"]) as JsonSchema | undefined);
  }
  // A mapping of a known kind has the keys of that kind.
  const kind = valueAt(input, [...path, "kind"]);
  return branchesOf(schema).find((each) => kind !== undefined && kindOf(each) === kind) ?? schema;
}

/** Null if reading a property throws. */
export function valueAt(input: unknown, path: readonly PathSegment[]): unknown {
  let value = input;
  try {
    for (const segment of path) {
      if (typeof value !== "object" || value === null) return undefined;
      value = (value as Readonly<Record<PathSegment, unknown>>)[segment];
    }
  } catch {
    return null;
  }
  return value;
}
