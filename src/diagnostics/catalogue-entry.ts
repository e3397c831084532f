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
const entryOf =
  (severity: CatalogueEntry["severity"]) =>
  (title: string, explanation: string, ...sources: readonly string[]): CatalogueEntry => {
    return { severity, title, explanation, sources };
  };

export const error = entryOf("error");
export const warning = entryOf("warning");
