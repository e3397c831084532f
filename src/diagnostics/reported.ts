import type { Diagnostic } from "./diagnostic.ts";
import type { Region } from "./region.ts";

/** Something that is shown as a diagnostic is: one of the catalogue, or what a rule of a policy pack says, which has its own code and place. */
export interface Reported extends Omit<Diagnostic, "code"> {
  readonly code: string;
  /** Where it is, if that is not in the file that all of them are about. */
  readonly place?: Place;
}

/** A place in a file that the repository knows by this path. Where it ends may not be known. */
export interface Place {
  readonly file: string;
  readonly region: Pick<Region, "line" | "column"> & Partial<Region>;
}
