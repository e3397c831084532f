import type { PathSegment } from "../diagnostics/diagnostic.ts";
import { type JsonSchema, valueAt } from "../diagnostics/schema-issues.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import { durationPattern } from "./duration.ts";
import { isCountOfRetries, ownWord, placeElsewhere } from "./other-words.ts";
import { asText, isMapping, readDuration, withGuessedUnits } from "./read-duration.ts";
import { jitterPattern } from "./schema-parts.ts";

/**
 * The answer to a limit that is switched off, as in `retain: "forever"` and `attempts: -1`. A limit that may be missing
 * is left out. Any other gets its largest value.
 */
export function withoutLimit(value: unknown, schema: JsonSchema | undefined): string | undefined {
  const isEndless = /^(forever|unlimited|infinit[ey]|infinity|[.]?inf|-1)$/i.test(wordOf(value));
  if (!isEndless && !/^(none|never|no|off|false|null|0s?|0?%)$/i.test(wordOf(value))) return undefined;
  const { description, type, maximum } = schema ?? {};
  const [, fallback] = /The default is ((?:no |none|the number|as long)[^.,]*)/.exec(String(description)) ?? [];
  if (fallback !== undefined) return `remove it: the default is ${fallback}`;
  return isEndless && type === "integer" && Number(maximum) < 1e6
    ? `write it as ${String(maximum)}, the most`
    : undefined;
}

/** True for a part that is switched on or off as a whole. */
export function isSwitched(value: unknown): boolean {
  return /^(true|false|none|never|no|off)$/i.test(wordOf(value));
}

/** Reads a share such as 0.2 and a percentage such as 20. */
function readJitter(value: unknown): string | undefined {
  if (/^full/i.test(wordOf(value))) return "100%";
  const [, number, sign] = /^(\d*\.?\d+) ?(%?)$/.exec(wordOf(value)) ?? [];
  const percent = Math.round(Number(number) * (Number(number) <= 1 && sign === "" ? 100 : 1));
  return percent >= 1 && percent <= 100 ? `${percent}%` : undefined;
}

/**
 * The value that the user most likely meant, in the form that the schema takes. Undefined if it is uncertain: a guess
 * may not be wrong by a factor of a thousand.
 */
export function corrected(value: unknown, schema: JsonSchema | undefined): unknown {
  const { type, pattern, enum: words, const: only, items, minimum = 0, maximum, oneOf } = schema ?? {};
  if (pattern === durationPattern.source) return durationPattern.test(wordOf(value)) ? value : readDuration(value);
  if (pattern === jitterPattern.source) return jitterPattern.test(wordOf(value)) ? value : readJitter(value);
  const known = (words ?? (only === undefined ? undefined : [only])) as readonly string[] | undefined;
  if (known !== undefined) return ownWord(value, known);
  if (Array.isArray(oneOf)) return correctedKind(value, oneOf as readonly JsonSchema[], schema?.["examples"]);
  switch (type) {
    case "integer":
    case "number": {
      if (value === true && minimum === 0) return 0;
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      const isFit = type === "number" ? Number.isFinite(number) : Number.isSafeInteger(number);
      return isFit && Number(number) >= Number(minimum) && Number(number) <= Number(maximum) ? number : undefined;
    }
    case "boolean":
      return { true: true, false: false }[wordOf(value).toLowerCase()];
    case "string": {
      const [[key, only] = [], ...others] = isMapping(value) ? Object.entries(value) : [["name", value]];
      const isName = key === "name" && others.length === 0;
      return isName && (typeof only === "string" || typeof only === "number") ? String(only) : undefined;
    }
    case "array": {
      const parts = typeof value === "string" ? value.split(/\s*[,;]\s*/) : value;
      const list = (Array.isArray(parts) ? parts : [parts]).map((each) => corrected(each, items as JsonSchema));
      return list.includes(undefined) ? undefined : list;
    }
    case "object":
      if (!isMapping(value)) return correctedMapping(value, schema);
      return renamedKeys(value, schema, (schema?.["examples"] as object[] | undefined)?.[0]) ?? value;
    default:
      return undefined;
  }
}

/** More keys than these are no mistake of a person, and each of them costs a search. */
const mostKeys = 50;

const crowded = new WeakMap<object, boolean>();

/** True for a mapping with too many keys to correct. Counting them again for each of them would take for ever. */
export function isCrowded(mapping: object): boolean {
  const known = crowded.get(mapping) ?? Object.keys(mapping).length > mostKeys;
  crowded.set(mapping, known);
  return known;
}

