import { visible } from "../diagnostics/visible.ts";

/** HTML or SVG that is safe to put into a page. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | readonly Markup[];

/** A template for HTML. It escapes every string that it gets, but no markup. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return {
    markup: strings.map((text, index) => (index === 0 ? text : asText(parts[index - 1] ?? "") + text)).join(""),
  };
}

/** Marks a text as HTML. */
export function trusted(text: string): Markup {
  return { markup: text };
}

export const nothing: Markup = { markup: "" };

function asText(part: Part): string {
  if (typeof part === "number") return String(part);
  if (typeof part === "string") return escapeXml(part);
  return "markup" in part ? part.markup : part.map((each) => each.markup).join("");
}

/** Escapes the special characters of XML and HTML, for text and quoted attributes. */
export function escapeXml(text: string): string {
  return visible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
