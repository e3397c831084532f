import type { z } from "zod";

import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { type InputForm, type JsonSchema, type Mistake, describeIssues } from "../diagnostics/schema-issues.ts";
import { keysIn, meantPlaces, mistakesOf, propertyIn, valueAt } from "../diagnostics/schema-issues.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import { asCode, corrected, correctedFrom } from "./corrections.ts";
import { durationPattern } from "./duration.ts";
import { isNameOfDeadQueue, ownWord } from "./other-words.ts";
import { placeholders, templatePattern } from "./names-schema.ts";
import { jitterPattern } from "./schema-parts.ts";
import { type Sentences, deadQueueSentences, unknownKeySentences, wholeSchemaOf } from "./unknown-keys.ts";
import { meantPlace, onlyOfErrors } from "./unknown-keys.ts";

/** The texts that a schema takes, by the sources of their patterns. */
export const durationTexts: Readonly<Record<string, string>> = {
  [durationPattern.source]: 'a duration such as "250ms", "30s", "2h" or "14d"',
};

const templates = Object.keys(placeholders) as (keyof typeof placeholders)[];
const templateTexts: Readonly<Record<string, string>> = Object.fromEntries(
  templates.map((field) => {
    const words = placeholders[field].map((each) => `{${each}}`).join(", ");
    const text = `a template with ${words.replace(/, ([^,]*)$/, " and $1")} as its only placeholders`;
    return [templatePattern(field).source, text];
  }),
);

/** The source of the pattern that a text does not match. */
function sourceOf({ pattern = "" }: { readonly pattern?: string | undefined }): string {
  return pattern.slice(1, -1);
}

const declarationForm: InputForm = {
  schema: wholeSchemaOf,
  whole: "a declaration is a mapping with name, sources and consumers",
  begin: 'start with { "name": "shop", "sources": { … }, "consumers": { … } }',
  placeName: (path) => {
    if (path.length === 0) return "a system";
    if (path.length === 2) return path[0] === "sources" ? "a source" : "a consumer";
    return String(path.at(-1));
  },
  texts: { ...durationTexts, ...templateTexts, [jitterPattern.source]: 'a jitter such as "20%"' },
  codeOf: ({ kind, issue }) => {
    switch (kind) {
      case "unknown-key":
        return "RD102";
      case "bad-name":
        return "RD111";
      case "length":
        return "origin" in issue && issue.origin === "string" ? "RD111" : "RD104";
      case "range":
        return "RD104";
      case "missing":
      case "unknown-kind":
        return "RD101";
      case "wrong":
        if (issue.code !== "invalid_format") return "RD101";
        if (templateTexts[sourceOf(issue)] !== undefined) return "RD111";
        return issue.pattern === String(jitterPattern) ? "RD104" : "RD103";
      default:
        return kind satisfies never;
    }
  },
};

/** Turns zod's issues with a declaration into diagnostics. */
export function describeDeclarationIssues(issues: readonly z.core.$ZodIssue[], input: unknown): Diagnostic[] {
  return describeIssues(issues, input, formFor(input));
}

/** The places that the unknown keys of a declaration stand for. */
export function placesMeant(issues: readonly z.core.$ZodIssue[], input: unknown): readonly (readonly PathSegment[])[] {
  return meantPlaces(mistakesOf(issues, input, declarationForm), formFor(input));
}

function formFor(input: unknown): InputForm {
  return {
    ...declarationForm,
    sentencesOf: (mistake) => sentencesOf(mistake, input),
    meantBy: (mistake) => meantPlace(mistake, input) ?? onlyOfErrors(mistake, input),
  };
}

function sentencesOf(mistake: Mistake, input: unknown): Sentences {
  const { kind, path, schema } = mistake;
  const key = path.at(-1);
  switch (kind) {
    case "unknown-key":
      return unknownKeySentences(mistake, input);
    case "unknown-kind":
      return kindSentences(mistake, input);
    case "missing":
      if (key === undefined) return {};
      if (key === "attempts") return { help: `add attempts: ${attemptsBeside(path, input)}` };
      return { help: example(schema, key)?.replace("write for example", "add") ?? `add ${key}: { … }` };
    case "range":
      if (key === "attempts") return { notes: ["attempts counts the first one: 1 means no retry"] };
      if (key !== "factor") return {};
      return { notes: ["a factor below 1 would make each wait shorter than the one before"] };
    case "wrong":
      return wrongSentences(mistake, input);
    case "bad-name":
    case "length":
      return {};
    default:
      return kind satisfies never;
  }
}

/** One more than the delays in a list beside it. */
function attemptsBeside(path: readonly PathSegment[], input: unknown): number {
  const places = [["backoff", "delays"], ["backoff"], ["delays"]];
  const delays = places.map((place) => valueAt(input, [...path.slice(0, -1), ...place])).find(Array.isArray);
  return delays === undefined ? 5 : delays.length + 1;
}

/** An example from the schema, as an edit. */
function example(schema: JsonSchema | undefined, key: PathSegment | undefined): string | undefined {
  const [first] = (schema?.["examples"] ?? []) as readonly unknown[];
  return first === undefined ? undefined : `write for example ${key}: ${asCode(first)}`;
}

