import { readFileSync } from "node:fs";

import { createExportReader } from "../../src/operate/ndjson.ts";

/** The letters of an exported file, and the problem that its reader found. */
export function exportedIn(file: string) {
  const reader = createExportReader();
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return { exported: lines.flatMap((line) => reader.take(line) ?? []), problem: reader.problem() };
}
