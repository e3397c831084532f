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
  readonly given: Entry;
  readonly unknown: UnknownValues;
  /** The values found so far. Undefined stands for an unknown value, or for one that refers to itself. */
  readonly known: Map<string, unknown>;
}

/**
 * The value of a parameter without a default value, and of an expression that only a deployment knows. `none`: unknown.
 * `named`: the name of the parameter; an expression is unknown. `kept`: the same, and the expression in brackets.
 */
export type UnknownValues = "none" | "named" | "kept";

/** Gives the value of a text of a template. Undefined if it is unknown or too long, or if it refers to itself. */
export type Evaluate = (text: string) => unknown;

/**
 * Evaluates texts of a template.
 *
 * @param given the values of parameters that another template passes
 */
export function armValues(template: Entry, unknown: UnknownValues, given: Entry = {}): Evaluate {
  const scope: Scope = { template, given, unknown, known: new Map() };
  return (text) => valueOf(text, scope, 0);
}

/** The same value with each text in it replaced. */
export function withTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => withTexts(each, change));
  if (!isEntry(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTexts(each, change)]));
}

function valueOf(value: unknown, scope: Scope, depth: number): unknown {
  if (typeof value !== "string" || !value.startsWith("[") || value.startsWith("[[")) return value;
  return value.length > limits.expressionLength ? undefined : expressionValue(value.slice(1, -1).trim(), scope, depth);
}

/** Each expression is evaluated once: two that name the one before twice would take twice as long with each step. */
function expressionValue(expression: string, scope: Scope, depth: number): unknown {
  const key = `= ${expression}`;
  if (scope.known.has(key)) return scope.known.get(key);
  // A slash would end the name of a namespace.
  const unknown = scope.unknown === "kept" ? `[${expression.replaceAll("/", ":")}]` : undefined;
  // An expression that refers to itself stays unknown.
  scope.known.set(key, unknown);
  const made = (depth > limits.depth ? undefined : evaluated(expression, scope, depth)) ?? unknown;
  scope.known.set(key, made);
  return made;
}

function evaluated(expression: string, scope: Scope, depth: number): unknown {
  const literal = /^'((?:[^']|'')*)'$/.exec(expression);
  if (literal !== null) return (literal[1] ?? "").replaceAll("''", "'");
  if (/^\d+$/.test(expression)) return Number(expression);
  const member = /^([\s\S]+)(?:\.(\w+)|\[([^[\]]+)\])$/.exec(expression);
  if (member !== null) {
    const [, owner = "", name, index = ""] = member;
    const key = name ?? expressionValue(index.trim(), scope, depth + 1);
    return valueOf(memberOf(expressionValue(owner.trim(), scope, depth + 1), key), scope, depth + 1);
  }
  const call = /^(\w+)\(([\s\S]*)\)$/.exec(expression);
  if (call === null) return undefined;
  const [, name = "", inside = ""] = call;
  const values = inside.trim() === "" ? [] : argumentsIn(inside).map((each) => expressionValue(each, scope, depth + 1));
  if (values.some((each) => each === undefined)) return undefined;
  const made = called(name, values, scope, depth);
  return typeof made === "string" && made.length > limits.valueLength ? undefined : made;
}

/** True for a text with an expression that only a deployment knows. No name of Service Bus has a bracket. */
export function isKept(value: unknown): boolean {
  return typeof value === "string" && value.includes("[");
}

function memberOf(owner: unknown, key: unknown): unknown {
  const isKey = typeof key === (Array.isArray(owner) ? "number" : "string");
  return isKey && typeof owner === "object" && owner !== null && Object.hasOwn(owner, key as string)
    ? (owner as Entry)[key as string]
    : undefined;
}

function called(name: string, values: readonly unknown[], scope: Scope, depth: number): unknown {
  const [first, second, third] = values;
  const isPartlyKnown = scope.unknown === "kept" && values.some((each) => isKept(each));
  if (isPartlyKnown && name !== "concat" && name !== "format") return undefined;
  if (name === "true" || name === "false") return name === "true";
  if (name === "not" && typeof first === "boolean") return !first;
  if (name === "if" && typeof first === "boolean") return first ? second : third;
  if (name === "equals" && typeof first !== "object") return first === second;
  if (!values.every((each) => typeof each === "string" || typeof each === "number")) return undefined;
  if (name === "concat") return values.join("");
  const text = String(first);
  if (name === "format") return text.replaceAll(/\{(\d+)\}/g, (_, index) => String(values[Number(index) + 1] ?? ""));
  return name === "parameters" || name === "variables" ? declaredValue(name, text, scope, depth) : undefined;
}

function declaredValue(kind: "parameters" | "variables", name: string, scope: Scope, depth: number): unknown {
  const { template, known } = scope;
  const key = `${kind} ${name}`;
  if (known.has(key)) return known.get(key);
  // The value counts as unknown until it is found. So a value that refers to itself stays unknown.
  known.set(key, undefined);
  const all = template[kind];
  const declared = isEntry(all) && Object.hasOwn(all, name) ? all[name] : undefined;
  const made = valueOf(kind === "variables" ? declared : parameterValue(name, declared, scope), scope, depth + 1);
  known.set(key, made);
  return made;
}

function parameterValue(name: string, declared: unknown, { given, unknown }: Scope): unknown {
  if (Object.hasOwn(given, name)) return given[name];
  const { defaultValue = null, type = "string" } = isEntry(declared) ? declared : {};
  return defaultValue ?? (unknown !== "none" && /string$/i.test(String(type)) ? name : undefined);
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
