import { catalogue, diagnosticCodes } from "../diagnostics/catalogue.ts";
import { distance } from "../diagnostics/distance.ts";
import { docsOfCode, docsPage } from "../diagnostics/docs-site.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { pageOf } from "./read-packaged.ts";
import { usage } from "./refuse.ts";

const words = (text: string): string => ` ${text}`.toLowerCase().replaceAll(/[^a-z]+/g, " ");

/** The codes that have a word in their titles, and then those that have it in their texts. */
function codesAbout(word: string): string {
  const having = (part: "title" | "explanation"): string[] =>
    diagnosticCodes
      .filter((code) => words(word).length > 3 && words(catalogue[code][part]).includes(words(word)))
      .map((code) => `${code} (${catalogue[code].title})`);
  const found = [...new Set([...having("title"), ...having("explanation")])].slice(0, 5);
  const pages = `${docsPage("diagnostics")} has all codes, and ${docsPage("declaration")} all properties`;
  return found.length === 0 ? pages : `about it are ${found.join(", ")}; ${pages}`;
}

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
    const others = /\d/.test(wanted) ? `the nearest are ${nearest.join(", ")}` : codesAbout(code);
    void usage(`no diagnostic has the code ${JSON.stringify(code)}; ${others}`, options);
    return exitCodes.usage;
  }
  const [docs, page] = [docsOfCode(found), pageOf(found)];
  void print(options.json === true ? { code: found, ...catalogue[found], docs, page } : `${page}\n${docs}\n`);
  return exitCodes.fine;
}
