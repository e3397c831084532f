import { type Entry, isEntry } from "../../../foreign/entries.ts";

/**
 * Source of `expressionLength`: Azure Resource Manager documentation, "Template limits": 24,576 characters in an
 * expression.
 */
const limits = {
  expressionLength: 24_576,
  /** Generous, because no name of Service Bus is longer than 260 characters. */
  valueLength: 10_000,
  /** The depth of functions in functions, and of variables in variables. */
  depth: 100,
} as const;

interface Scope {
  readonly template: Entry;
  /** The values found so far. Null stands for an unknown value, or for one that refers to itself. */
  readonly known: Map<string, string | null>;
}

/**
 * Evaluates texts of a template. Null if the value is unknown or too long, or if it refers to itself. A parameter
 * without a default value stands for its name.
 */
export function armValues(template: Entry): (text: string) => string | null {
  const scope: Scope = { template, known: new Map() };
  return (text) => valueOf(text, scope, 0);
}

function valueOf(text: string, scope: Scope, depth: number): string | null {
  if (!text.startsWith("[") || text.startsWith("[[")) return text;
  return text.length > limits.expressionLength ? null : expressionValue(text.slice(1, -1).trim(), scope, depth);
}

function expressionValue(expression: string, scope: Scope, depth: number): string | null {
  if (depth > limits.depth) return null;
  const literal = /^'((?:[^']|'')*)'$/.exec(expression);
  if (literal !== null) return (literal[1] ?? "").replaceAll("''", "'");
  const call = /^(\w+)\(([\s\S]*)\)$/.exec(expression);
  if (call === null) return null;
  const [, name = "", inside = ""] = call;
  const values = argumentsIn(inside).map((each) => expressionValue(each, scope, depth + 1));
  const [first, ...others] = values;
  if (first === undefined || first === null || others.includes(null)) return null;
  const made = called(name, first, values, scope, depth);
  return made === null || made.length > limits.valueLength ? null : made;
}

function called(
  name: string,
  first: string,
  values: readonly (string | null)[],
  scope: Scope,
  depth: number,
): string | null {
  if (name === "concat") return values.join("");
  if (name === "format") return first.replaceAll(/\{(\d+)\}/g, (_, index) => values[Number(index) + 1] ?? "");
  return name === "parameters" || name === "variables" ? declaredValue(name, first, scope, depth) : null;
}

function declaredValue(kind: "parameters" | "variables", name: string, scope: Scope, depth: number): string | null {
  const key = `${kind} ${name}`;
  const known = scope.known.get(key);
  if (known !== undefined) return known;
  // The value counts as unknown until it is found. So a value that refers to itself stays unknown.
  scope.known.set(key, null);
  const all = scope.template[kind];
  const declared = isEntry(all) && Object.hasOwn(all, name) ? all[name] : undefined;
  const value = isEntry(declared) ? declared["defaultValue"] : declared;
  const otherwise = kind === "parameters" ? name : null;
  const made = typeof value === "string" ? valueOf(value, scope, depth + 1) : otherwise;
  scope.known.set(key, made);
  return made;
}

/** The arguments of a call. It splits at commas outside of texts and brackets. */
function argumentsIn(text: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let isText = false;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "'") isText = !isText;
    else if (!isText && character === "(") depth++;
    else if (!isText && character === ")") depth--;
    if (character === undefined || (character === "," && depth === 0 && !isText)) {
      found.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return found;
}
