import { distance } from "fastest-levenshtein";

import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { catalogue } from "../diagnostics/catalogue.ts";
import { examples } from "../diagnostics/examples.ts";
import { diagnosticCodes, renderPageText } from "../diagnostics/page.ts";
import { exitCodes } from "./run.ts";

/**
 * Prints the page of a diagnostic's code.
 *
 * @param code such as `RD101`; lower case is fine
 * @returns the exit code: wrong usage where no diagnostic has the code
 */
export function explainCommand(code: string, options: { readonly json?: boolean }): number {
  const wanted = code.trim().toUpperCase();
  const found = diagnosticCodes.find((each) => each === wanted);
  if (found === undefined) return unknownCode(code, wanted, options);
  process.stdout.write(options.json === true ? json(entryOf(found)) : renderPageText(found));
  return exitCodes.fine;
}

function entryOf(code: DiagnosticCode): object {
  return { code, ...catalogue[code], docs: `docs/diagnostics.md#${code.toLowerCase()}`, examples: examples[code] };
}

function unknownCode(code: string, wanted: string, options: { readonly json?: boolean }): number {
  const nearest = diagnosticCodes
    .map((each) => ({ each, edits: distance(each, wanted.slice(0, 100)) }))
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ each }) => each);
  const message = `no diagnostic has the code ${JSON.stringify(code)}; the nearest are ${nearest.join(", ")}`;
  if (options.json === true) process.stdout.write(json({ ok: false, usage: message }));
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
