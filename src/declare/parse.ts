import { parseDocument } from "yaml";

import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/**
 * Reads the text of a JSON or YAML declaration into plain data.
 *
 * Both are read with duplicate keys refused: of two values given for one key only one would count.
 *
 * @returns the data, not yet checked against the schema; or where the text is not well-formed
 */
export function parseText(text: string, format: "json" | "yaml"): Checked<unknown> {
  if (text.trim() === "") return refuse("RD004", "the file is empty");
  if (format === "json") {
    try {
      JSON.parse(text);
    } catch (cause) {
      return refuse("RD002", `this is no JSON: ${(cause as Error).message}`);
    }
  }
  // JSON is YAML, and the YAML reader knows about duplicate keys and about lines.
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true, version: "1.2" });
  // A tag that nobody knows is only a warning to the reader, which then drops it.
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    const place = problem.linePos?.[0];
    const where = place === undefined ? "" : ` at line ${place.line}, column ${place.col}`;
    const isDuplicate = problem.code === "DUPLICATE_KEY";
    return refuse(
      "RD002",
      isDuplicate
        ? `a key is given twice${where}`
        : `this is no ${format.toUpperCase()}${where}: ${firstLine(problem.message)}`,
      isDuplicate ? "remove one of the two" : undefined,
    );
  }
  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    return refuse("RD002", `this is no ${format.toUpperCase()}: ${firstLine((cause as Error).message)}`);
  }
  if (data === null || data === undefined) return refuse("RD004", "the file holds nothing but blanks and comments");
  return { ok: true, value: data, warnings: [] };
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? message).replace(/:$/, "").replace(/ at line \d+, column \d+/, "");
}

function refuse(code: "RD002" | "RD004", message: string, help?: string): Checked<never> {
  const defaultHelp =
    code === "RD004" ? "declare name, sources and consumers; the README has an example" : "mend the text there";
  return { ok: false, diagnostics: [diagnostic(code, { path: "", message, help: help ?? defaultHelp })] };
}
