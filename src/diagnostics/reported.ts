import type { Diagnostic } from "./diagnostic.ts";
import type { Region } from "./region.ts";

/**
 * Anything shown like a diagnostic: one of the catalogue, or the report of a policy rule with its own code and place.
 */
export interface Reported extends Omit<Diagnostic, "code"> {
  readonly code: string;
  /** Its place, if that is not in the file of the other diagnostics. */
  readonly place?: Place;
  /** For a warning that the project accepts: the last day, and the reason. */
  readonly waived?: string;
}

/** A place in a file. The path is the repository's. The end may be unknown. */
export interface Place {
  readonly file: string;
  readonly region: Pick<Region, "line" | "column"> & Partial<Region>;
}
