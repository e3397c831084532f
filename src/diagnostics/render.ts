import { styleText } from "node:util";

import type { Diagnostic } from "./diagnostic.ts";
import { RefusedError } from "./diagnostic.ts";

/**
 * Renders diagnostics for a terminal, one block each:
 * code and message, the path with its value, the reasons, the fix.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: { readonly colour?: boolean; readonly file?: string } = {},
): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string): string =>
    options.colour === true ? styleText(format, text, { validateStream: false }) : text;
  const blocks = diagnostics.map((each) => {
    const heading = paint(each.severity === "error" ? "red" : "yellow", `${each.severity}[${each.code}]`);
    const place = [options.file, each.path].filter((part) => part !== undefined && part !== "").join(": ");
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

/** Renders a value of the user's on one line, cut where it is long. */
export function renderValue(value: unknown): string {
  const text = typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? String(value));
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}

/** The error to throw for diagnostics that refuse what was asked. */
export function refused(diagnostics: readonly Diagnostic[]): RefusedError {
  return new RefusedError(diagnostics, `\n${renderDiagnostics(diagnostics)}`);
}
