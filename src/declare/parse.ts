import { docsPage } from "../diagnostics/docs-site.ts";
import { Lexer, parseDocument } from "yaml";

import { type Checked, accepted, refuseWhole } from "../diagnostics/diagnostic.ts";
import { duplicateInJson, duplicateInYaml } from "./duplicate-key.ts";
import { isMapping } from "./read-duration.ts";
import { plainData } from "./plain-data.ts";
import { maskCredentials } from "../diagnostics/mask-credentials.ts";

const declareSomething = `declare name, sources and consumers, as in ${docsPage("declaration")}`;
const correctIt = "correct the text there";

/**
 * Reads the text of a JSON or YAML declaration into plain data.
 *
 * It refuses duplicate keys, because only one of two values for a key would count.
 *
 * @returns the data, not yet checked against the schema; or the place where the text is not well-formed
 */
export function parseText(given: string, format: "json" | "yaml"): Checked<unknown> {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  if (text.trim() === "") return refuseWhole("RD004", "the file is empty", declareSomething);
  const data = format === "json" ? readJson(text) : readYaml(text);
  if (!data.ok) return data;
  if (data.value === null || data.value === undefined)
    return refuseWhole("RD004", "the file has only blanks and comments", declareSomething);
  // Aliases may make a list that contains itself.
  return plainData(data.value);
}

function readJson(text: string): Checked<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    if (isJsonWithExtras(text)) {
      const help = "remove them, or rename the file to .yaml and begin each comment with #";
      return refuseWhole("RD002", "JSON has no comments and no comma before a closing bracket", help);
    }
    const asYaml = text.length <= longestLookedAt ? readYaml(text) : null;
    if (asYaml?.ok === true && isMapping(asYaml.value))
      return refuseWhole(
        "RD002",
        "this is YAML, and no JSON",
        "rename the file to .yaml, or write each key and each text in double quotes",
      );
    // The reader's quotation of the text may start or end in the middle of a password. So it is left out.
    const problem = (cause as Error).message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, "");
    return refuseWhole("RD002", `this is not JSON: ${problem}`, correctIt);
  }
  const duplicate = duplicateInJson(text);
  return duplicate === null ? accepted(value) : givenTwice(text, duplicate);
}

/** A text of JSON; or a comment or a comma before a closing bracket, which only other forms of JSON have. */
const extras = /("(?:[^"\\]|\\.)*"?)|\/\/[^\n]*|#[^\n]*|\/\*.*?(?:\*\/|$)|,(?=\s*[\]}])/gs;

function isJsonWithExtras(text: string): boolean {
  try {
    JSON.parse(text.replaceAll(extras, "$1").replaceAll(extras, "$1"));
    return true;
  } catch {
    return false;
  }
}

/** No person wrote a longer text. */
const longestLookedAt = 100_000;

/**
 * The answer to a routing key that begins with a wildcard and has no quotes. YAML takes * for the name of an anchor, and
 * # for a comment.
 */
function bareWildcard(text: string): Checked<never> | null {
  if (text.length > longestLookedAt) return null;
  for (const { 0: whole, 1: alias, 2: key = alias ?? "", index } of text.matchAll(wildcards)) {
    const isComment = text.slice(text.lastIndexOf("\n", index) + 1, index).includes("#");
    if (isComment || text.includes(`&${alias?.slice(1)}`)) continue;
    return refuseWhole(
      "RD002",
      `YAML gives ${key[0]} a meaning of its own at ${placeAt(text, index + whole.search(/[*#]/))}`,
      `write it in quotes: ${key === "*all" ? '"all"' : `"${key}"`}`,
    );
  }
  return null;
}

/** The beginning of a value with *, and of one in a list with #. */
const wildcards = /(?:[[,]|[:-] )[ \t]*(\*[\w.*#-]*)(?=\s*[\],}]|[ \t]*$)|[[,][ \t]*(#[\w.*#-]*)[ \t]*[\],]/gm;

/** The reader needs a kilobyte for every few tokens, so more of them would use up the memory. */
const mostTokens = 4_000_000;

function readYaml(text: string): Checked<unknown> {
  try {
    let tokens = 0;
    for (const _ of new Lexer().lex(text)) tokens += 1;
    if (tokens > mostTokens) {
      const counted = `${tokens.toLocaleString("en")} tokens; at most ${mostTokens.toLocaleString("en")} are read`;
      return refuseWhole("RD005", `this YAML has ${counted}`, "write it as JSON, or divide it");
    }
    const document = parseDocument(text, { uniqueKeys: false, prettyErrors: true, version: "1.2", merge: true });
    // The reader only warns of an unknown tag, and then drops it.
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) {
      const place = problem.linePos?.[0];
      const where = place === undefined ? "" : ` at line ${place.line}, column ${place.col}`;
      if (problem.code === "MULTIPLE_DOCS")
        return refuseWhole("RD002", `another YAML document begins${where}`, "move it to a file of its own");
      const help = problem.code === "TAB_AS_INDENT" ? "indent with blanks" : correctIt;
      return (
        bareWildcard(text) ?? refuseWhole("RD002", `this is not YAML${where}: ${firstLine(problem.message)}`, help)
      );
    }
    const duplicate = duplicateInYaml(document);
    if (duplicate !== null) return givenTwice(text, duplicate);
    return accepted(document.toJS({ maxAliasCount: 100 }));
  } catch (cause) {
    // The reader calls itself for each level.
    if (cause instanceof RangeError)
      return refuseWhole("RD005", "this YAML is nested too deep to be read", "declare it with fewer levels");
    return (
      bareWildcard(text) ?? refuseWhole("RD002", `this is not YAML: ${firstLine((cause as Error).message)}`, correctIt)
    );
  }
}

function givenTwice(text: string, offset: number): Checked<never> {
  return refuseWhole("RD002", `a key stands twice at ${placeAt(text, offset)}`, "remove one of the two");
}

function placeAt(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

function firstLine(text: string): string {
  const message = maskCredentials(text);
  return (message.split("\n")[0] ?? message).replace(/:$/, "").replace(/ at line \d+, column \d+/, "");
}
