import { type Diagnostic, RefusedError } from "./diagnostic.ts";
import { type Paint, paintFor } from "./paint.ts";
import type { Locate } from "./region.ts";
import type { Reported } from "./reported.ts";
import { visible, visibleValue } from "./visible.ts";

/**
 * Renders diagnostics for a terminal, one block each: code and message, the path with its value, the reasons, the fix.
 * A problem at several places is one block, because its text is the same for each of them. It makes texts of others visible before it adds colours.
 *
 * @param options.locate finds the line and the column in the file; terminals and editors turn them into a link
 */
export function renderDiagnostics(
  diagnostics: readonly Reported[],
  options: { readonly colour?: boolean | Paint; readonly file?: string; readonly locate?: Locate | undefined } = {},
): string {
  const paint = paintFor(options.colour);
  const placeOf = (each: Reported): string => {
    const name = each.place?.file ?? options.file;
    const region = each.place?.region ?? (options.file === undefined ? undefined : options.locate?.(each.path));
    const file = region === undefined ? name : `${name}:${region.line}:${region.column}`;
    const place = [file, each.path].filter((part) => part !== undefined && part !== "").join(": ");
    return place === "" ? "" : `${visible(place)}${each.value === undefined ? "" : ` = ${renderValue(each.value)}`}`;
  };
  const shown = mostUrgent(diagnostics);
  const textOf = (each: Reported): unknown[] => [each.severity, each.code, each.message, notesOf(each), each.help];
  const alike = Map.groupBy(shown, (each) => JSON.stringify(textOf(each)));
  const blocks = [...alike.values()].map((all) => {
    const each = all[0] as Reported;
    const places = all.map(placeOf).filter((place) => place !== "");
    const colour = each.waived !== undefined ? "dim" : each.severity === "error" ? "red" : "yellow";
    const heading = paint(colour, `${each.waived === undefined ? each.severity : "waived"}[${each.code}]`);
    return [
      `${heading}: ${paint("bold", visible(each.message))}`,
      ...places.map((place) => `  at   ${place}`),
      ...notesOf(each).map((note) => `  note ${visible(note)}`),
      ...(each.help === undefined ? [] : [`  ${paint("cyan", "fix")}  ${visible(each.help)}`]),
      paint("dim", `  see  ${each.docs}`),
    ].join("\n");
  });
  const left = diagnostics.length - shown.length;
  if (left > 0) blocks.push(`… and ${left.toLocaleString("en")} more like these; --json has all of them`);
  return blocks.join("\n\n");
}

/** People do not read thousands, and many problems most often have one cause. */
const mostShown = 50;

/** Errors come first if some diagnostics are left out, so that a refusal always shows its reason. */
function mostUrgent(diagnostics: readonly Reported[]): readonly Reported[] {
  if (diagnostics.length <= mostShown) return diagnostics;
  const ofSeverity = (wanted: Reported["severity"]): readonly Reported[] =>
    diagnostics.filter(({ severity }) => severity === wanted);
  return [...ofSeverity("error"), ...ofSeverity("warning")].slice(0, mostShown);
}

function notesOf({ notes, waived }: Reported): readonly string[] {
  return waived === undefined ? notes : [...notes, `waived ${waived}`];
}

/** The problem, the reasons and the fix as plain text, a line each, without the place. */
export function renderMessage(each: Reported): string {
  const { message, help } = each;
  return [message, ...notesOf(each), ...(help === undefined ? [] : [`fix: ${help}`])].map(visible).join("\n");
}

/** The same for tools that do not show the value. If the value is a long list of names, one more line has them all. */
export function renderMessageWithNames(each: Reported): string {
  const { value } = each;
  const isCut = Array.isArray(value) && value.length > 10 && value.every((name) => typeof name === "string");
  return isCut ? `${renderMessage(each)}\nall ${value.length}: ${visible(value.join(", "))}` : renderMessage(each);
}

/** Renders a user's value on one line. A long one is cut. */
export function renderValue(value: unknown): string {
  const text = visibleValue(value);
  if (text.length <= 80) return text;
  const length = typeof value === "string" && value.length > 1_000 ? ` (${value.length} characters)` : "";
  // A cut may leave half a character.
  return `${text.slice(0, 77).replace(/[\uD800-\uDBFF]$/, "")}…${length}`;
}

/** Throws the error for a problem, if there is one. */
export function refuseIf(problem: Diagnostic | null): void {
  if (problem !== null) throw refused([problem]);
}

/** The error to throw for diagnostics that refuse a request. */
export function refused(diagnostics: readonly Diagnostic[]): RefusedError {
  return new RefusedError(diagnostics, `\n${renderDiagnostics(diagnostics)}`);
}
