import { RE2JS } from "re2js";

/**
 * Patterns of policies are PCRE (Perl-compatible regular expressions). The same characters may mean something else in
 * another engine. So each pattern is translated piece by piece. A pattern without a counterpart counts as unreadable,
 * and its meaning is never guessed.
 *
 * The patterns may come from a stranger's broker. So they run on RE2, which needs time in proportion to the length of a
 * name. JavaScript's own engine would take minutes for `^(\w+_?)+\.dlq$` and one long name.
 *
 * Source: `rabbit_policy:matches/3`, which calls `re:run/3`; https://www.pcre.org/original/doc/html/pcrepattern.html
 */

/** Tests if a pattern matches a name; null for an unreadable pattern. */
type PatternTest = ((name: string) => boolean) | null;

const compiled = new Map<string, PatternTest>();

export function patternTestOf(pattern: string): PatternTest {
  let test = compiled.get(pattern);
  if (test === undefined) {
    test = compile(pattern);
    if (compiled.size > 100_000) compiled.clear();
    compiled.set(pattern, test);
  }
  return test;
}

export function isPatternReadable(pattern: string): boolean {
  return patternTestOf(pattern) !== null;
}

function compile(pattern: string): PatternTest {
  // Redeliver's own patterns name one queue, and need no engine.
  const [, exact] = /^\^((?:[\w:-]|\\\.)*)\$$/.exec(pattern) ?? [];
  if (exact !== undefined) {
    const wanted = exact.replaceAll("\\", "");
    return (name) => name === wanted;
  }
  const flagsOf: Readonly<Record<string, number>> = {
    i: RE2JS.CASE_INSENSITIVE,
    m: RE2JS.MULTILINE,
    s: RE2JS.DOTALL,
  };
  const [options = "", letters = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const flags = [...letters].reduce((sum, letter) => sum | (flagsOf[letter] ?? 0), 0);
  return compileWith(pattern.slice(options.length), flags);
}

/**
 * RE2 cannot look ahead. At the very beginning, where people write `^(?!amq\.).*`, a second pattern on the same name
 * replaces the lookahead. Anywhere else the pattern is unreadable.
 */
function compileWith(pattern: string, flags: number): PatternTest {
  const look = /^\^\(\?([!=])/.exec(pattern);
  if (look !== null) {
    const end = closingOf(pattern, 1);
    const [inner, rest] = [pattern.slice(look[0].length, end), pattern.slice(end + 1)];
    // Without brackets around it, a second alternative would not start at the beginning of the name.
    if (end === -1 || hasAlternatives(rest)) return null;
    const [ahead, then] = [compileWith(`^(?:${inner})`, flags), compileWith(`^${rest}`, flags)];
    if (ahead === null || then === null) return null;
    const isWanted = look[1] === "=";
    return (name) => ahead(name) === isWanted && then(name);
  }
  const source = translate(pattern);
  if (source === null) return null;
  try {
    const expression = RE2JS.compile(source, flags);
    return (name) => expression.matcher(name).find();
  } catch {
    return null;
  }
}

/** The index of the bracket that closes the one at `open`; -1 if there is none. */
function closingOf(pattern: string, open: number): number {
  let depth = 0;
  for (const [index, character] of unescaped(pattern)) {
    if (index < open) continue;
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

function hasAlternatives(pattern: string): boolean {
  let depth = 0;
  for (const [, character] of unescaped(pattern)) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "|" && depth === 0) return true;
  }
  return false;
}

/** The characters that may have a meaning: neither escaped nor in a set. */
function* unescaped(pattern: string): Iterable<readonly [index: number, character: string]> {
  for (const match of pattern.matchAll(/\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|[^\]\\])*\]|([^])/g)) {
    if (match[1] !== undefined) yield [match.index, match[1]];
  }
}

