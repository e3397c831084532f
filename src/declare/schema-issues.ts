import type { z } from "zod";

import { type Diagnostic, type PathSegment, formatPath } from "../diagnostics/diagnostic.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { type InputForm, type JsonSchema, type Mistake, describeIssues } from "../diagnostics/schema-issues.ts";
import { keysIn, meantPlaces, mistakesOf, propertyIn, schemaAt, valueAt } from "../diagnostics/schema-issues.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import { asCode, corrected } from "./corrections.ts";
import { durationPattern } from "./duration.ts";
import { isCountOfRetries, ownWord, placeElsewhere } from "./other-words.ts";
import { declarationJsonSchema, templatePatterns } from "./schema.ts";
import { jitterPattern } from "./schema-parts.ts";

/** The texts that a schema takes, by the sources of their patterns. */
export const durationTexts: Readonly<Record<string, string>> = {
  [durationPattern.source]: 'a duration such as "250ms", "30s", "2h" or "14d"',
};

const templateTexts: Readonly<Record<string, string>> = {
  [templatePatterns.queue.source]: "a template with {system} and {consumer} as its only placeholders",
  [templatePatterns.dead.source]: "a template with {system}, {consumer} and {queue} as its only placeholders",
  [templatePatterns.source.source]: "a template with {system} and {source} as its only placeholders",
};

/** The source of the pattern that a text does not match. */
function sourceOf({ pattern = "" }: { readonly pattern?: string | undefined }): string {
  return pattern.slice(1, -1);
}

let wholeSchema: JsonSchema | undefined;
const wholeSchemaOf = (): JsonSchema => (wholeSchema ??= declarationJsonSchema());

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
    meantBy: (mistake) => meantPlace(mistake, input),
  };
}

type Sentences = ReturnType<NonNullable<InputForm["sentencesOf"]>>;

