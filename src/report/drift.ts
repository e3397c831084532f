import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import type { DriftWords, JudgedDifference } from "../migrate/judge-drift.ts";
import { effectWords, reasonsOf, settingTexts, subjectOf } from "../migrate/judge-drift.ts";

/**
 * Renders the differences as Markdown, for a comment on a pull request: a table, and the paths of messages below.
 *
 * @param others the diagnostics that are about no difference, such as a part that could not be read
 */
export function renderDriftMarkdown(
  title: string,
  judged: readonly JudgedDifference[],
  words: DriftWords,
  others: readonly Diagnostic[],
): string {
  const notes = others.flatMap(({ code, message }) => ["", `**${code}:** ${cell(message)}`]);
  if (judged.length === 0) return [`**${cell(title)}:** no difference found`, ...notes, ""].join("\n");
  const rows = judged.map((each) => {
    const why = [...settingTexts(each, words), ...reasonsOf(each)].map(cell).join("<br>");
    return `| ${cell(subjectOf(each, words))} | ${effectWords[each.effect]} | ${why} |`;
  });
  const paths = judged
    .filter(({ trace }) => trace.length > 0)
    .map((each) => [
      `${cell(subjectOf(each, words))}:`,
      "",
      ...each.trace.map((step, at) => `${at + 1}. ${cell(step)}`),
    ]);
  return [
    `**${cell(title)}:** ${countText(judged)}`,
    "",
    "| difference | effect | why |",
    "|---|---|---|",
    ...rows,
    ...paths.flatMap((lines) => ["", ...lines]),
    ...notes,
    "",
  ].join("\n");
}

/** The number of differences of each effect. */
export function countText(judged: readonly JudgedDifference[]): string {
  if (judged.length === 0) return "no difference";
  const count = (wanted: JudgedDifference["effect"]): number => judged.filter(({ effect }) => effect === wanted).length;
  return `${judged.length} ${judged.length === 1 ? "difference" : "differences"}: ${count("loss")} can lose messages, ${count("otherwise")} change the behaviour, ${count("harmless")} harmless`;
}

/** Names on a broker may contain anything that means something in Markdown. */
function cell(text: string): string {
  return visible(text).replaceAll(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}
