/** A queue keeps annotations for itself only if their names begin with this. Source: docs, "Modified Outcome". */
const beginning = "x-opt-";

/** The annotation that replaces a header, where a consumer cannot write headers. */
export function annotationNamed(header: string): string {
  return `${beginning}${header}`;
}

/** The header that an annotation replaces. Null for annotations that no consumer wrote. */
export function headerIn(annotation: string): string | null {
  return annotation.startsWith(beginning) ? annotation.slice(beginning.length) : null;
}
