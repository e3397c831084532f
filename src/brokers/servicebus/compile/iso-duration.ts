/** The longest duration of Azure, which means no limit. Source: reference of .NET, `TimeSpan.MaxValue`. */
export const forEver = "P10675199DT2H48M5.4775807S";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1_000;

/**
 * Writes a duration for Azure in ISO 8601: `PT30S`, `P14D`, `P1DT12H`, `PT0.25S`. It never uses months, although Azure
 * would accept them.
 *
 * @param durationMs whole milliseconds; null for no limit
 */
export function isoDuration(durationMs: number | null): string {
  if (durationMs === null) return forEver;
  const days = Math.floor(durationMs / dayMs);
  const hours = Math.floor((durationMs % dayMs) / hourMs);
  const minutes = Math.floor((durationMs % hourMs) / minuteMs);
  const seconds = (durationMs % minuteMs) / secondMs;
  const time = [
    hours === 0 ? "" : `${hours}H`,
    minutes === 0 ? "" : `${minutes}M`,
    seconds === 0 ? "" : `${seconds}S`,
  ].join("");
  if (days === 0 && time === "") return "PT0S";
  return `P${days === 0 ? "" : `${days}D`}${time === "" ? "" : `T${time}`}`;
}

/** A duration of ISO 8601 as a person wrote it: in milliseconds, null for no limit. */
export interface ReadDuration {
  readonly text: string;
  readonly durationMs: number | null;
  /** It has months or years in it. Most people who write `M` mean minutes. */
  readonly isCalendar: boolean;
}

/** A time span of .NET, such as `14.00:00:00`. The version 2015-08-01 of the API writes durations so. */
const timeSpan = /^(?:(\d+)\.)?(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)$/;

/** Anything longer counts as no limit: .NET's longest time is 29,247 years. */
const longestMs = 1_000 * 365 * dayMs;

/**
 * Reads a duration, also as a time span of .NET. A month counts 30 days and a year 365, as in `XmlConvert.ToTimeSpan` of .NET. Undefined if the text
 * is no duration.
 */
export function readIsoDuration(text: string): ReadDuration | undefined {
  const pattern = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
  const match = pattern.exec(text);
  const span = timeSpan.exec(text)?.slice(1) ?? [];
  if (span.length === 0 && (match === null || !/\d/.test(text))) return undefined;
  const parts = span.length === 0 ? (match?.slice(1) ?? []) : [undefined, undefined, undefined, ...span];
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) =>
    Number(part ?? 0),
  );
  const allDays = years * 365 + months * 30 + weeks * 7 + days;
  const durationMs = allDays * dayMs + hours * hourMs + minutes * minuteMs + Math.round(seconds * secondMs);
  return { text, durationMs: durationMs > longestMs ? null : durationMs, isCalendar: years + months > 0 };
}
