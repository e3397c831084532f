import { catalogue } from "../diagnostics/catalogue.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type Markup, markup, nothing } from "./markup.ts";

/** The meaning of each code on the page. The links of the warnings lead here, so the page needs no other one. */
export function renderCodes(warnings: readonly Diagnostic[]): Markup {
  const codes = [...new Set(warnings.map(({ code }) => code))].toSorted();
  if (codes.length === 0) return nothing;
  const entries = codes.map((code) => {
    const { title, explanation } = catalogue[code];
    return markup`<section id="${code.toLowerCase()}"><h3>${code}: ${title}</h3><p>${explanation}</p></section>`;
  });
  return markup`<section id="codes" class="codes"><h2>The codes of the warnings</h2>${entries}</section>`;
}
