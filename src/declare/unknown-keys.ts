import { type PathSegment, formatPath } from "../diagnostics/diagnostic.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { type InputForm, type JsonSchema, type Mistake } from "../diagnostics/schema-issues.ts";
import { keysIn, propertyIn, schemaAt, valueAt } from "../diagnostics/schema-issues.ts";
import {
  asCode,
  backoffOf,
  corrected,
  correctedBinding,
  correctedFrom,
  inWords,
  isCrowded,
  isSwitched,
} from "./corrections.ts";
import { isCountOfRetries, ownWord, placeElsewhere } from "./other-words.ts";
import { durationPattern } from "./duration.ts";
import { asText, durationHelp, guessed, isGuessed, withGuessedUnits } from "./read-duration.ts";
import { declarationJsonSchema } from "./schema.ts";

let wholeSchema: JsonSchema | undefined;
export const wholeSchemaOf = (): JsonSchema => (wholeSchema ??= declarationJsonSchema());

export type Sentences = ReturnType<NonNullable<InputForm["sentencesOf"]>>;

/** The answer to an unknown key: its place, its other name, or its removal. */
export function unknownKeySentences(mistake: Mistake, input: unknown): Sentences {
  const { path, value } = mistake;
  const key = String(path.at(-1));
  const together = meantTogether(mistake, input);
  if (together !== undefined) return { help: together.help };
  const meant = meantPlace(mistake, input);
  if (meant === undefined) {
    const [taken] = likelyPlaces(mistake, input);
    if (taken !== undefined) return { help: takenHelp(taken, value, input) };
    if (key.startsWith("x-") && path.length === 3) return { help: `move it to ${key}` };
    const isOwn = path.length === 1 && /^[a-z][\w-]*$/i.test(key);
    const help = isOwn ? `rename it to x-${key} if it is yours, or remove it` : "remove it";
    return { help: placeElsewhere(key) ?? help };
  }
  const name = String(meant.at(-1));
  const addsOne = name === "attempts" && isCountOfRetries(key) && typeof value === "number";
  const notes = addsOne
    ? { notes: [`attempts counts the first run, so ${value} retries are ${value + 1} attempts`] }
    : {};
  const given = addsOne ? value + 1 : valueFor(mistake, name);
  const schema = schemaAt(wholeSchemaOf(), meant, input);
  const better = name === "from" ? correctedFrom(meant, given, input) : corrected(given, schema);
  const edit = better === undefined ? undefined : asCode(better);
  if (name === "deadLetter" && isSwitched(value)) return { help: "remove it: a work queue has a dead queue" };
  if (path.length === 1 && meant.length > 2) {
    const consumers = new Set(likelyPlaces(mistake, input).map((place) => formatPath(place.slice(0, 2))));
    return { help: `move ${name === key ? "it" : "its keys"} into ${[...consumers].join(" and ")}` };
  }
  if (formatPath(meant.slice(0, -1)) !== formatPath(path.slice(0, -1)))
    return { ...notes, help: mappingAround(meant, edit, mistake, input) ?? `move it to ${formatPath(meant)}` };
  if (ownWord(key, [name]) === undefined) return {};
  if (better === undefined && schema?.["pattern"] === durationPattern.source && withGuessedUnits(given) !== undefined)
    return { ...notes, help: durationHelp(given, name === "retain").replace("it as", `${name}:`) };
  const guess = edit !== undefined && isGuessed(given, edit) ? guessed : "";
  return { ...notes, help: edit === undefined ? `rename it to ${name}` : `write ${name}: ${edit}${guess}` };
}

/** A list beside the same list by its own name has entries that nobody wants to lose. */
function takenHelp(taken: readonly PathSegment[], value: unknown, input: unknown): string {
  const there = valueAt(input, taken);
  const both = Array.isArray(value) && Array.isArray(there) ? asCode([...new Set([...there, ...value])]) : undefined;
  const name = String(taken.at(-1));
  if (both !== undefined) return `write ${name}: ${both} instead of ${name}`;
  return `remove it: ${formatPath(taken)} is there already`;
}

