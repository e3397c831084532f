import type { DiagnosticCode } from "../../../diagnostics/catalogue.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { placeOf } from "../deployment.ts";

/** Something found about one queue, before it is said for how many queues it holds. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly queue: string;
  /** What is found, as the end of a sentence that begins with the queue's name. */
  readonly predicate: string;
  readonly notes: readonly string[];
  readonly help: string;
}

/** So many names are written out; all of them are in the diagnostic's value. */
const mostNames = 10;

/** One diagnostic for each thing found. What holds of several queues in the same words is said once. */
export function diagnosticsOf(virtualHost: string, findings: readonly Finding[]): Diagnostic[] {
  const groups = Map.groupBy(findings, ({ code, predicate, notes, help }) =>
    JSON.stringify([code, predicate, notes, help]),
  );
  return [...groups.values()].map((group) => {
    const [first] = group as [Finding];
    const { code, queue, predicate, notes, help } = first;
    const names = [...new Set(group.map((each) => each.queue))];
    if (names.length === 1) {
      return diagnostic(code, {
        path: placeOf(virtualHost, "queues", queue),
        message: `${queue} ${predicate}`,
        notes,
        help,
      });
    }
    const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
    return diagnostic(code, {
      path: placeOf(virtualHost, null),
      message: `each of ${names.length} queues ${predicate}`,
      value: names,
      notes: [`these queues: ${names.slice(0, mostNames).join(", ")}${more}`, ...notes],
      help,
    });
  });
}
