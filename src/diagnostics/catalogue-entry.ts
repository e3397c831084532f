/** What a code stands for, whatever the place it is found in. */
export interface CatalogueEntry {
  readonly severity: "error" | "warning";
  readonly title: string;
  /** What happens if nothing is done, and what to do. */
  readonly explanation: string;
  /** The vendor's own page about it. */
  readonly source?: string;
}

/** @param page the end of the address of RabbitMQ's own page about it */
export const error = (title: string, explanation: string, page?: string): CatalogueEntry =>
  entry("error", title, explanation, page);

/** @param page the end of the address of RabbitMQ's own page about it */
export const warning = (title: string, explanation: string, page?: string): CatalogueEntry =>
  entry("warning", title, explanation, page);

function entry(
  severity: CatalogueEntry["severity"],
  title: string,
  explanation: string,
  page: string | undefined,
): CatalogueEntry {
  const source = page === undefined ? {} : { source: `https://www.rabbitmq.com/docs/${page}` };
  return { severity, title, explanation, ...source };
}
