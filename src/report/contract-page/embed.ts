import { visibleValue } from "../../diagnostics/visible.ts";

/** How a language writes data. */
interface Notation {
  readonly object: readonly [open: string, close: string];
  readonly array: readonly [open: string, close: string];
  readonly afterName: string;
  readonly afterNumber: string;
  readonly step: string;
  /** Wraps a part that is too long for the text around it. */
  readonly part?: { readonly longerThan: number; readonly open: string; readonly close: string };
}

const json: Notation = {
  object: ["{", "}"],
  array: ["[", "]"],
  afterName: ": ",
  afterNumber: "",
  step: "  ",
};
/** Java has no reader of JSON, and a constant text has at most 64 KB. */
const java: Notation = {
  object: ["map(", ")"],
  array: ["list(", ")"],
  afterName: ", ",
  afterNumber: "L",
  step: "    ",
};

/** A method has at most 64 KB of code, and each of these parts is one. */
const javaInParts: Notation = { ...java, part: { longerThan: 1_000, open: "part(() -> ", close: ")" } };

type Embedded = Readonly<Record<string, unknown>>;

/** A constant of a file, between two texts. */
interface Constant {
  readonly begin: string;
  readonly end: string;
  readonly write: (contract: Embedded) => string;
}

/** By the extension of a file. */
const constants: Readonly<Record<string, readonly Constant[]>> = {
  // A raw text of Python and of C# keeps the backslashes of JSON, and JSON never has three quotes in a row.
  py: [{ begin: 'CONTRACT = json.loads(r"""\n', end: '\n"""', write: (contract) => written(contract, json, "") }],
  cs: [{ begin: 'Contract = JsonNode.Parse("""\n', end: '\n"""', write: (contract) => written(contract, json, "") }],
  mjs: [{ begin: "const CONTRACT = ", end: ";\n", write: (contract) => written(contract, json, "") }],
  java: [
    // The later one first, so that no name in the contract can look like it.
    { begin: " WORK_QUEUE = ", end: ";\n", write: ({ workQueue }) => springLiteralOf(String(workQueue)) },
    { begin: " CONTRACT = ", end: ";\n", write: javaOf },
  ],
};

/** Puts a contract into the constants of a file. */
export function embed(file: string, text: string, contract: Embedded): string {
  const own = constants[file.slice(file.lastIndexOf(".") + 1)] ?? [];
  return own.reduce((whole, { begin, end, write }) => {
    if (!whole.includes(begin)) return whole;
    const from = whole.indexOf(begin) + begin.length;
    return whole.slice(0, from) + write(contract) + whole.slice(whole.indexOf(end, from));
  }, text);
}

function javaOf(contract: Embedded): string {
  const whole = written(contract, java, java.step);
  return whole.length < 100_000 ? whole : written(contract, javaInParts, java.step);
}

/** Writes a value on one line if it fits, and else one line for each part. */
function written(value: unknown, notation: Notation, indent: string): string {
  // Java, JavaScript and C# have the escapes of JSON. In Java, too, a backslash after a backslash begins no escape.
  if (typeof value !== "object" || value === null)
    return `${visibleValue(value)}${typeof value === "number" ? notation.afterNumber : ""}`;
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? notation.array : notation.object;
  const partAt = (each: unknown, at: string): string => apart(written(each, notation, at), notation);
  if (isArray && value.length === 1) return `${open}${partAt(value[0], indent)}${close}`;
  const inner = indent + notation.step;
  const parts = isArray
    ? value.map((each) => partAt(each, inner))
    : Object.entries(value).map(([name, each]) => `${visibleValue(name)}${notation.afterName}${partAt(each, inner)}`);
  const line = `${open}${parts.join(", ")}${close}`;
  if (indent.length + line.length <= 110 && !line.includes("\n")) return line;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

function apart(text: string, { part }: Notation): string {
  return part === undefined || text.length <= part.longerThan ? text : `${part.open}${text}${part.close}`;
}

/**
 * A literal in an annotation of Spring, where ${…} is a property and #{…} an expression. An expression that returns the
 * sign itself keeps the sign. Source: `resolve`, then `evaluate`, in
 * `RabbitListenerAnnotationBeanPostProcessor.resolveExpression`.
 */
function springLiteralOf(text: string): string {
  return visibleValue(text.replaceAll(/[$#](?=\{)/g, "#{'$&'}"));
}
