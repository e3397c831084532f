/** A queue takes annotations for its own use alone, by the beginning of their names. Source: docs, "Modified Outcome". */
const beginning = "x-opt-";

/** The annotation that stands for a header, where a consumer can write no headers. */
export function annotationNamed(header: string): string {
  return `${beginning}${header}`;
}

/** The header that an annotation stands for; null for those that are none of a consumer's. */
export function headerIn(annotation: string): string | null {
  return annotation.startsWith(beginning) ? annotation.slice(beginning.length) : null;
}
