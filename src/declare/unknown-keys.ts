import { type PathSegment, formatPath } from "../diagnostics/diagnostic.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { type InputForm, type JsonSchema, type Mistake } from "../diagnostics/schema-issues.ts";
import { keysIn, propertyIn, schemaAt, valueAt } from "../diagnostics/schema-issues.ts";
import { asCode, corrected, correctedFrom } from "./corrections.ts";
import { isCountOfRetries, isNameOfDeadQueue, ownWord, placeElsewhere, unitOf } from "./other-words.ts";
import { declarationJsonSchema } from "./schema.ts";

let wholeSchema: JsonSchema | undefined;
export const wholeSchemaOf = (): JsonSchema => (wholeSchema ??= declarationJsonSchema());

export type Sentences = ReturnType<NonNullable<InputForm["sentencesOf"]>>;

/** The template names the dead queue of every consumer. */
export const deadQueueSentences: Sentences = {
  notes: ["names.dead is the template for the dead queue of every consumer: for several it needs {consumer} in it"],
  help: "move it to names.dead",
};

/** The answer to an unknown key: its place, its other name, or its removal. */
export function unknownKeySentences(mistake: Mistake, input: unknown): Sentences {
  const { path, value } = mistake;
  const key = String(path.at(-1));
  const meant = meantPlace(mistake, input);
  if (meant === undefined) {
    const [taken] = likelyPlaces(mistake, input);
    if (taken !== undefined) return { help: `remove it: ${formatPath(taken)} is there already` };
    const isOwn = path.length === 1 && /^[a-z][\w-]*$/i.test(key);
    const help = placeElsewhere(key) ?? (isOwn ? `rename it to x-${key} if it is yours, or remove it` : "remove it");
    return { help: onlyOfErrors(mistake, input) === undefined ? help : help.replace(" it", " errors") };
  }
  const name = String(meant.at(-1));
  const addsOne = name === "attempts" && isCountOfRetries(key) && typeof value === "number";
  const notes = addsOne
    ? { notes: [`attempts counts the first run, so ${value} retries are ${value + 1} attempts`] }
    : {};
  const given = addsOne ? value + 1 : valueFor(mistake, name);
  const better =
    name === "from" ? correctedFrom(meant, given, input) : corrected(given, schemaAt(wholeSchemaOf(), meant, input));
  const edit = better === undefined ? undefined : asCode(better);
  if (isNameOfDeadQueue(path, value)) return deadQueueSentences;
  if (formatPath(meant.slice(0, -1)) !== formatPath(path.slice(0, -1))) {
    return { ...notes, help: mappingAround(meant, edit, mistake, input) ?? `move it to ${formatPath(meant)}` };
  }
  if (ownWord(key, [name]) === undefined) return {};
  return { ...notes, help: edit === undefined ? `rename it to ${name}` : `write ${name}: ${edit}` };
}

/** The value with the part of it that only the key says: its unit, or the kind of a backoff. */
function valueFor({ path, value }: Mistake, name: string): unknown {
  const key = String(path.at(-1));
  if (name === "backoff" && typeof value === "object" && !Array.isArray(value)) {
    const kind = ownWord(key, ["constant", "linear", "exponential"]);
    return kind === undefined ? value : { kind, ...value };
  }
  return typeof value === "number" && unitOf(key) !== "" ? `${value}${unitOf(key)}` : value;
}

/** The place that an unknown key stands for, if it is free. */
export function meantPlace(mistake: Mistake, input: unknown): readonly PathSegment[] | undefined {
  return likelyPlaces(mistake, input).find((place) => valueAt(input, place) === undefined);
}

/** The missing mapping beside an unknown key that the key belongs into, if the key alone is enough for it. */
function mappingAround(
  meant: readonly PathSegment[],
  edit: string | undefined,
  { path, value }: Mistake,
  input: unknown,
): string | undefined {
  const place = meant.slice(0, -1);
  if (edit === undefined || place.length !== path.length || valueAt(input, place) !== undefined) return undefined;
  const made = corrected(value, schemaAt(wholeSchemaOf(), place, input));
  const part = valueAt(made, meant.slice(-1));
  return part !== undefined && asCode(part) === edit ? `write ${place.at(-1)}: ${asCode(made)}` : undefined;
}

/** The key that `errors` then lacks, if its only key is needless. Then `errors` is needless too. */
export function onlyOfErrors({ path }: Mistake, input: unknown): readonly PathSegment[] | undefined {
  const beside = path.slice(0, -1);
  const isOnly = Object.keys(Object(valueAt(input, beside)) as object).length === 1;
  const isNeedless = path.length === 4 && path[2] === "errors" && placeElsewhere(String(path[3])) !== undefined;
  return isOnly && isNeedless ? [...beside, "permanent"] : undefined;
}

/** The places of an unknown key: beside it with another name, or elsewhere in the consumer with its own. */
function likelyPlaces({ path, value, schema }: Mistake, input: unknown): readonly (readonly PathSegment[])[] {
  const key = String(path.at(-1));
  if (isNameOfDeadQueue(path, value)) return [["names", "dead"]];
  const beside = path.slice(0, -1);
  const free = keysIn(schema).filter((each) => valueAt(input, [...beside, each]) === undefined);
  const word = ownWord(key, free) ?? nearestWord(key, free);
  if (word !== undefined) return [[...beside, word]];
  // A queue of retries or of dead letters is not the work queue.
  if (path[0] !== "consumers" || path.length < 3 || key === "queue") return [];
  const name = ownWord(key, ["attempts", "permanent", "handlerTimeout"]) ?? key;
  const consumer = propertyIn(wholeSchemaOf(), "consumers")?.["additionalProperties"] as JsonSchema;
  // The keys of a backoff are common words. Elsewhere than near the retry they mean something else.
  const isNear = path.length === 3 || path[2] === "retry";
  return placesOf(name, consumer, valueAt(input, path.slice(0, 2)))
    .filter(([, inner, inmost]) => inmost === undefined || (isNear && inner === "backoff"))
    .map((place) => [...path.slice(0, 2), ...place]);
}

/** All places of a key in a schema, below it. The value's kind chooses one of several forms. */
function placesOf(key: string, schema: JsonSchema, value: unknown): (readonly string[])[] {
  const kinds = (schema["oneOf"] ?? []) as readonly JsonSchema[];
  const kind = valueAt(value, ["kind"]);
  const branches = [schema, ...kinds].filter(
    (each) => kind === undefined || [undefined, kind].includes(propertyIn(each, "kind")?.["const"]),
  );
  return branches.flatMap((branch) =>
    keysIn(branch).flatMap((each) => [
      ...(each === key ? [[each]] : []),
      ...placesOf(key, propertyIn(branch, each) as JsonSchema, valueAt(value, [each])).map((place) => [each, ...place]),
    ]),
  );
}
