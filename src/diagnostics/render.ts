import { styleText } from "node:util";

import type { Diagnostic } from "./diagnostic.ts";
import { RefusedError } from "./diagnostic.ts";
import type { Locate } from "./region.ts";
import type { Reported } from "./reported.ts";

/**
 * Renders diagnostics for a terminal, one block each:
 * code and message, the path with its value, the reasons, the fix.
 *
 * @param options.locate finds the line and the column in the file, which terminals and editors make a link of
 */
export function renderDiagnostics(
  diagnostics: readonly Reported[],
  options: { readonly colour?: boolean; readonly file?: string; readonly locate?: Locate | undefined } = {},
): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string): string =>
    options.colour === true ? styleText(format, text, { validateStream: false }) : text;
  const blocks = diagnostics.map((each) => {
    const heading = paint(each.severity === "error" ? "red" : "yellow", `${each.severity}[${each.code}]`);
    const name = each.place?.file ?? options.file;
    const region = each.place?.region ?? (options.file === undefined ? undefined : options.locate?.(each.path));
    const file = region === undefined ? name : `${name}:${region.line}:${region.column}`;
    const place = [file, each.path].filter((part) => part !== undefined && part !== "").join(": ");
    const value = each.value === undefined ? "" : ` = ${renderValue(each.value)}`;
    return [
      `${heading}: ${paint("bold", each.message)}`,
      ...(place === "" ? [] : [`  at   ${place}${value}`]),
      ...each.notes.map((note) => `  note ${note}`),
      ...(each.help === undefined ? [] : [`  ${paint("cyan", "fix")}  ${each.help}`]),
      paint("dim", `  see  ${each.docs}`),
    ].join("\n");
  });
  return blocks.join("\n\n");
}

/** What is wrong, why, and what to do, as plain text without the place: a line each. */
export function renderMessage({ message, notes, help }: Reported): string {
  return [message, ...notes, ...(help === undefined ? [] : [`fix: ${help}`])].join("\n");
}

/** The same for tools that show nothing of the value: where a diagnostic is about many, all of them are named. */
export function renderMessageWithNames(each: Reported): string {
  const { value } = each;
  const isCut = Array.isArray(value) && value.length > 10 && value.every((name) => typeof name === "string");
  return isCut ? `${renderMessage(each)}\nall ${value.length}: ${value.join(", ")}` : renderMessage(each);
}

/** Renders a value of the user's on one line, cut where it is long. */
export function renderValue(value: unknown): string {
  const text = typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? String(value));
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}

/** The error to throw for diagnostics that refuse what was asked. */
export function refused(diagnostics: readonly Diagnostic[]): RefusedError {
  return new RefusedError(diagnostics, `\n${renderDiagnostics(diagnostics)}`);
}
