import type { Evidence } from "../brokers/broker.ts";
import { count } from "../contract/in-words.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Paint } from "../diagnostics/paint.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { visible } from "../diagnostics/visible.ts";

/** The findings in one namespace of a broker. */
export interface AuditedPart {
  readonly name: string;
  readonly queues: number;
  readonly diagnostics: readonly Diagnostic[];
}

export interface AuditReport {
  readonly target: string;
  /** The version of an upgrade that the audit also judged. Null for none. */
  readonly upgradeTo: string | null;
  readonly evidence: Evidence;
  /** The noun for a part, such as `virtual host`. */
  readonly partNoun: string;
  /** The diagnostics from reading the topology. */
  readonly reading: readonly Diagnostic[];
  readonly parts: readonly AuditedPart[];
}

export function summarise({ reading, parts }: AuditReport) {
  const all = [...reading, ...parts.flatMap((part) => part.diagnostics)];
  return {
    namespaces: parts.length,
    queues: parts.reduce((sum, part) => sum + part.queues, 0),
    errors: all.filter(({ severity }) => severity === "error").length,
    warnings: all.filter(({ severity }) => severity === "warning").length,
  };
}

/** The findings by namespace and place, then the evidence behind them. A namespace without findings has no heading. */
export function renderAudit(report: AuditReport, options: { readonly colour: boolean | Paint }): string {
  const blocks = (diagnostics: readonly Diagnostic[]): string => renderDiagnostics(byPlace(diagnostics), options);
  const parts = report.parts
    .filter((part) => part.diagnostics.length > 0)
    .map((part) => `${visible(part.name)} (${count(part.queues, "queue")})\n\n${blocks(part.diagnostics)}`);
  const { namespaces, queues, errors, warnings } = summarise(report);
  const rules =
    report.upgradeTo === null ? report.target : `${report.target}, and of an upgrade to ${report.upgradeTo}`;
  return [
    ...(report.reading.length === 0 ? [] : [blocks(report.reading)]),
    ...parts,
    [
      `looked at  ${count(queues, "queue")} in ${count(namespaces, report.partNoun)}, by the rules of ${rules}`,
      `found      ${count(errors, "error")}, ${count(warnings, "warning")}`,
      `model      ${report.evidence.rules}`,
      "",
    ].join("\n"),
  ].join("\n\n");
}

/** Puts findings of one place together, in the order in which the places first occur. */
function byPlace(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...Map.groupBy(diagnostics, ({ path }) => path).values()].flat();
}
