import { parseText } from "../declare/parse.ts";
import { isMapping } from "../declare/read-duration.ts";

/** True for the data of a declaration, right or wrong. No other file that Redeliver reads has these two keys. */
export function isDeclaration(data: unknown): boolean {
  return isMapping(data) && typeof data["name"] === "string" && isMapping(data["consumers"]);
}

/** True for the text of a declaration in any form. No declaration is so large that YAML takes long to read it. */
export function isDeclarationText(text: string): boolean {
  if (/\bdefineSystem\(/.test(text)) return true;
  const parsed = text.length < 2 ** 20 ? parseText(text, "yaml") : null;
  return parsed?.ok === true && isDeclaration(parsed.value);
}
