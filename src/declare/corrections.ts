import type { PathSegment } from "../diagnostics/diagnostic.ts";
import { type JsonSchema, valueAt } from "../diagnostics/schema-issues.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import { type DurationUnit, asDuration, durationPattern, unitMs } from "./duration.ts";
import { ownWord } from "./other-words.ts";
import { jitterPattern } from "./schema-parts.ts";

const unitDays = { week: 7, month: 30, year: 365 };

/** The names of the units in other notations. */
const unitNames: Readonly<Record<DurationUnit | keyof typeof unitDays, RegExp>> = {
  ms: /^(ms|milli)/i,
  s: /^(s$|sec)/i,
  m: /^(m$|min)/i,
  h: /^(h$|hr|hour)/i,
  d: /^(d$|day)/i,
  week: /^(w$|week)/i,
  month: /^month/i,
  year: /^year/i,
};

/**
 * Reads durations such as `5 minutes`, `1h30m`, `PT5M`, `00:05:00` and `{ minutes: 5 }`. Undefined if the unit is
 * missing or uncertain.
 */
function readDuration(value: unknown): string | undefined {
  const text = isMapping(value)
    ? Object.entries(value)
        .map(([unit, count]) => `${wordOf(count)}${unit}`)
        .join("")
    : wordOf(value);
  const clock = /^(?:(\d{1,3})\.)?(\d{1,2}):(\d{2}):(\d{2})$/.exec(text.trim());
  if (clock !== null) {
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = clock.slice(1).map((each) => Number(each ?? 0));
    return asDuration((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000);
  }
  // In ISO 8601 a P without a T before an M means months.
  const compact = /^P(?!\d+M)/i.test(text) ? text.slice(1).replace(/T/i, "") : text;
  if (text.length > 60 || !/^(\s*\d+(\.\d+)?\s*[a-z]+,?)+$/i.test(compact)) return undefined;
  let durationMs = 0;
  for (const [, count, unit = ""] of compact.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const [name] = Object.entries(unitNames).find(([, names]) => names.test(unit)) ?? [];
    if (name === undefined) return undefined;
    const eachMs = name in unitDays ? unitDays[name as keyof typeof unitDays] * unitMs.d : unitMs[name as DurationUnit];
    durationMs += Number((Number(count) * eachMs).toFixed(6));
  }
  return Number.isSafeInteger(durationMs) && durationMs > 0 ? asDuration(durationMs) : undefined;
}

/** Reads a share such as 0.2 and a percentage such as 20. */
function readJitter(value: unknown): string | undefined {
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
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      const isFit = type === "number" ? Number.isFinite(number) : Number.isSafeInteger(number);
      return isFit && Number(number) >= Number(minimum) && Number(number) <= Number(maximum) ? number : undefined;
    }
    case "boolean":
      return { true: true, false: false }[wordOf(value).toLowerCase()];
    case "string":
      return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
    case "array": {
      const parts = typeof value === "string" ? value.split(/\s*[,;]\s*/) : value;
      const list = (Array.isArray(parts) ? parts : [parts]).map((each) => corrected(each, items as JsonSchema));
      return list.includes(undefined) ? undefined : list;
    }
    case "object":
      return isMapping(value) ? value : correctedMapping(value, schema);
    default:
      return undefined;
  }
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
  const all = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  const [needed = all[0]?.[0], ...others] = (required ?? []) as readonly string[];
  for (const [key, part] of required === undefined ? all : all.filter(([name]) => name === needed)) {
    const inner = corrected(value, part);
    if (inner !== undefined) return { ...(others.length > 0 ? example : {}), [key]: inner };
  }
  return undefined;
}

/** A mapping with a kind, from the kind alone or from a list of its values. */
function correctedKind(value: unknown, kinds: readonly JsonSchema[], examples: unknown): unknown {
  if (isMapping(value)) return value;
  const known = examples as readonly { readonly kind: string }[];
  const named = ownWord(
    value,
    known.map(({ kind }) => kind),
  );
  if (named !== undefined) return known.find(({ kind }) => kind === named);
  const key = Array.isArray(value) ? "delays" : "delay";
  const branch = kinds.find((each) => (each["properties"] as Readonly<Record<string, unknown>>)[key] !== undefined);
  const properties = branch?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  const inner = corrected(value, properties?.[key]);
  return inner === undefined ? undefined : { kind: properties?.["kind"]?.["const"], [key]: inner };
}

/** The routing keys of each source, from a list or a word. */
export function correctedFrom(path: readonly PathSegment[], value: unknown, input: unknown): unknown {
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
  if (words.every(isMapping)) return Object.assign({}, ...words);
  if (isAll || words.every((each) => declared.has(each))) {
    return Object.fromEntries([...(isAll ? declared : words)].map((each) => [each, "all"]));
  }
  const [only] = declared;
  if (typeof only !== "string" || declared.size > 1 || !words.every((each) => typeof each === "string"))
    return undefined;
  return { [only]: words };
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

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
