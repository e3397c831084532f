import { readFileSync } from "node:fs";

import type { DiagnosticCode } from "../diagnostics/catalogue.ts";

/** The text of a file of the package, by its path from the package's folder. */
export function readPackaged(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
}

/** The page of a code in the packaged docs. */
export function pageOf(code: DiagnosticCode): string {
  return readPackaged(`docs/diagnostics/${code.toLowerCase()}.md`);
}

export function ownVersion(): string {
  return (JSON.parse(readPackaged("package.json")) as { readonly version: string }).version;
}
