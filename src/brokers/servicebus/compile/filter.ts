import type { SourceInput } from "../../../declare/system.ts";
import type { RuleFilter } from "./topology.ts";

/** The filter for Service Bus, or the reason that it cannot express one. */
export type Filter = { readonly filter: RuleFilter } | { readonly message: string; readonly help: string };

/**
 * Builds a filter that lets in the same messages as a routing key or a topic pattern. Words stand between dots. `*` is
 * one word, `#` any number of them. The routing key is the subject of the message.
 *
 * `LIKE` knows only any text (`%`), and that text may contain dots. So it can express two forms of pattern. One has
 * `#`, and `*` only beside a `#`. The other has `*` alone, and its filter also fixes the number of dots. Source:
 * "Subscription rule SQL filter syntax".
 */
export function filterOf(pattern: string, kind: SourceInput["kind"]): Filter {
  const words = pattern.split(".");
  const isWild = (word: string): boolean => word === "*" || word === "#";
  if (kind !== "topic" || !words.some(isWild)) return { filter: { kind: "correlation", subject: pattern } };
  if (!words.includes("#")) {
    const dots = words.length - 1;
    const tooMany = Array.from({ length: dots + 2 }, () => "%").join(".");
    return sql(`${like(words)} AND NOT sys.Label LIKE '${tooMany}'`);
  }
  const groups = groupsOf(words);
  if (groups.some((group) => group.kind === "stars"))
    return {
      message: `Service Bus cannot filter by ${JSON.stringify(pattern)}: its LIKE cannot match a single word beside any number of words`,
      help: "list the routing keys themselves, or take # in the place of *, which takes more: let the handler skip the rest",
    };
  const choices = alternatives(groups);
  if (choices.some((each) => each.length === 0)) return { filter: { kind: "true" } };
  return sql([...new Set(choices.map(like))].join(" OR "));
}

function sql(expression: string): Filter {
  return { filter: { kind: "sql", expression } };
}

/** A text of SQL, with its quotes. */
const sqlText = "'(?:[^']|'')*'";
const subjectTest = String.raw`sys\.Label\s*(?:=\s*${sqlText}|IN\s*\(\s*${sqlText}(?:\s*,\s*${sqlText})*\s*\))`;
const subjectTests = new RegExp(String.raw`^${subjectTest}(?:\s+OR\s+${subjectTest})*$`, "i");

/** The subjects that an expression of `=`, `IN` and `OR` lets in. Null for any other expression. */
export function subjectsIn(expression: string): readonly string[] | null {
  return subjectTests.test(expression.trim()) ? textsIn(expression, sqlText) : null;
}

/** The topic pattern that makes this expression. Null if none does. */
export function patternIn(expression: string): string | null {
  const own = expression.trim();
  for (const text of textsIn(own, `(?<=LIKE )${sqlText}`)) {
    const words = text.split(".");
    // Each further wildcard triples the candidates.
    if (words.filter((word) => word === "%").length > 4) continue;
    let patterns: readonly (readonly string[])[] = [[]];
    for (const word of words) {
      const choices = word === "%" ? [["#"], ["*"], ["*", "#"]] : [[word.replaceAll(/\\([\\%_])/g, "$1")]];
      patterns = patterns.flatMap((each) => choices.map((choice) => [...each, ...choice]));
    }
    const makes = (pattern: readonly string[]): boolean => {
      const made = filterOf(pattern.join("."), "topic");
      return "filter" in made && made.filter.kind === "sql" && made.filter.expression === own;
    };
    const found = patterns.find(makes);
    if (found !== undefined) return found.join(".");
  }
  return null;
}

function textsIn(expression: string, pattern: string): readonly string[] {
  return [...expression.matchAll(new RegExp(pattern, "g"))].map(([text]) => text.slice(1, -1).replaceAll("''", "'"));
}

/** Words, or a run of wildcards. `stars` is a number of single words; `any` is that number or more. */
type Group =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "stars" | "any"; readonly count: number };

function groupsOf(words: readonly string[]): Group[] {
  const groups: Group[] = [];
  for (const word of words) {
    const last = groups.at(-1);
    if (word !== "*" && word !== "#") {
      if (last?.kind === "words") groups[groups.length - 1] = { kind: "words", words: [...last.words, word] };
      else groups.push({ kind: "words", words: [word] });
      continue;
    }
    const before = last === undefined || last.kind === "words" ? null : last;
    const group: Group = {
      kind: word === "#" || before?.kind === "any" ? "any" : "stars",
      count: (before?.count ?? 0) + (word === "*" ? 1 : 0),
    };
    if (before === null) groups.push(group);
    else groups[groups.length - 1] = group;
  }
  return groups;
}

/** A run of this many words or more needs as many texts. A run of none or more is nothing, or one text. */
function alternatives(groups: readonly Group[]): readonly (readonly string[])[] {
  let choices: readonly (readonly string[])[] = [[]];
  for (const group of groups) {
    if (group.kind === "words") choices = choices.map((each) => [...each, ...group.words]);
    else {
      const texts = Array.from({ length: Math.max(1, group.count) }, () => "*");
      const longer = choices.map((each) => [...each, ...texts]);
      choices = group.count === 0 ? [...choices, ...longer] : longer;
    }
  }
  return choices;
}

/** Compares whole words, and any text for a wildcard. */
function like(words: readonly string[]): string {
  if (!words.includes("*")) return `sys.Label = '${quoted(words.join("."))}'`;
  const escaped = words.map((word) => (word === "*" ? "%" : word.replaceAll(/[\\%_]/g, "\\$&")));
  const needsEscape = words.some((word) => /[\\%_]/.test(word));
  return `sys.Label LIKE '${quoted(escaped.join("."))}'${needsEscape ? " ESCAPE '\\'" : ""}`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "''");
}
