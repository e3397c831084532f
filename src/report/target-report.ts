import type { Graph } from "../brokers/graph.ts";
import type { CompiledSystem } from "../brokers/index.ts";
import { type Diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";
import type { Costs } from "./costs.ts";
import type { Verdict } from "../verify/verdict.ts";

export interface TargetReport {
  /** As on the command line: `rabbitmq@4.3`. */
  readonly target: string;
  readonly plan: Plan;
  readonly compiled: CompiledSystem;
  readonly graph: Graph;
  readonly warnings: readonly Diagnostic[];
  readonly verdicts: readonly Verdict[];
  /** Under the target's own strategy first, and then under each other. */
  readonly costs: readonly Costs[];
}

/** The warnings about one consumer. For null, those about no consumer. */
export function warningsOf(report: TargetReport, consumer: string | null): readonly Diagnostic[] {
  const isAbout = (warning: Diagnostic, name: string): boolean => {
    const place = formatPath(["consumers", name]);
    return warning.path === place || warning.path.startsWith(`${place}.`) || warning.path.startsWith(`${place}[`);
  };
  if (consumer !== null) return report.warnings.filter((warning) => isAbout(warning, consumer));
  return report.warnings.filter((warning) => !report.plan.consumers.some((each) => isAbout(warning, each.consumer)));
}

/** The id of every section of a page. Ids have letters and digits only, for any names, and no two are equal. */
export type Anchors = ReturnType<typeof anchorsOf>;

/**
 * Makes ids for the sections of a page: `rabbitmq-4-3`, `rabbitmq-4-3-billing`. No id has two hyphens in a row. So a
 * part of a section can use the section's id with `--` and a word.
 */
export function anchorsOf(reports: readonly TargetReport[]) {
  const taken = new Set<string>(["summary"]);
  const unique = (wanted: string): string => {
    let id = wanted;
    for (let number = 2; taken.has(id); number++) id = `${wanted}-${number}`;
    taken.add(id);
    return id;
  };
  const targets = reports.map((report) => unique(slug(report.target)));
  const consumers = reports.map(
    ({ plan }, index) =>
      new Map(plan.consumers.map(({ consumer }) => [consumer, unique(`${targets[index]}-${slug(consumer)}`)])),
  );
  return {
    target: (target: number) => targets[target] ?? "",
    consumer: (target: number, consumer: string) => consumers[target]?.get(consumer) ?? "",
  };
}

function slug(name: string): string {
  const letters = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return letters === "" ? "x" : letters;
}
