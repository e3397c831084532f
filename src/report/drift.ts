import { numberedSteps } from "../diagnostics/numbered-steps.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Paint } from "../diagnostics/paint.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { visible } from "../diagnostics/visible.ts";
import type { DriftWords, JudgedDifference } from "../migrate/judge-drift.ts";
import { type Costs, costChangeTable } from "./costs.ts";
import { renderCostsText } from "./text.ts";
import { driftDiagnostics, effectWords, joinAlike, notesOf, subjectOf } from "../migrate/judge-drift.ts";

export interface ComparedDrift {
  /** The system and its target. */
  readonly title: string;
  readonly judged: readonly JudgedDifference[];
  readonly words: DriftWords;
  /** The diagnostics that are about no difference, such as a part that could not be read. */
  readonly others: readonly Diagnostic[];
  /** The costs of both declarations by strategy; null if one side is a broker. */
  readonly costs: {
    readonly target: string;
    readonly before: readonly Costs[];
    readonly after: readonly Costs[];
  } | null;
}

/** Renders the differences as text, and those that are alike as one. */
export function renderDriftText(
  { title, judged, words, others, costs }: ComparedDrift,
  colour: boolean | Paint,
): string {
  const diagnostics = [...driftDiagnostics(joinAlike(judged), words), ...others];
  const blocks = diagnostics.length === 0 ? "" : `${renderDiagnostics(diagnostics, { colour })}\n\n`;
  const table =
    costs === null ? "" : `\n${renderCostsText(costs.target, costChangeTable(costs.before, costs.after), { colour })}`;
  return `${blocks}${title}: ${countText(judged)}\n${table}`;
}

/**
 * Renders the differences as Markdown, for a comment on a pull request: a table, and the paths of messages folded below. Those
 * that are alike have one line.
 */
export function renderDriftMarkdown({ title, judged, words, others, costs }: ComparedDrift): string {
  const notes = [
    ...(costs === null ? [] : costRows(costs)),
    ...others.flatMap(({ code, message }) => ["", `**${code}:** ${cell(message)}`]),
  ];
  if (judged.length === 0) return [`**${cell(title)}:** no difference found`, ...notes, ""].join("\n");
  const all = joinAlike(judged).map((each) => ({ ...each, subject: cell(subjectOf(each, words)) }));
  const rows = all.map((each) => {
    const why = notesOf(each, words).map(cell).join("<br>");
    return `| ${each.subject} | ${effectWords[each.effect]} | ${why} |`;
  });
  const paths = all.flatMap(({ subject, trace }) =>
    trace.length === 0 ? [] : ["", `${subject}:`, "", ...numberedSteps(trace.map(cell))],
  );
  const folded =
    paths.length === 0 ? [] : ["", "<details><summary>paths of messages</summary>", ...paths, "", "</details>"];
  const head = ["| difference | effect | why |", "|---|---|---|"];
  return [`**${cell(title)}:** ${countText(judged)}`, "", ...head, ...rows, ...folded, ...notes, ""].join("\n");
}

function costRows({ before, after }: NonNullable<ComparedDrift["costs"]>): readonly string[] {
  const { head, rows } = costChangeTable(before, after);
  return [
    "",
    ...[head, head.map(() => "---"), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(" | ")} |`),
  ];
}

function countText(judged: readonly JudgedDifference[]): string {
  if (judged.length === 0) return "no difference";
  const count = (wanted: JudgedDifference["effect"]): number => judged.filter(({ effect }) => effect === wanted).length;
  const counts = `${count("loss")} can lose messages, ${count("otherwise")} change the behaviour, ${count("harmless")} harmless`;
  return `${judged.length} difference${judged.length === 1 ? "" : "s"}: ${counts}`;
}

/** Names on a broker may contain anything that means something in Markdown. */
function cell(text: string): string {
  return visible(text).replaceAll(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}
