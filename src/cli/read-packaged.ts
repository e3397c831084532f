import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { DiagnosticCode } from "../diagnostics/catalogue.ts";

/** The place of a file of the package, by its path from the package's folder. */
export function packagedFile(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}

/** The text of a file of the package. */
export function readPackaged(file: string): string {
  return readFileSync(packagedFile(file), "utf8");
}

/** The page of a code in the packaged docs. */
export function pageOf(code: DiagnosticCode): string {
  return readPackaged(`docs/diagnostics/${code.toLowerCase()}.md`);
}

export function ownVersion(): string {
  return (JSON.parse(readPackaged("package.json")) as { readonly version: string }).version;
}
