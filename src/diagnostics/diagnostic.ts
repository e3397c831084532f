import type { DiagnosticCode } from "./catalogue.ts";
import { catalogue } from "./catalogue.ts";

/** One step from the root of a user's document to a value in it. */
export type PathSegment = string | number;

/**
 * One thing that is wrong, or that the user ought to know, about what they wrote.
 *
 * `path` and `value` are the user's own; `message` is a fact with its numbers and units; a note says
 * why; `help` is one edit that fixes it, and what the edit costs.
 */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Where in the document, for example `consumers.billing.retry.attempts`; empty for the whole of it. */
  readonly path: string;
  readonly value?: unknown;
  readonly notes: readonly string[];
  readonly help?: string;
  /** The page that explains the code. */
  readonly docs: string;
}

/** What a reporter of a problem supplies; the rest follows from the code. */
export interface DiagnosticInput {
  readonly message: string;
  readonly path: string | readonly PathSegment[];
  readonly value?: unknown;
  readonly notes?: readonly string[];
  readonly help?: string;
}

/** Makes a diagnostic; its severity and its page come from the catalogue. */
export function diagnostic(code: DiagnosticCode, input: DiagnosticInput): Diagnostic {
  return Object.freeze({
    code,
    severity: catalogue[code].severity,
    message: input.message,
    path: typeof input.path === "string" ? input.path : formatPath(input.path),
    ...("value" in input && input.value !== undefined ? { value: input.value } : {}),
    notes: Object.freeze([...(input.notes ?? [])]),
    ...(input.help === undefined ? {} : { help: input.help }),
    docs: `docs/diagnostics.md#${code.toLowerCase()}`,
  });
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

/** Whether nothing in the list forbids going on. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((each) => each.severity === "error");
}

/** A result that is either there, perhaps with warnings, or refused with the reasons. */
export type Checked<Value> =
  | { readonly ok: true; readonly value: Value; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Thrown where a caller asked for a value and not for a {@link Checked} result.
 * Its message is the rendered diagnostics; its stack is of no use to the person who wrote the declaration.
 */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], rendered: string) {
    super(rendered);
    this.diagnostics = diagnostics;
  }
}
