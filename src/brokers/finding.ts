import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/** Something found about one queue, before it is said for how many queues it holds. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly queue: string;
  /** What is found, as the end of a sentence that begins with the queue's name. */
  readonly predicate: string;
  readonly notes: readonly string[];
  /** What differs between queues of which the same is found, said for each group of them in a note of its own. */
  readonly detail?: string;
  readonly help: string;
}

/** So many names are written out; all of them are in the diagnostic's value. */
const mostNames = 10;

/** The same finding has the same code, queue and predicate on every version, whatever the way to it is there. */
export function findingKey({ code, queue, predicate }: Finding): string {
  return JSON.stringify([code, queue, predicate]);
}

/** Where a queue is in a deployment; null for all of its queues. */
type PlaceOf = (queue: string | null) => string;

/** One diagnostic for each thing found. What holds of several queues in the same words is said once. */
export function diagnosticsOf(findings: readonly Finding[], placeOf: PlaceOf): Diagnostic[] {
  const groups = Map.groupBy(findings, ({ code, predicate, notes, help }) =>
    JSON.stringify([code, predicate, notes, help]),
  );
  return [...groups.values()].map((group) => {
    const [first] = group as [Finding];
    const { code, queue, predicate, notes, detail, help } = first;
    const names = [...new Set(group.map((each) => each.queue))];
    if (names.length === 1) {
      return diagnostic(code, {
        path: placeOf(queue),
        message: `${nameText(queue)} ${predicate}`,
        notes: [...(detail === undefined ? [] : [detail]), ...notes],
        help,
      });
    }
    return diagnostic(code, {
      path: placeOf(null),
      message: `each of ${names.length} queues ${predicate}`,
      value: names,
      notes: [...namesByDetail(group, names), ...notes],
      help,
    });
  });
}

function namesByDetail(group: readonly Finding[], names: readonly string[]): string[] {
  const byDetail = Map.groupBy(group, ({ detail }) => detail);
  const [[only] = []] = byDetail;
  if (byDetail.size === 1) return [`these queues: ${nameSome(names)}`, ...(only === undefined ? [] : [only])];
  return [...byDetail].map(([detail, queues]) => {
    const some = nameSome(queues.map(({ queue }) => queue));
    return detail === undefined ? some : `${detail}: ${some}`;
  });
}

/** The first names of a list, and how many more there are. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map(nameText).join(", ");
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}

/** A name as a sentence can hold it: in quotes where it would be taken for something else, or not be seen. */
export function nameText(name: string): string {
  return name === "" || /[\s\p{C}"',]/u.test(name) ? JSON.stringify(name) : name;
}
