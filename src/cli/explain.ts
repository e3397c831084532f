import { catalogue, diagnosticCodes } from "../diagnostics/catalogue.ts";
import { distance } from "../diagnostics/distance.ts";
import { docsOfCode } from "../diagnostics/docs-site.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { pageOf } from "./read-packaged.ts";
import { usage } from "./refuse.ts";

/**
 * Prints the page of a diagnostic's code.
 *
 * @param code such as `RD101`; lower case is fine, and so is the number alone
 * @returns the exit code: wrong usage if no diagnostic has the code
 */
export function explainCommand(code: string, options: { readonly json?: boolean }): number {
  const wanted = code.trim().toUpperCase().replace(/^\d/, "RD$&");
  const found = diagnosticCodes.find((each) => each === wanted);
  if (found === undefined) {
    const edits = (known: string): number => distance(known, wanted.slice(0, 100));
    const nearest = diagnosticCodes.toSorted((left, right) => edits(left) - edits(right)).slice(0, 3);
    void usage(`no diagnostic has the code ${JSON.stringify(code)}; the nearest are ${nearest.join(", ")}`, options);
    return exitCodes.usage;
  }
  const [docs, page] = [docsOfCode(found), pageOf(found)];
  void print(options.json === true ? { code: found, ...catalogue[found], docs, page } : `${page}\n${docs}\n`);
  return exitCodes.fine;
}
