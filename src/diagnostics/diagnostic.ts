import { type DiagnosticCode, catalogue } from "./catalogue.ts";
import { docsOfCode } from "./docs-site.ts";
import { maskCredentials, maskedValue } from "./mask-credentials.ts";

/** One step from the root of a user's document to a value in it. */
export type PathSegment = string | number;

/**
 * A problem in a user's document, or a fact that the user ought to know about it.
 *
 * `path` and `value` are the user's own. `message` is a fact with its numbers and units. A note gives the reason.
 * `help` is one edit that fixes the problem, with its cost.
 */
export interface Diagnostic {
  /** The stable name of the problem, such as `RD101`. One code stands for one problem on every broker. */
  readonly code: DiagnosticCode;
  /** An error refuses the declaration. A warning lets it pass and names a consequence. */
  readonly severity: "error" | "warning";
  /** The fact, with the numbers that show it. Its words may change between versions. */
  readonly message: string;
  /** The place in the document, for example `consumers.billing.retry.attempts`. Empty for the whole document. */
  readonly path: string;
  /** The user's own value at the place. Left out for the whole document, and for values that may be secret. */
  readonly value?: unknown;
  /** The reasons, a sentence each, with the vendor's page where a limit comes from one. */
  readonly notes: readonly string[];
  /** One edit that mends it. */
  readonly help?: string;
  /** The address of the page that explains the code. */
  readonly docs: string;
}

/** A reporter's part of a diagnostic. The code decides the rest. */
export interface DiagnosticInput {
  readonly message: string;
  readonly path: string | readonly PathSegment[];
  readonly value?: unknown;
  readonly notes?: readonly string[];
  readonly help?: string;
}

/** The longest text of a diagnostic, in characters. A name may have megabytes, and people do not read that far. */
const longest = 4_000;

/**
 * Makes a diagnostic with the severity and the page from the catalogue. It masks passwords in the texts and the value.
 */
export function diagnostic(code: DiagnosticCode, input: DiagnosticInput): Diagnostic {
  return Object.freeze({
    code,
    severity: catalogue[code].severity,
    message: told(input.message),
    path: told(typeof input.path === "string" ? input.path : formatPath(input.path)),
    ...(input.value === undefined ? {} : { value: toldValue(input) }),
    notes: Object.freeze((input.notes ?? []).map(told)),
    ...(input.help === undefined ? {} : { help: told(input.help) }),
    docs: docsOfCode(code),
  });
}

/** The answer of a check that finds one problem. */
export function diagnosed(code: DiagnosticCode, input: DiagnosticInput): Diagnostic[] {
  return [diagnostic(code, input)];
}

function told(text: string): string {
  return cut(maskCredentials(text));
}

function toldValue({ value, path }: DiagnosticInput): unknown {
  const masked = maskedValue(value, nameIn(path));
  return typeof masked === "string" ? cut(masked) : masked;
}

function nameIn(path: DiagnosticInput["path"]): string {
  return String((typeof path === "string" ? path.split(/[.:]/) : path).at(-1) ?? "");
}

/**
 * The beginning and end of a long text, with its length. The subject of a sentence often comes last, so the end stays.
 */
function cut(text: string): string {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const omitted = `… (${text.length.toLocaleString("en")} characters) …`;
  return `${text.slice(0, half)}${omitted}${text.slice(-half)}`.toWellFormed();
}

/** Writes a path as a person would: `consumers.billing.from.orders[1]`, `consumers["a.b"].retry`. */
export function formatPath(segments: readonly PathSegment[]): string {
  let path = "";
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(segment)) path += path === "" ? segment : `.${segment}`;
    else path += `[${JSON.stringify(segment)}]`;
  }
  return path;
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((each) => each.severity === "error");
}

/** A value, perhaps with warnings, or a refusal with its reasons. */
export type Checked<Value> =
  | {
      /** True if nothing refuses the input. */
      readonly ok: true;
      /** The checked result. */
      readonly value: Value;
      /** The consequences to know. Empty for most inputs. */
      readonly warnings: readonly Diagnostic[];
    }
  | {
      readonly ok: false;
      /** All reasons to refuse the input, at once. */
      readonly diagnostics: readonly Diagnostic[];
    };

export function accepted<Value>(value: Value, warnings: readonly Diagnostic[] = []): Checked<Value> {
  return { ok: true, value, warnings };
}

/** A refusal for one reason. */
export function refusedFor(code: DiagnosticCode, input: DiagnosticInput): Checked<never> {
  return { ok: false, diagnostics: diagnosed(code, input) };
}

export function refuseWhole(code: DiagnosticCode, message: string, help: string): Checked<never> {
  return refusedFor(code, { path: "", message, help });
}

/**
 * Thrown to a caller that asked for a value instead of a {@link Checked} result.
 *
 * Its message is the rendered diagnostics. Its stack does not help the person who wrote the declaration.
 */
export class RefusedError extends Error {
  // Consoles dump the own properties of an error, and its message has all of this already.
  readonly #diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], rendered: string) {
    super(rendered);
    this.#diagnostics = diagnostics;
  }

  override get name(): "RefusedError" {
    return "RefusedError";
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** Pulumi shows such an error of a program as its message alone. Source: @pulumi/pulumi, `RunError.isInstance`. */
  get __pulumiRunError(): true {
    return true;
  }
}