/** The pieces of a pattern outside brackets. A character that matches no piece stands for itself. */
const pieces: readonly { readonly at: RegExp; readonly give: (match: RegExpExecArray) => string | null }[] = [
  // Escapes that RE2 has in the same way.
  { at: /\\(?:x[\da-fA-F]{2}|[bB])/uy, give: ([escape]) => escape },
  { at: /\\Q(.*?)(?:\\E|$)/suy, give: ([, text = ""]) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`) },
  { at: /\\E/uy, give: () => "" },
  { at: /\\A/uy, give: () => String.raw`\A` },
  { at: /\\z/uy, give: () => String.raw`\z` },
  { at: /\\Z/uy, give: () => String.raw`\n?\z` },
  { at: /\\[pPx1-9bB][^]*/uy, give: () => null },
  { at: /\\([^])/uy, give: ([, letter = ""]) => escaped(letter) },
  { at: /\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]/uy, give: ([set]) => translateSet(set) },
  { at: /\(\?#[^)]*\)/uy, give: () => "" },
  { at: /\(\?P</uy, give: () => "(?<" },
  { at: /\{\d+(?:,\d*)?\}/uy, give: ([quantifier]) => quantifier },
  { at: /[\]{}]/uy, give: ([bracket]) => `\\${bracket}` },
];

function translate(pattern: string): string | null {
  let source = "";
  for (let index = 0; index < pattern.length;) {
    const next = pieceAt(pattern, index);
    if (next === null) return null;
    source += next.text;
    index += next.length;
  }
  return source;
}

function pieceAt(pattern: string, index: number): { readonly text: string; readonly length: number } | null {
  for (const { at, give } of pieces) {
    at.lastIndex = index;
    const match = at.exec(pattern);
    if (match === null) continue;
    const text = give(match);
    return text === null ? null : { text, length: match[0].length };
  }
  const character = String.fromCodePoint(pattern.codePointAt(index) ?? 0);
  return { text: character, length: character.length };
}

/** A backslash before a character that is no letter or digit removes its meaning. */
function escaped(letter: string): string | null {
  if (/[dDwWsSnrtf]/.test(letter)) return `\\${letter}`;
  if (letter === "h") return String.raw`[ \t]`;
  if (/[\p{L}\p{N}]/u.test(letter)) return null;
  return /[\\^$.*+?()[\]{}|/]/.test(letter) ? `\\${letter}` : letter;
}

const classes: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  word: String.raw`\w`,
  space: String.raw`\s`,
  blank: String.raw` \t`,
  xdigit: "0-9a-fA-F",
  punct: String.raw`!-\/:-@\[-\x60\{-~`,
  print: String.raw`\x20-~`,
  graph: "!-~",
};

/** Translates a set in brackets. A dash beside a class stands for itself, and so does an opening bracket. */
function translateSet(set: string): string | null {
  const isNegative = set.startsWith("[^");
  const inside = set.slice(isNegative ? 2 : 1, -1);
  const items = inside.match(/\[:\^?\w+:\]|\\x[\da-fA-F]{2}|\\[^]|[^]/gu) ?? [];
  const isClass = (item: string | undefined): boolean => item !== undefined && /^(?:\[:|\\[dDwWsS])/.test(item);
  let source = "";
  for (const [index, item] of items.entries()) {
    const text = itemOf(item, item === "-" && (isClass(items[index - 1]) || isClass(items[index + 1])));
    if (text === null) return null;
    source += text;
  }
  return `[${isNegative ? "^" : ""}${source}]`;
}

function itemOf(item: string, isDashAlone: boolean): string | null {
  if (isDashAlone) return String.raw`\-`;
  if (item.startsWith("[:")) return classes[item.slice(2, -2)] ?? null;
  if (/^\\(?:x[\da-fA-F]{2}|[dDwWsSnrtf])$/u.test(item)) return item;
  if (!item.startsWith("\\")) return /[[\]^]/.test(item) ? `\\${item}` : item;
  const letter = item.slice(1);
  if (/[\p{L}\p{N}]/u.test(letter)) return null;
  return /[\\^$.*+?()[\]{}|/-]/.test(letter) ? `\\${letter}` : letter;
}
