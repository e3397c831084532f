/**
 * Patterns of policies are PCRE, whose syntax is not that of JavaScript: what is written alike may mean something else, so each pattern is
 * translated piece by piece, and one that has no counterpart is said to be unreadable, and never guessed at.
 *
 * Source: `rabbit_policy:matches/3`, which calls `re:run/3`; https://www.pcre.org/original/doc/html/pcrepattern.html
 */

/** Whether a pattern matches a name; null for a pattern that cannot be read here. */
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

/** Whether it is known here what a pattern matches. */
export function isPatternReadable(pattern: string): boolean {
  return patternTestOf(pattern) !== null;
}

function compile(pattern: string): PatternTest {
  const [options = "", flags = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const source = translate(pattern.slice(options.length));
  if (source === null) return null;
  try {
    const expression = new RegExp(source, `u${[...new Set(flags)].join("")}`);
    return (name) => expression.test(name);
  } catch {
    return null;
  }
}

/** The pieces that a pattern is made of, outside of brackets. What none of them matches stands for itself. */
const pieces: readonly { readonly at: RegExp; readonly give: (match: RegExpExecArray) => string | null }[] = [
  { at: /\\Q(.*?)(?:\\E|$)/suy, give: ([, text = ""]) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`) },
  { at: /\\E/uy, give: () => "" },
  { at: /\\A/uy, give: () => "(?<![^])" },
  { at: /\\z/uy, give: () => "(?![^])" },
  { at: /\\Z/uy, give: () => String.raw`(?=\n?(?![^]))` },
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
  // The two that JavaScript has in the same way.
  const same = /\\(?:x[\da-fA-F]{2}|[bB])/uy;
  same.lastIndex = index;
  const kept = same.exec(pattern)?.[0];
  if (kept !== undefined) return { text: kept, length: kept.length };
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

/** A backslash before anything but a letter or a digit takes its meaning away, also where JavaScript does not want one. */
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

/** A set in brackets: a dash beside a class stands for itself, and so does an opening bracket. */
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
