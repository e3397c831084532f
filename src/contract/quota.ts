import { type Diagnostic, type PathSegment, diagnosed } from "../diagnostics/diagnostic.ts";

/** A number that a vendor does not let a deployment exceed. */
export interface Quota {
  /** RD219 is a fixed limit. A user can raise RD220 first. */
  readonly code: "RD219" | "RD220";
  /** The name of the counted thing, for a sentence. */
  readonly what: string;
  readonly most: number;
  /** The condition under which more is possible, as the end of a sentence. Left out if there is none. */
  readonly unless?: string;
  /** The vendor's page that states the number. */
  readonly source: string;
  readonly help: string;
}

/**
 * Refuses a deployment beyond a quota, or warns of it. The vendor would refuse the excess in the middle.
 *
 * @param made the part of the sentence before the count
 */
export function beyond(
  { code, what, most, unless, source, help }: Quota,
  count: number,
  path: readonly PathSegment[],
  made: string,
): Diagnostic[] {
  if (count <= most) return [];
  const limit = `${most.toLocaleString("en")} are allowed${unless === undefined ? "" : ` ${unless}`}`;
  const message = `${made} ${count.toLocaleString("en")} ${what}; ${limit}`;
  return diagnosed(code, { path, message, notes: [source], help });
}
