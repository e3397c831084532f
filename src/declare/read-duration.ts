import { wordOf } from "../diagnostics/word-of.ts";
import { type DurationUnit, asDuration, unitMs } from "./duration.ts";
import { unitOf } from "./other-words.ts";

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
export function readDuration(value: unknown): string | undefined {
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

/** Guesses the unit of a bare number. Large numbers are milliseconds in most libraries, and seconds as a retention. */
export function guessedUnit(largest: number, isRetention = false): readonly [DurationUnit, DurationUnit] {
  if (isRetention) return largest >= 100_000_000 ? ["ms", "s"] : largest >= 1_000 ? ["s", "ms"] : ["d", "s"];
  return largest >= 1_000 ? ["ms", "s"] : ["s", "ms"];
}

/** Numbers without a unit, each with the unit that the largest of them most likely has. */
export function withGuessedUnits(value: unknown): unknown {
  const list = Array.isArray(value) ? value : [value];
  if (!list.every((each) => Number.isSafeInteger(each) && each > 0)) return undefined;
  const [unit] = guessedUnit(Math.max(...(list as number[])));
  return Array.isArray(value) ? list.map((each) => `${each}${unit}`) : `${String(value)}${unit}`;
}

/** A number with the unit that its key ends in. */
export function asText(key: string, value: unknown): unknown {
  return typeof value === "number" && unitOf(key) !== "" ? `${value}${unitOf(key)}` : value;
}

/** The end of an edit with a guess in it. */
export const guessed = ", or with the unit you mean";

/** True if a bare number of the value has a unit in the text. */
export function isGuessed(value: unknown, text: string): boolean {
  const given = JSON.stringify(value) ?? "";
  return [...text.matchAll(/"(\d+)(?:ms|s)"/g)].some(([, number]) =>
    new RegExp(`(^|[[:,( ])${number}([,\\]})]|$)`).test(given),
  );
}

/** Many people know durations from ISO 8601, where `P5M` is five months. */
export function durationHelp(value: unknown, isRetention: boolean): string {
  const [, months] = /^P(\d+)M$/i.exec(wordOf(value)) ?? [];
  if (months !== undefined)
    return `write it as "${months}m", if you mean minutes: in ISO 8601 ${wordOf(value)} is months`;
  const [, number] = /^\s*(\d+)\s*$/.exec(wordOf(value)) ?? [];
  if (number === undefined) return 'write it as "250ms", "30s", "5m", "2h" or "14d"';
  if (Number(number) === 0) return 'write it as "1s" or longer';
  const [first, second] = guessedUnit(Number(number), isRetention);
  return `write it as "${number}${first}", or with the unit you mean: "${number}${second}", "${number}m"`;
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