function wrongSentences({ path, value, issue, schema }: Mistake, input: unknown): Sentences {
  const [place, , field] = path;
  // A declaration needs more than one value.
  if (place === undefined) return {};
  const meant =
    place === "consumers" && field === "from" && path.length < 5
      ? correctedFrom(path, value, input)
      : place === "names"
        ? correctedTemplate(value, schema)
        : corrected(value, schema);
  const written = meant === undefined ? undefined : asCode(meant);
  const help = written === undefined ? undefined : `write it as ${written}`;
  if (schema?.["pattern"] === jitterPattern.source) {
    const notes = ["jitter is the share of the delay that is added at random: a whole percentage from 1% to 100%"];
    return { notes, help: help ?? 'write it as "20%"; leave jitter out for none' };
  }
  if (schema?.["pattern"] === durationPattern.source) {
    const notes = ["a duration is a whole number and one of the units ms, s, m, h, d"];
    return { notes, help: help ?? durationHelp(value, path.at(-1) === "retain") };
  }
  if (issue.code === "invalid_union")
    return {
      help: help ?? 'write a list of routing keys, or "all"; of a headers source also { match: "all", headers: { … } }',
    };
  if (help === undefined && isNameOfDeadQueue(path, value)) return deadQueueSentences;
  const edit = help ?? (Array.isArray(schema?.["enum"]) ? undefined : example(schema, path.at(-1)));
  if (edit !== undefined) return { help: edit };
  const entry = exampleEntry(path, input);
  return entry === undefined ? {} : { notes: [`the keys there are ${keysIn(schema).join(", ")}`], help: entry };
}

/** An example of a consumer or a source. It takes from a declared source. */
function exampleEntry(path: readonly PathSegment[], input: unknown): string | undefined {
  const [kind, name = "", ...below] = path;
  if (kind === undefined || below.length > 0) return undefined;
  const [all = {}] = (propertyIn(wholeSchemaOf(), String(kind))?.["examples"] ?? []) as readonly object[];
  const { from, ...entry } = (Object.values(all)[0] ?? {}) as Readonly<Record<string, unknown>>;
  const sources = Object.entries(Object(valueAt(input, ["sources"])) as Readonly<Record<string, { kind?: unknown }>>);
  const [source] = sources.find(([, each]) => Object(each).kind !== "direct") ?? [];
  const taken = from === undefined || source === undefined ? {} : { from: { [source]: "all" } };
  const text = asCode({ [name]: { ...taken, ...entry } });
  return text === undefined ? undefined : `write for example ${text.slice(2, -2)}`;
}

/** A template with the nearest placeholders in place of unknown ones, and with single braces. */
function correctedTemplate(value: unknown, schema: JsonSchema | undefined): unknown {
  const pattern = String(schema?.["pattern"]);
  const field = templates.find((each) => templatePattern(each).source === pattern);
  if (field === undefined || typeof value !== "string") return corrected(value, schema);
  const known = placeholders[field];
  const text = value.replaceAll(/\{+(\w+)\}+/g, (_, word: string) => `{${nearestWord(word, known) ?? word}}`);
  return templatePattern(field).test(text) ? text : undefined;
}

/** The kind of a backoff by another name, or by the keys beside it. */
function kindSentences({ path, value, schema }: Mistake, input: unknown): Sentences {
  const given = Object(valueAt(input, path.slice(0, -1))) as Readonly<Record<string, unknown>>;
  const branches = (schema?.["oneOf"] ?? []) as readonly JsonSchema[];
  const kinds = branches.map((each) => String(propertyIn(each, "kind")?.["const"]));
  const word = ownWord(value ?? given["type"], kinds);
  if (word !== undefined) return { help: `write kind: "${word}"${value === undefined ? " instead of type" : ""}` };
  if (value !== undefined) return {};
  const fitting = branches.findIndex(
    (each) =>
      Object.keys(given).every((key) => keysIn(each).includes(key)) &&
      (each["required"] as string[]).every((key) => key === "kind" || Object.hasOwn(given, key)),
  );
  return kinds[fitting] === undefined || Object.keys(given).length === 0
    ? {}
    : { help: `add kind: "${kinds[fitting]}"` };
}

/** Many people know durations from ISO 8601, where `P5M` is five months. */
function durationHelp(value: unknown, isRetention: boolean): string {
  const [, months] = /^P(\d+)M$/i.exec(wordOf(value)) ?? [];
  if (months !== undefined) {
    return `write it as "${months}m", if you mean minutes: in ISO 8601 ${wordOf(value)} is months`;
  }
  const [, number] = /^\s*(\d+)\s*$/.exec(wordOf(value)) ?? [];
  if (number === undefined) return 'write it as "250ms", "30s", "5m", "2h" or "14d"';
  // Large numbers are milliseconds in most libraries.
  const [first, second] = Number(number) >= 1_000 ? ["ms", "s"] : isRetention ? ["d", "s"] : ["s", "ms"];
  return `write it as "${number}${first}", or with the unit you mean: "${number}${second}", "${number}m"`;
}
