import { distance } from "../diagnostics/distance.ts";

import { type DiagnosticCode, catalogue, diagnosticCodes } from "../diagnostics/catalogue.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { pageOf } from "./read-packaged.ts";
import { usage } from "./refuse.ts";

/**
 * Prints the page of a diagnostic's code.
 *
 * @param code such as `RD101`; lower case is fine
 * @returns the exit code: wrong usage if no diagnostic has the code
 */
export function explainCommand(code: string, options: { readonly json?: boolean }): number {
  const wanted = code.trim().toUpperCase();
  const found = diagnosticCodes.find((each) => each === wanted);
  if (found === undefined) return unknownCode(code, wanted, options);
  void print(options.json === true ? entryOf(found) : pageOf(found));
  return exitCodes.fine;
}

function entryOf(code: DiagnosticCode): object {
  return { code, ...catalogue[code], docs: `docs/diagnostics.md#${code.toLowerCase()}`, page: pageOf(code) };
}

function unknownCode(code: string, wanted: string, options: { readonly json?: boolean }): number {
  const nearest = diagnosticCodes
    .map((each) => ({ each, edits: distance(each, wanted.slice(0, 100)) }))
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ each }) => each);
  const message = `no diagnostic has the code ${JSON.stringify(code)}; the nearest are ${nearest.join(", ")}`;
  void usage(message, options);
  return exitCodes.usage;
}