/** The mapping that several unknown keys beside each other make, as `initialInterval` and `multiplier` in a retry. */
function meantTogether({ path, schema }: Mistake, input: unknown): { place: PathSegment[]; help: string } | undefined {
  const name = { retry: "backoff", consumers: "from" }[String(path.length === 3 ? path[0] : path[2])];
  const given = Object(valueAt(input, path.slice(0, -1))) as Readonly<Record<string, unknown>>;
  if (name === undefined || path.length > 4 || given[name] !== undefined || isCrowded(given)) return undefined;
  const place = [...path.slice(0, -1), name];
  const known = keysIn(schema).filter((key) => key !== name);
  const parts = Object.entries(given).filter(([key, value]) => {
    if (name === "from") return correctedBinding({ [key]: value, source: "orders" }) !== undefined;
    return ownWord(key, [...known, "permanent"]) === undefined;
  });
  const values = Object.fromEntries(parts);
  const made = name === "from" ? correctedBinding(values) : backoffOf(values, schemaAt(wholeSchemaOf(), place, input));
  if (made === undefined || parts.length < 2 || !Object.hasOwn(values, String(path.at(-1)))) return undefined;
  return { place, help: `write ${name}: ${asCode(made)} instead of ${inWords(Object.keys(values))}` };
}

/** The value with the part of it that only the key says: its unit, or the kind of a backoff. */
function valueFor({ path, value }: Mistake, name: string): unknown {
  const key = String(path.at(-1));
  if (name === "backoff" && typeof value === "object" && !Array.isArray(value)) {
    const kind = ownWord(key, ["constant", "linear", "exponential"]);
    return kind === undefined ? value : { kind, ...value };
  }
  return asText(key, value);
}

/** The place that an unknown key stands for, if it is free. */
function meantPlace(mistake: Mistake, input: unknown): readonly PathSegment[] | undefined {
  return likelyPlaces(mistake, input).find((place) => valueAt(input, place) === undefined);
}

/** The places that are no mistakes of their own, since the correction of an unknown key fills them. */
export function meantBy(mistake: Mistake, input: unknown): readonly (readonly PathSegment[])[] {
  if (mistake.path.length === 1) return likelyPlaces(mistake, input);
  const meant = meantTogether(mistake, input)?.place ?? meantPlace(mistake, input);
  return meant === undefined ? [] : [meant];
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
  const keys = keysIn(schemaAt(wholeSchemaOf(), place, input));
  // Another key beside it may belong into the same mapping.
  const beside = Object.keys(Object(valueAt(input, path.slice(0, -1))) as object);
  const isAlone = beside.every((each) => each === path.at(-1) || !keys.includes(each));
  return isAlone && part !== undefined && asCode(part) === edit ? `write ${place.at(-1)}: ${asCode(made)}` : undefined;
}

const consumerSchema = (): JsonSchema =>
  propertyIn(wholeSchemaOf(), "consumers")?.["additionalProperties"] as JsonSchema;

/** The places of an unknown key: beside it with another name, or elsewhere in the consumer with its own. */
function likelyPlaces(mistake: Mistake, input: unknown): readonly (readonly PathSegment[])[] {
  const { path, value, schema } = mistake;
  const key = String(path.at(-1));
  const beside = path.slice(0, -1);
  const free = keysIn(schema).filter((each) => valueAt(input, [...beside, each]) === undefined);
  const word = ownWord(key, free) ?? nearestWord(key, free);
  if (word !== undefined) return [[...beside, word]];
  // There are no defaults for all consumers.
  const keys = /^(defaults?|globals?)$/i.test(key) ? Object.keys(Object(value) as object) : [key];
  if (path.length === 1 && keys.some((each) => keysIn(consumerSchema()).includes(each))) {
    const consumers = Object.keys(Object(valueAt(input, ["consumers"])) as object);
    const all = consumers.flatMap((consumer) => keys.map((each) => ["consumers", consumer, each]));
    return all.filter((place) => valueAt(input, place) === undefined);
  }
  const taken = ownWord(key, keysIn(schema));
  const places = placesInConsumer(mistake, key, input);
  return places.length > 0 || taken === undefined ? places : [[...beside, taken]];
}

/** Elsewhere in the consumer. */
function placesInConsumer({ path, value }: Mistake, key: string, input: unknown): readonly (readonly PathSegment[])[] {
  // A queue of retries or of dead letters is not the work queue.
  if (path[0] !== "consumers" || path.length < 3 || key === "queue") return [];
  // The dead queue has no arguments, and the same word elsewhere means the work queue.
  if (path[2] === "deadLetter" && keysIn(propertyIn(consumerSchema(), "queueArguments")).includes(key)) return [];
  const isExclusive = value === true && key === "exclusive" && path.length === 3;
  const own = ownWord(key, ["attempts", "permanent", "handlerTimeout"]) ?? key;
  const name = isExclusive ? "singleActiveConsumer" : own;
  // The keys of a backoff are common words. Elsewhere than near the retry they mean something else.
  const isNear = path.length === 3 || path[2] === "retry";
  return placesOf(name, consumerSchema(), valueAt(input, path.slice(0, 2)))
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
