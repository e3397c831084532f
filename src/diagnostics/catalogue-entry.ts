/** The meaning of a code, wherever Redeliver finds the problem. */
export interface CatalogueEntry {
  readonly severity: "error" | "warning";
  readonly title: string;
  /** The consequence of doing nothing, and the remedy. */
  readonly explanation: string;
  /** The vendors' pages about it. */
  readonly sources: readonly string[];
}

/** @param sources the addresses of the vendors' pages about it */
export const error = (title: string, explanation: string, ...sources: readonly string[]): CatalogueEntry => ({
  severity: "error",
  title,
  explanation,
  sources,
});

/** @param sources the addresses of the vendors' pages about it */
export const warning = (title: string, explanation: string, ...sources: readonly string[]): CatalogueEntry => ({
  severity: "warning",
  title,
  explanation,
  sources,
});