/** A mapping with our words for its keys, and an example of the rest. Undefined if a key or a value is uncertain. */
function renamedKeys(value: unknown, schema: JsonSchema | undefined, example: unknown): object | undefined {
  if (isCrowded(Object(value) as object)) return undefined;
  const properties = Object(schema?.["properties"]) as Readonly<Record<string, JsonSchema>>;
  const names = Object.keys(properties);
  const renamed = Object.entries(Object(value) as object).flatMap(([key, each]) => {
    const name = ownWord(key, names) ?? "";
    if (name === "" && placeElsewhere(key) !== undefined) return [];
    const counted = name === "attempts" && isCountOfRetries(key) ? Number(each) + 1 : asText(key, each);
    return [[name, corrected(counted, properties[name]) ?? withGuessedUnits(each)] as const];
  });
  const isSure = renamed.every(([name, each]) => name !== "" && each !== undefined);
  if (!isSure || new Set(renamed.map(([name]) => name)).size < renamed.length) return undefined;
  const required = (schema?.["required"] ?? []) as readonly string[];
  const needed = Object.entries(Object(example) as object).filter(([key]) => required.includes(key));
  return Object.fromEntries([...needed, ...renamed]);
}

/** A mapping from one of its parts, or from a list of its names. */
function correctedMapping(value: unknown, schema: JsonSchema | undefined): unknown {
  const { properties, required, additionalProperties: each, examples } = schema ?? {};
  const [example = {}] = (examples ?? []) as readonly object[];
  if (isMapping(each) && Array.isArray(value)) {
    const entries = value.map((item: unknown) => {
      const { name, ...rest } = isMapping(item) ? item : { name: item, ...(Object.values(example)[0] as object) };
      return [name, rest] as const;
    });
    return entries.every(([name]) => typeof name === "string") ? Object.fromEntries(entries) : undefined;
  }
  const backoff = isMapping(properties) ? properties["backoff"] : undefined;
  if (backoff !== undefined && (value === false || /^(none|never|no|off)$/i.test(wordOf(value))))
    return { attempts: 1, backoff: { kind: "immediate" } };
  if (backoff !== undefined && Array.isArray(value)) {
    const delays = corrected(value, backoff as JsonSchema);
    return delays === undefined ? undefined : { attempts: value.length + 1, backoff: delays };
  }
  if (isMapping(properties) && "owner" in properties && wordOf(value).startsWith("arn:"))
    return { kind: "topic", name: value, owner: "other" };
  const all = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  const [needed = all[0]?.[0], ...others] = (required ?? []) as readonly string[];
  for (const [key, part] of required === undefined ? all : all.filter(([name]) => name === needed)) {
    // An unreadable duration is no name.
    const isName = part["type"] === "string" && part["pattern"] === undefined;
    const inner = isName && /^P?\d/.test(wordOf(value)) ? undefined : corrected(value, part);
    if (inner !== undefined) return { ...(others.length > 0 ? example : {}), [key]: inner };
  }
  return undefined;
}

/** A mapping with a kind, from the kind alone or from a list of its values. */
function correctedKind(value: unknown, kinds: readonly JsonSchema[], examples: unknown): unknown {
  const known = examples as readonly { readonly kind: string }[];
  if (isMapping(value)) return correctedKeys(value, kinds, known) ?? value;
  const named = ownWord(
    value,
    known.map(({ kind }) => kind),
  );
  if (named !== undefined) return known.find(({ kind }) => kind === named);
  const called = typeof value === "string" ? correctedKeys(asMapping(value), kinds, known) : undefined;
  if (called !== undefined) return called;
  const key = Array.isArray(value) ? "delays" : "delay";
  const branch = kinds.find((each) => (each["properties"] as Readonly<Record<string, unknown>>)[key] !== undefined);
  const properties = branch?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  const inner = corrected(value, properties?.[key]) ?? withGuessedUnits(value);
  return inner === undefined ? undefined : { kind: properties?.["kind"]?.["const"], [key]: inner };
}

