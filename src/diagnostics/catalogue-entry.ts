/** What a code stands for, whatever the place it is found in. */
export interface CatalogueEntry {
  readonly severity: "error" | "warning";
  readonly title: string;
  /** What happens if nothing is done, and what to do. */
  readonly explanation: string;
}

export const error = (title: string, explanation: string): CatalogueEntry => ({
  severity: "error",
  title,
  explanation,
});
export const warning = (title: string, explanation: string): CatalogueEntry => ({
  severity: "warning",
  title,
  explanation,
});
