import { isShallow, plainDataLimits } from "../declare/plain-data.ts";
import { type Checked, accepted, refuseWhole } from "../diagnostics/diagnostic.ts";

/**
 * Reads the text of an export, which may be some hundred megabytes.
 *
 * The reader's own message is not passed on, since it quotes the text, and an export holds password hashes.
 *
 * @returns the data, or one diagnostic with the line and the column where the text stops being JSON
 */
export function parseJson(text: string, source: string): Checked<unknown> {
  // `rabbitmqctl` and editors may write a byte order mark. Source: `rabbit_misc:strip_bom/1` in
  // `rabbit_mgmt_wm_definitions:decode/1`.
  const content = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (!/\S/.test(content)) {
    return refuseWhole("RD004", "the file holds nothing but blanks", `export ${source} again`);
  }
  try {
    const value: unknown = JSON.parse(content);
    if (isShallow(value)) return accepted(value);
    const message = `the JSON is nested deeper than ${plainDataLimits.depth} levels`;
    return refuseWhole("RD005", message, `export ${source} again: no export is nested like this`);
  } catch {
    const end = whereJsonEnds(content);
    const rest = content.slice(end).trimEnd();
    const { line, column } = positionOf(content, end);
    return rest === ""
      ? refuseWhole(
          "RD002",
          `the JSON looks truncated: it ends at line ${line}, column ${column} in the middle of a value`,
          `export ${source} again, and look whether the disk was full or the download was cut`,
        )
      : refuseWhole(
          "RD002",
          `this is no JSON from line ${line}, column ${column} on`,
          "correct the text there, or export again",
        );
  }
}

/** Parses JSON inside a larger document or an answer. Undefined if it is not valid. */
export function parseInnerJson(text: string): unknown {
  const value = jsonIn(text);
  return isShallow(value) ? value : undefined;
}

/** Parses JSON of any depth. Undefined if it is not valid. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Lines and columns count from 1, as editors do. */
function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", start)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
}

const blanks = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** The possible rest of a value at a text's early end: half a word, or a number without its digits. */
const cutScalar =
  /(?:-?(?:(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?[eE][+-]?))?|t(?:r(?:u)?)?|f(?:a(?:l(?:s)?)?)?|n(?:u(?:l)?)?)$/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const cutEscape = /\\(?:u[0-9a-fA-F]{0,3})?$/y;

/**
 * The tokens that may follow. `first` is a value or the end of an empty list. `firstKey` is a key or the end of an
 * empty object.
 */
type Expected = "value" | "first" | "key" | "firstKey" | "colon" | "next";

/**
 * The offset from which a text is no longer JSON, or its length if only the rest is missing. It runs only after the
 * built-in parser has refused the text: that one is faster, but gives no place.
 */
function whereJsonEnds(text: string): number {
  const open: ("[" | "{")[] = [];
  let expected: Expected = "value";
  for (let at = skip(text, 0); ; at = skip(text, at)) {
    if (at === text.length) return at;
    const character = text[at];
    const container = open.at(-1);
    if (expected === "next" && container !== undefined && character === ",") {
      expected = container === "[" ? "value" : "key";
      at += 1;
    } else if (character === closing(container, expected)) {
      open.pop();
      expected = "next";
      at += 1;
    } else if (expected === "colon" && character === ":") {
      expected = "value";
      at += 1;
    } else if (isValue(expected) && (character === "[" || character === "{")) {
      open.push(character);
      expected = character === "[" ? "first" : "firstKey";
      at += 1;
    } else if (character === '"' && (isValue(expected) || isKey(expected))) {
      const end = stringEnd(text, at);
      if (!end.closed) return end.at;
      expected = isKey(expected) ? "colon" : "next";
      at = end.at;
    } else if (isValue(expected)) {
      if (matchedLength(cutScalar, text, at) > 0) return text.length;
      const length = matchedLength(scalar, text, at);
      if (length === 0) return at;
      expected = "next";
      at += length;
    } else return at;
  }
}

/**
 * Where a string ends or stops being valid. It is a loop, because a regular expression fails on a string of some
 * megabytes.
 */
function stringEnd(text: string, start: number): { readonly closed: boolean; readonly at: number } {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '"') return { closed: true, at: at + 1 };
    if (character < " ") return { closed: false, at };
    if (character === "\\") {
      const length = matchedLength(escape, text, at);
      if (length === 0) return { closed: false, at: matchedLength(cutEscape, text, at) > 0 ? text.length : at };
      at += length - 1;
    }
  }
  return { closed: false, at: text.length };
}

function closing(container: "[" | "{" | undefined, expected: Expected): string | null {
  if (container === "[") return expected === "next" || expected === "first" ? "]" : null;
  return container === "{" && (expected === "next" || expected === "firstKey") ? "}" : null;
}

function isValue(expected: Expected): boolean {
  return expected === "value" || expected === "first";
}

function isKey(expected: Expected): boolean {
  return expected === "key" || expected === "firstKey";
}

function skip(text: string, at: number): number {
  return at + matchedLength(blanks, text, at);
}

function matchedLength(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
