/**
 * A piece of a file. Lines and columns count from 1, columns in UTF-16 code units; the end is the place behind the
 * last character. It never spans more than one line, so that no editor underlines half a file.
 */
export interface Region {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Finds the piece of a file that a diagnostic's path is about; undefined where the file has no places to tell. */
export type Locate = (path: string) => Region | undefined;
