/** The longest duration that Azure knows, and how it says that there is no limit. Source: reference of .NET, `TimeSpan.MaxValue`. */
export const forEver = "P10675199DT2H48M5.4775807S";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1_000;

/**
 * Writes a duration as Azure takes it, in ISO 8601: `PT30S`, `P14D`, `P1DT12H`, `PT0.25S`. Never in months, which it would take as well.
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
