import type { z } from "zod";

import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { type InputForm, type JsonSchema, type Mistake, describeIssues } from "../diagnostics/schema-issues.ts";
import { keysIn, meantPlaces, mistakesOf, propertyIn, schemaAt, valueAt } from "../diagnostics/schema-issues.ts";
import { asCode, corrected, correctedBinding, correctedFrom, isSwitched, withoutLimit } from "./corrections.ts";
import { durationPattern } from "./duration.ts";
import { ownWord } from "./other-words.ts";
import { durationHelp, guessed, isGuessed, isMapping, withGuessedUnits } from "./read-duration.ts";
import { placeholders, templatePattern, templates, templateTexts } from "./names-schema.ts";
import { headersMatches, jitterPattern } from "./schema-parts.ts";
import { type Sentences, unknownKeySentences, wholeSchemaOf, meantBy } from "./unknown-keys.ts";

/** The texts that a schema takes, by the sources of their patterns. */
export const durationTexts: Readonly<Record<string, string>> = {
  [durationPattern.source]: 'a duration such as "250ms", "30s", "2h" or "14d"',
};

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
  const diagnostics = describeIssues(issues, input, { ...formFor(input), placeOf });
  const seen = new Set<string>();
  return diagnostics.filter(({ path, help = "" }) => {
    // Several parts of one mistake have the same answer.
    const answer = / instead of .* and /.test(help) ? help : path + help;
    return !seen.has(answer) && seen.add(answer);
  });
}

/** The place of the whole mistake, if the schema finds only parts of it. */
function placeOf(path: readonly PathSegment[], input: unknown): readonly PathSegment[] {
  const [key, above, value] = [path.at(-1), path.slice(0, -1), valueAt(input, path.slice(0, -1))];
  const isBackoff = key === "kind" && above.at(-1) === "backoff" && isMapping(value);
  const isWhole =
    (isBackoff && corrected(value, schemaAt(wholeSchemaOf(), above, input)) !== value) ||
    (path.length === 4 && path[2] === "from" && correctedBinding(value) !== undefined) ||
    (above.at(-1) === "delays" && withGuessedUnits(value) !== undefined);
  return isWhole ? above : path;
}

/** The places that the unknown keys of a declaration stand for. */
export function placesMeant(issues: readonly z.core.$ZodIssue[], input: unknown): readonly (readonly PathSegment[])[] {
  return meantPlaces(mistakesOf(issues, input, declarationForm), formFor(input));
}

function formFor(input: unknown): InputForm {
  return {
    ...declarationForm,
    sentencesOf: (mistake) => sentencesOf(mistake, input),
    meantBy: (mistake) => meantBy(mistake, input),
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
    case "range": {
      const most = withoutLimit(mistake.value, schema);
      if (most !== undefined) return { notes: endlessNotes[String(key)] ?? [], help: most };
      if (key === "attempts") return { notes: ["attempts counts the first run of the handler: 1 means no retry"] };
      if (key !== "factor") return {};
      return { notes: ["a factor below 1 would make each wait shorter than the one before"] };
    }
    case "wrong":
      return wrongSentences(mistake, input);
    case "bad-name":
    case "length":
      return {};
    default:
      return kind satisfies never;
  }
}

const endlessNotes: Readonly<Record<string, readonly string[]>> = {
  attempts: ["the dead queue keeps a message that fails every time, and redeliver dead redrive sends it again"],
  deliveries: ["a message that ends every process that takes it would end them for ever"],
};

/** One more than the delays in a list beside it. */
function attemptsBeside(path: readonly PathSegment[], input: unknown): number {
  const { backoff, ...beside } = Object(valueAt(input, path.slice(0, -1))) as Readonly<Record<string, unknown>>;
  const delays = [valueAt(backoff, ["delays"]), backoff, ...Object.values(beside)].find(Array.isArray);
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
  const isMatch = field === "from" && path.length > 3 && isMapping(value);
  if (isMatch && "match" in value && !headersMatches.some((each) => each === value["match"])) {
    const known = headersMatches.join(", ");
    return { message: `its match is not one of ${known}`, help: `choose one of ${known}` };
  }
  if (place === "sources" && field === "arguments" && path.length === 4)
    return { help: "write a text, a number or a boolean, or leave the argument out" };
  const meant =
    place === "consumers" && field === "from" && path.length < 5
      ? correctedFrom(path, value, input)
      : place === "names"
        ? correctedTemplate(value, schema)
        : corrected(value, schema);
  const key = String(path.at(-1));
  const most = withoutLimit(value, schema);
  const help = most ?? writeItAs(value, meant);
  if (schema?.["pattern"] === jitterPattern.source) {
    const notes = ["jitter is the share of the delay that is added at random: a whole percentage from 1% to 100%"];
    return { notes, help: help ?? 'write it as "20%"; leave jitter out for none' };
  }
  if (schema?.["pattern"] === durationPattern.source) {
    const notes = ["a duration is a whole number and one of the units ms, s, m, h, d"];
    return { notes, help: help ?? durationHelp(value, key === "retain") };
  }
  const kinds = place === "sources" && key === "kind" && help === undefined ? schema?.["enum"] : undefined;
  // A source may have the name kind.
  if (Array.isArray(kinds) && nearestWord(value, kinds) === undefined) return { help: ofKinds };
  if (key === "deadLetter" && isSwitched(value)) return { help: "remove it: a work queue has a dead queue" };
  if (help !== undefined && issue.path.length > path.length) return { message: `${key} has another form`, help };
  if (most !== undefined) return { notes: endlessNotes[key] ?? [], help: most };
  if (issue.code === "invalid_union" || isMatch)
    return {
      help:
        help ??
        'write a list of routing keys, or "all"; of a headers source also { match: "all", headers: { … } }, and of an opaque one on SQS { filterPolicy: { … } }',
    };
  const edit = help ?? (Array.isArray(schema?.["enum"]) ? undefined : example(schema, path.at(-1)));
  if (edit !== undefined) return { help: edit };
  const entry = exampleEntry(path, input);
  return entry === undefined ? {} : { notes: [`the keys there are ${keysIn(schema).join(", ")}`], help: entry };
}

const ofKinds =
  "choose topic, direct, fanout or headers; for an exchange of a plugin, opaque, with its type as exchangeType";

/** The edit for a value. A unit that is a guess says so. */
function writeItAs(value: unknown, meant: unknown): string | undefined {
  const written = asCode(meant ?? (Array.isArray(value) ? withGuessedUnits(value) : undefined));
  if (written === "undefined") return undefined;
  return written && `write it as ${written}${isGuessed(value, written) ? guessed : ""}`;
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
