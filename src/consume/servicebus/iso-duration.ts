const pattern = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Service Bus's way to say for ever is the longest `TimeSpan` of .NET; whoever sets a little less means the same. */
const forEverMs = 10_000_000 * 86_400_000;

/** Reads a duration of ISO 8601 as Service Bus gives it. @returns milliseconds, null for ever, NaN for anything else */
export function isoDurationMs(text: string | undefined): number | null {
  const [, days, hours, minutes, seconds] = pattern.exec(text ?? "") ?? [];
  if (![days, hours, minutes, seconds].some((part) => part !== undefined)) return Number.NaN;
  const wholeMinutes = (Number(days ?? 0) * 24 + Number(hours ?? 0)) * 60 + Number(minutes ?? 0);
  const durationMs = wholeMinutes * 60_000 + Number(seconds ?? 0) * 1_000;
  return durationMs >= forEverMs ? null : durationMs;
}
