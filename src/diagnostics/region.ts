/**
 * A piece of a file. Lines and columns count from 1, and columns in UTF-16 code units. The end is the place behind the
 * last character. It never spans more than one line, so that no editor underlines half a file.
 */
export interface Region {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Finds the piece of a file at a diagnostic's path. Undefined if the file has no known places. */
export type Locate = (path: string) => Region | undefined;