function sentencesOf(mistake: Mistake, input: unknown): Sentences {
  const { kind, path, schema } = mistake;
  const key = path.at(-1);
  switch (kind) {
    case "unknown-key":
      return unknownKeySentences(mistake, input);
    case "unknown-kind":
      return kindSentences(mistake, input);
    case "missing":
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

/** An example from the schema, as an edit. */
function example(schema: JsonSchema | undefined, key: PathSegment | undefined): string | undefined {
  const [first] = (schema?.["examples"] ?? []) as readonly unknown[];
  return first === undefined ? undefined : `write for example ${key}: ${asCode(first)}`;
}

function wrongSentences({ path, value, issue, schema }: Mistake, input: unknown): Sentences {
  const [place, , field] = path;
  const meant =
    place === "consumers" && field === "from" && path.length < 5
      ? correctedFrom(path, value, input)
      : corrected(value, schema);
  const written = meant === undefined ? undefined : asCode(meant);
  const help = written === undefined ? undefined : `write it as ${written}`;
  if (schema?.["pattern"] === jitterPattern.source) {
    const notes = ["jitter is the share of the delay that is added at random: a whole percentage from 1% to 100%"];
    return { notes, help: help ?? 'write it as "20%"; leave jitter out for none' };
  }
  if (schema?.["pattern"] === durationPattern.source) {
    const notes = ["a duration is a whole number and one of the units ms, s, m, h, d"];
    return { notes, help: help ?? durationHelp(value) };
  }
  if (issue.code === "invalid_union") return { help: help ?? 'write a list of routing keys, or "all"' };
  const edit = help ?? (Array.isArray(schema?.["enum"]) ? undefined : example(schema, path.at(-1)));
  return edit === undefined ? {} : { help: edit };
}

/** The routing keys of each source, from a list or a word. */
function correctedFrom(path: readonly PathSegment[], value: unknown, input: unknown): unknown {
  const isAll = value === true || /^(all|\*|#)$/i.test(wordOf(value));
  if (path.length > 3) {
    const [only, ...others] = Object.values(Object(value) as object) as unknown[];
    return isAll
      ? "all"
      : typeof value === "string"
        ? [value]
        : others.length === 0 && Array.isArray(only)
          ? only
          : undefined;
  }
  const declared = new Set<unknown>(Object.keys(Object(valueAt(input, ["sources"])) as object));
  const words = (Array.isArray(value) ? value : [value]) as readonly unknown[];
  if (isAll || words.every((each) => declared.has(each))) {
    return Object.fromEntries([...(isAll ? declared : words)].map((each) => [each, "all"]));
  }
  const [only] = declared;
  if (typeof only !== "string" || declared.size > 1 || !words.every((each) => typeof each === "string"))
    return undefined;
  return { [only]: words };
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

function unknownKeySentences(mistake: Mistake, input: unknown): Sentences {
  const { path, value } = mistake;
  const key = String(path.at(-1));
  const meant = meantPlace(mistake, input);
  if (meant === undefined) {
    const [taken] = likelyPlaces(mistake, input);
    return {
      help:
        taken === undefined ? (placeElsewhere(key) ?? "remove it") : `remove it: ${formatPath(taken)} is there already`,
    };
  }
  const name = String(meant.at(-1));
  const addsOne = name === "attempts" && isCountOfRetries(key) && typeof value === "number";
  const notes = addsOne
    ? { notes: [`attempts counts the first run, so ${value} retries are ${value + 1} attempts`] }
    : {};
  const better = corrected(addsOne ? value + 1 : value, schemaAt(wholeSchemaOf(), meant, input));
  const edit = better === undefined ? undefined : asCode(better);
  if (meant.length !== path.length) return { ...notes, help: `move it to ${formatPath(meant)}` };
  if (ownWord(key, [name]) === undefined) return {};
  return { ...notes, help: edit === undefined ? `rename it to ${name}` : `write ${name}: ${edit}` };
}

/** The place that an unknown key stands for, if it is free. */
function meantPlace(mistake: Mistake, input: unknown): readonly PathSegment[] | undefined {
  return likelyPlaces(mistake, input).find((place) => valueAt(input, place) === undefined);
}

/** The places of an unknown key: beside it with another name, or elsewhere in the consumer with its own. */
function likelyPlaces({ path, schema }: Mistake, input: unknown): readonly (readonly PathSegment[])[] {
  const key = String(path.at(-1));
  const beside = path.slice(0, -1);
  const free = keysIn(schema).filter((each) => valueAt(input, [...beside, each]) === undefined);
  const word = ownWord(key, free) ?? nearestWord(key, free);
  if (word !== undefined) return [[...beside, word]];
  if (path[0] !== "consumers" || path.length < 3) return [];
  const name = ownWord(key, ["attempts"]) ?? key;
  const consumer = propertyIn(wholeSchemaOf(), "consumers")?.["additionalProperties"] as JsonSchema;
  return placesOf(name, consumer).map((place) => [...path.slice(0, 2), ...place]);
}

/** All places of a key in a schema, below it. */
function placesOf(key: string, schema: JsonSchema): (readonly string[])[] {
  const branches = [schema, ...((schema["oneOf"] ?? []) as readonly JsonSchema[])];
  return branches.flatMap((branch) =>
    keysIn(branch).flatMap((each) => [
      ...(each === key ? [[each]] : []),
      ...placesOf(key, propertyIn(branch, each) as JsonSchema).map((place) => [each, ...place]),
    ]),
  );
}

/** Many people know durations from ISO 8601, where `P5M` is five months. */
function durationHelp(value: unknown): string {
  const [, months] = /^P(\d+)M$/i.exec(wordOf(value)) ?? [];
  if (months !== undefined) {
    return `write it as "${months}m", if you mean minutes: in ISO 8601 ${wordOf(value)} is months`;
  }
  const [, number] = /^\s*(\d+)\s*$/.exec(wordOf(value)) ?? [];
  if (number === undefined) return 'write it as "250ms", "30s", "5m", "2h" or "14d"';
  // Large numbers are milliseconds in most libraries.
  const [first, second] = Number(number) < 1_000 ? ["s", "ms"] : ["ms", "s"];
  return `write it as "${number}${first}", or with the unit you mean: "${number}${second}", "${number}m"`;
}
