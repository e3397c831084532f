import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";

/** A fault of one queue, subscription, policy or exchange, as data. A table of its broker turns it into sentences. */
export interface Finding {
  readonly code: DiagnosticCode;
  /** The name of the queue, subscription, policy or exchange that has the fault. */
  readonly subject: string;
  /** With the code and the subject they identify the finding, on every version of the broker. */
  readonly facts?: object;
  /**
   * The circumstances of the fault. They may differ between versions. Findings with other evidence are reported apart.
   */
  readonly evidence?: object;
  /** The settings that may differ between subjects that are reported together. */
  readonly detail?: object;
}

export interface Sentences {
  /** The end of a sentence that begins with the subject's name. */
  readonly predicate: string;
  readonly notes: readonly string[];
  /** From the finding's detail: a note for each group of subjects with the same detail. */
  readonly detail?: string;
  readonly help: string;
}

/** For each code a function from facts, evidence and detail to sentences. */
type Table<Said> = Readonly<Record<string, (...data: never) => Said>>;

/**
 * The findings that a table has sentences for. Each code takes the facts, the evidence and the detail of its function.
 */
export type FindingIn<Sayings extends Table<unknown>> = {
  readonly [Code in keyof Sayings]: { readonly code: Code & DiagnosticCode; readonly subject: string } & DataOf<
    Parameters<Sayings[Code]>
  >;
}[keyof Sayings];

type DataOf<Given extends readonly unknown[]> = Given extends readonly [infer Facts, infer Evidence, infer Detail]
  ? { readonly facts: Facts; readonly evidence: Evidence; readonly detail: Detail }
  : Given extends readonly [infer Facts, infer Evidence]
    ? { readonly facts: Facts; readonly evidence: Evidence }
    : Given extends readonly [infer Facts]
      ? { readonly facts: Facts }
      : unknown;

export function say<Said>(table: Table<Said>, { code, facts, evidence, detail }: Finding): Said {
  const render = table[code] as (...data: readonly unknown[]) => Said;
  return render(facts, evidence, detail);
}

/** The most names that a message lists. The diagnostic's value holds all of them. */
const mostNames = 10;

/** Identifies a finding. It leaves out the evidence, because another version may reach the fault in another way. */
export function findingKey({ code, subject, facts }: Finding): string {
  return JSON.stringify([code, subject, facts]);
}

/** The place of a subject in a deployment; null stands for all of its queues. */
type PlaceOf = (subject: string | null) => string;

/** Up to this number of alike subjects get a diagnostic each. More of them share one. */
const mostAlike = 4;

/**
 * The diagnostics of findings. Subjects with the same facts and evidence share one, and so do many subjects whose facts
 * and evidence differ in names and numbers alone.
 */
export function diagnosticsOf<Found extends Finding>(
  findings: readonly Found[],
  sentencesOf: (finding: Found) => Sentences,
  placeOf: PlaceOf,
): Diagnostic[] {
  const groups = Map.groupBy(findings, ({ subject: _subject, detail: _detail, ...rest }) => JSON.stringify(rest));
  const names = new Set(findings.map(({ subject }) => subject));
  const alike = Map.groupBy(groups.values(), ([first]) => shapeOf(first as Found, names));
  return [...alike.values()].flatMap((same) =>
    same.length > mostAlike
      ? [diagnosticAbout(same.flat(), true, sentencesOf, placeOf)]
      : same.map((group) => diagnosticAbout(group, false, sentencesOf, placeOf)),
  );
}

/**
 * A finding without names and numbers. A name is a subject's, or stands at `key`; a `label` only names a cause in
 * words.
 */
function shapeOf({ subject: _subject, detail: _detail, ...rest }: Finding, names: ReadonlySet<string>): string {
  const numbers = new Map<string, string>();
  return JSON.stringify(rest, (property, value: unknown) => {
    if (property === "label") return undefined;
    if (typeof value === "number") return 0;
    if (typeof value !== "string" || property === "code" || (property !== "key" && !names.has(value))) return value;
    const number = numbers.get(value) ?? `<${numbers.size + 1}>`;
    numbers.set(value, number);
    return number;
  });
}

/** @param isAlike true if the findings are alike, and not the same: then the sentences are about the first subject */
function diagnosticAbout<Found extends Finding>(
  found: readonly Found[],
  isAlike: boolean,
  sentencesOf: (finding: Found) => Sentences,
  placeOf: PlaceOf,
): Diagnostic {
  const [first] = found as readonly [Found, ...Found[]];
  const { predicate, notes, detail, help } = sentencesOf(first);
  const names = [...new Set(found.map(({ subject }) => subject))];
  const own = detail === undefined ? [] : [detail];
  const about = `${nameText(first.subject)} ${predicate}`;
  if (names.length === 1 && !isAlike)
    return diagnostic(first.code, { path: placeOf(first.subject), message: about, notes: [...own, ...notes], help });
  const message = isAlike
    ? `${about}; ${names.length - 1} more queues are in the same case`
    : `each of ${names.length} queues ${predicate}`;
  const which = isAlike ? [`these queues: ${nameSome(names)}`, ...own] : namesByDetail(found, names, sentencesOf);
  return diagnostic(first.code, { path: placeOf(null), message, value: names, notes: [...which, ...notes], help });
}

/** Errors before warnings, and findings about many queues before those about few. */
export function worstFirst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const countOf = ({ value }: Diagnostic): number => (Array.isArray(value) ? value.length : 1);
  const rankOf = ({ severity }: Diagnostic): number => (severity === "error" ? 0 : 1);
  return diagnostics.toSorted((left, right) => rankOf(left) - rankOf(right) || countOf(right) - countOf(left));
}

function namesByDetail<Found extends Finding>(
  group: readonly Found[],
  names: readonly string[],
  sentencesOf: (finding: Found) => Sentences,
): string[] {
  const byDetail = [...Map.groupBy(group, ({ detail }) => JSON.stringify(detail)).values()].map((same) => ({
    detail: sentencesOf(same[0] as Found).detail,
    subjects: same.map(({ subject }) => subject),
  }));
  const [only] = byDetail;
  if (byDetail.length === 1)
    return [`these queues: ${nameSome(names)}`, ...(only?.detail === undefined ? [] : [only.detail])];
  const told = byDetail.slice(0, mostNames).map(({ detail, subjects }) => {
    const some = nameSome(subjects);
    return detail === undefined ? some : `${detail}: ${some}`;
  });
  return byDetail.length > mostNames ? [...told, `and in ${byDetail.length - mostNames} more ways`] : told;
}

/** The first names of a list, and the number of the others. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map(nameText).join(", ");
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}

/** A name for a sentence: in quotes if it could be misread or overlooked. */
export function nameText(name: string): string {
  return name === "" || /[\s\p{C}"',]/u.test(name) ? JSON.stringify(name) : name;
}
