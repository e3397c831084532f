import type { Diagnostic, PathSegment } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/** An object of a JSON document, of which nothing is known yet. */
export type Entry = Readonly<Record<string, unknown>>;

/** Something that is not as it has to be, and where. */
interface Problem {
  readonly path: readonly PathSegment[];
  readonly message: string;
}

/** Collects what is wrong. Only the first is told in full: one mistake of the program that wrote a file is often made a thousand times. */
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

/** The one diagnostic for everything that is wrong; null where nothing is. */
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
