import type { Evidence } from "../brokers/broker.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { visible } from "./visible.ts";

/** What was found in one namespace of a broker. */
export interface AuditedPart {
  readonly name: string;
  readonly queues: number;
  readonly diagnostics: readonly Diagnostic[];
}

export interface AuditReport {
  readonly target: string;
  /** What an upgrade was asked about; null for none. */
  readonly upgradeTo: string | null;
  readonly evidence: Evidence;
  /** What a part is, such as `virtual host`. */
  readonly partNoun: string;
  /** What there was to say while the topology was read. */
  readonly reading: readonly Diagnostic[];
  readonly parts: readonly AuditedPart[];
}

export interface AuditSummary {
  readonly namespaces: number;
  readonly queues: number;
  readonly errors: number;
  readonly warnings: number;
}

export function summarise({ reading, parts }: AuditReport): AuditSummary {
  const all = [...reading, ...parts.flatMap((part) => part.diagnostics)];
  return {
    namespaces: parts.length,
    queues: parts.reduce((sum, part) => sum + part.queues, 0),
    errors: all.filter(({ severity }) => severity === "error").length,
    warnings: all.filter(({ severity }) => severity === "warning").length,
  };
}

/** The findings by namespace and in it by place, then what they rest on. A namespace without findings has no heading. */
export function renderAudit(report: AuditReport, options: { readonly colour: boolean }): string {
  const blocks = (diagnostics: readonly Diagnostic[]): string =>
    renderDiagnostics(byPlace(diagnostics).map(visibleDiagnostic), options);
  const parts = report.parts
    .filter((part) => part.diagnostics.length > 0)
    .map((part) => `${visible(part.name)} (${counted(part.queues, "queue")})\n\n${blocks(part.diagnostics)}`);
  const { namespaces, queues, errors, warnings } = summarise(report);
  const rules =
    report.upgradeTo === null ? report.target : `${report.target}, and of an upgrade to ${report.upgradeTo}`;
  return [
    ...(report.reading.length === 0 ? [] : [blocks(report.reading)]),
    ...parts,
    [
      `looked at  ${counted(queues, "queue")} in ${counted(namespaces, report.partNoun)}, by the rules of ${rules}`,
      `found      ${counted(errors, "error")}, ${counted(warnings, "warning")}`,
      `model      ${report.evidence.rules}`,
      "",
    ].join("\n"),
  ].join("\n\n");
}

/** Findings of one place stand together, in the order in which the places were first named. */
function byPlace(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...Map.groupBy(diagnostics, ({ path }) => path).values()].flat();
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A diagnostic whose texts are fit to be shown: a name on a broker may hold any character. */
export function visibleDiagnostic<Shown extends Omit<Diagnostic, "code">>(each: Shown): Shown {
  return {
    ...each,
    path: visible(each.path),
    message: visible(each.message),
    notes: each.notes.map(visible),
    ...(each.help === undefined ? {} : { help: visible(each.help) }),
    ...(each.value === undefined ? {} : { value: visibleValue(each.value) }),
  };
}

function visibleValue(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  return value === null || typeof value !== "object" ? value : JSON.parse(printableJson(value, visible));
}

/**
 * JSON that is fit to be shown: what would drive a terminal is escaped, so that the data are the same.
 *
 * @param change made to every text in the data, keys apart
 */
export function printableJson(value: unknown, change: (text: string) => string = (text) => text): string {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? change(each) : each), 2);
  return text.replaceAll(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