/** The text of a call, such as `exponential(1s, 2)` and `exponential({ first: "1s" })`, as a mapping from its kind. */
function asMapping(text: string): Readonly<Record<string, unknown>> {
  const words = [...text.slice(0, 200).matchAll(/(?:(\w+)["']?\s*[:=]\s*)?["']?([\w.%-]+)/g)];
  const [[, , kind = ""] = [], ...parts] = words;
  const values = parts.map(([, , each = ""]) => (/^[\d.]+$/.test(each) ? Number(each) : each));
  const places = ["first", "factor", "max"];
  const keyed = parts.map(([, key], index) => [key ?? places[index] ?? "", values[index]]);
  return { [kind]: ownWord(kind, ["steps"]) === undefined ? Object.fromEntries(keyed) : values };
}

/** A backoff with other words for its keys, such as `{ exponential: { initial: "1s" } }`. Undefined if it has ours. */
function correctedKeys(
  value: Readonly<Record<string, unknown>>,
  kinds: readonly JsonSchema[],
  examples: readonly { readonly kind: string }[],
  isElsewhere = false,
): unknown {
  const words = examples.map(({ kind }) => kind);
  const [[word = "", inner] = [], ...others] = Object.entries(value);
  const { kind, type = kind, ...parts } = value;
  const nested = others.length === 0 ? ownWord(word, words) : undefined;
  const named = nested ?? ownWord(type, words);
  for (const schema of kinds) {
    const own = Object(schema["properties"]).kind.const as string;
    if (own !== (named ?? own)) continue;
    const [, first = "kind"] = schema["required"] as string[];
    const given = nested === undefined ? parts : isMapping(inner) ? inner : { [first]: inner };
    const made = renamedKeys(given, schema, { ...examples.find((each) => each.kind === own), [first]: undefined });
    const isChanged =
      isElsewhere || nested !== undefined || Object.keys(made ?? {}).some((key) => !(key in value) && key !== "kind");
    if (isChanged && valueAt(made, [first]) !== undefined) return made;
  }
  return undefined;
}

/** The backoff that keys beside each other make, which are in another place. */
export function backoffOf(parts: Readonly<Record<string, unknown>>, schema: JsonSchema | undefined): unknown {
  const { oneOf, examples } = (schema ?? {}) as Readonly<Record<string, never>>;
  return oneOf === undefined ? undefined : correctedKeys(parts, oneOf, examples ?? [], true);
}

const isEverything = (value: unknown): boolean =>
  value === true || /^(all|any|every(thing)?|\*|#)$/i.test(wordOf(value));
const asList = (value: unknown): unknown => (Array.isArray(value) ? value : [value]);

/** A binding as `{ source: "orders", routingKey: "order.placed" }`, as the mapping from its source. */
export function correctedBinding(value: unknown): unknown {
  const found: { source?: unknown; keys?: unknown } = {};
  for (const [key, each] of Object.entries(isMapping(value) ? value : {})) {
    if (/^(source|exchange|topic)(name|arn)?$/i.test(key)) found.source = each;
    else if (/^((routing|binding)_?)?(keys?|patterns?)$/i.test(key)) found.keys = each;
    else return undefined;
  }
  const { source, keys = "all" } = found;
  if (typeof source !== "string" || isEverything(source)) return undefined;
  return { [source]: isEverything(keys) ? "all" : asList(keys) };
}

/** The routing keys in one text. */
function routingKeysIn(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((each) => each !== "");
}

/** The headers of a message, as `{ type: "invoice" }`, as the match of a headers source. */
function correctedMatch(value: unknown): unknown {
  if (!isMapping(value)) return undefined;
  const { match, "x-match": asArgument = match ?? "all", headers, ...others } = value;
  const given = isMapping(headers) ? headers : others;
  const arePlain = Object.values(given).every((each) => ["string", "number", "boolean"].includes(typeof each));
  return arePlain && Object.keys(given).length > 0 ? { match: asArgument, headers: given } : undefined;
}

/** The routing keys of each source, from a list or a word. */
export function correctedFrom(path: readonly PathSegment[], value: unknown, input: unknown): unknown {
  const isAll = isEverything(value);
  if (path.length > 3) {
    const [[key, only] = [], ...others] = Object.entries(isMapping(value) ? value : {});
    if (isAll || value === null) return "all";
    // A filter of SQL or JSON is no key.
    if (typeof value === "string") return /[=<>(){}]/.test(value) ? undefined : routingKeysIn(value);
    if (valueAt(input, ["sources", path[3] as string, "kind"]) === "headers") return correctedMatch(value);
    const isKeys =
      others.length === 0 && (Array.isArray(only) || (typeof only === "string" && /key|pattern/i.test(String(key))));
    return isKeys ? asList(only) : undefined;
  }
  const declared = new Set<unknown>(Object.keys(Object(valueAt(input, ["sources"])) as object));
  const words = (Array.isArray(value) ? value : [value]) as readonly unknown[];
  if (words.every(isMapping)) return Object.assign({}, ...words.map((each) => correctedBinding(each) ?? each));
  if (isAll || words.every((each) => declared.has(each)))
    return Object.fromEntries([...(isAll ? declared : words)].map((each) => [each, "all"]));
  const known = [...declared].map(String);
  const near = words.map((each) => (/[.*#>]/.test(wordOf(each)) ? undefined : nearestWord(each, known)));
  if (near.every((each) => each !== undefined)) return Object.fromEntries(near.map((each) => [each, "all"]));
  const areNames = words.every((each) => /^[\w-]+$/.test(wordOf(each)));
  if (areNames && words.some((each) => declared.has(each)))
    return Object.fromEntries(words.map((each) => [each, "all"]));
  const [only] = declared;
  if (typeof only !== "string" || declared.size > 1 || !words.every((each) => typeof each === "string"))
    return undefined;
  return { [only]: words };
}

export function inWords(keys: readonly string[]): string {
  return keys.join(", ").replace(/, ([^,]*)$/, " and $1");
}

/** A value as code. Undefined if it is too long for a sentence. */
export function asCode(value: unknown): string | undefined {
  const text = code(value);
  return text.length <= 120 ? text : undefined;
}

function code(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(code).join(", ")}]`;
  if (!isMapping(value)) return JSON.stringify(value) ?? "undefined";
  const parts = Object.entries(value).map(
    ([key, each]) => `${/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key)}: ${code(each)}`,
  );
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}
