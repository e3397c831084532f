import { escapeXml } from "./visible.ts";

/** HTML or SVG that is safe to put into a page. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | readonly Markup[];

/** A template for HTML: every string that is put into it is escaped, markup is not. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return {
    markup: strings.map((text, index) => (index === 0 ? text : asText(parts[index - 1] ?? "") + text)).join(""),
  };
}

/** Says of a text that it is HTML already. */
export function trusted(text: string): Markup {
  return { markup: text };
}

export const nothing: Markup = { markup: "" };

function asText(part: Part): string {
  if (typeof part === "number") return String(part);
  if (typeof part === "string") return escapeXml(part);
  return "markup" in part ? part.markup : part.map((each) => each.markup).join("");
}
