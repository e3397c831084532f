import { type Diagnostic, type PathSegment, diagnostic } from "../diagnostics/diagnostic.ts";

/** An object of a JSON document with unknown content. */
export type Entry = Readonly<Record<string, unknown>>;

interface Problem {
  readonly path: readonly PathSegment[];
  readonly message: string;
}

/**
 * Collects problems. Only the first is reported in full, because a program often repeats one mistake a thousand times
 * in a file.
 */
export interface Problems {
  first: Problem | null;
  count: number;
}

export function noProblems(): Problems {
  return { first: null, count: 0 };
}

export function addProblem(problems: Problems, path: readonly PathSegment[], message: string): void {
  problems.first ??= { path, message };
  problems.count += 1;
}

/** One diagnostic for all problems. Null if there are none. */
export function problemsAsDiagnostic({ first, count }: Problems): Diagnostic | null {
  if (first === null) return null;
  return diagnostic("RD402", {
    path: first.path,
    message: first.message,
    notes: count === 1 ? [] : [`${count - 1} more of the file's entries are malformed`],
    help: "export again; a file that a person wrote has to have the form of an export",
  });
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
