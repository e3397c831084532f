/** The units in which a duration may be written. */
export type DurationUnit = "ms" | "s" | "m" | "h" | "d";

/** A duration as a person writes it: a whole number and a unit, such as `"250ms"`, `"30s"` or `"14d"`. */
export type Duration = `${bigint}${DurationUnit}`;

/** The length of each unit, in milliseconds. */
export const unitMs: Readonly<Record<DurationUnit, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The form of a duration. The zod schema and the JSON Schema use the same expression. */
export const durationPattern: RegExp = /^(0|[1-9][0-9]{0,14})(ms|s|m|h|d)$/;

/**
 * Reads a duration.
 *
 * @returns milliseconds, a whole number
 * @throws TypeError if the text is no duration; checked declarations never cause it
 */
export function parseDurationMs(text: string): number {
  const match = durationPattern.exec(text);
  if (match === null) throw new TypeError(`${JSON.stringify(text)} is no duration`);
  return Number(match[1]) * unitMs[match[2] as DurationUnit];
}

/** Writes milliseconds for people: `1s`, `1m 30s`, `250ms`, `14d`. Exact, never rounded. */
export function formatDurationMs(durationMs: number): string {
  if (durationMs === 0) return "0s";
  const parts: string[] = [];
  let rest = durationMs;
  for (const unit of ["d", "h", "m", "s", "ms"] as const) {
    const count = Math.floor(rest / unitMs[unit]);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * unitMs[unit];
  }
  return parts.join(" ");
}

/** Writes milliseconds as a duration, in the largest unit that leaves a whole number. */
export function asDuration(durationMs: number): Duration {
  const unit = (["d", "h", "m", "s"] as const).find((each) => durationMs % unitMs[each] === 0) ?? "ms";
  return `${durationMs / unitMs[unit]}${unit}` as Duration;
}
