import { readFileSync } from "node:fs";

import type { DiagnosticCode } from "../diagnostics/catalogue.ts";

/** The text of a file of the package, by its path from the package's folder. */
export function readPackaged(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
}

/** The section of a code in the packaged docs, without its anchor. */
export function pageOf(code: DiagnosticCode): string {
  const [, page = ""] = readPackaged("docs/diagnostics.md").split(`<a id="${code.toLowerCase()}"></a>\n\n`);
  return `${(page.split('\n<a id="rd')[0] ?? "").trimEnd()}\n`;
}

export function ownVersion(): string {
  return (JSON.parse(readPackaged("package.json")) as { readonly version: string }).version;
}
