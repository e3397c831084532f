/**
 * The milliseconds of an ISO 8601 duration of days, hours, minutes and seconds; null for any other text. Years, months
 * and weeks have no fixed length in `xs:duration`. The service takes a .NET TimeSpan, which has none of them.
 */
export function durationMs(text: string): number | null {
  const match = /^P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (match === null || text === "P") return null;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((each) => Number(each ?? 0));
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000);
}
