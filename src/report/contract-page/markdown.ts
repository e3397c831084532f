import { visible } from "../../diagnostics/visible.ts";

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => visible(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A name as code. If it has backticks, more of them enclose it than it has in a row. */
export function inline(name: string): string {
  const longest = Math.max(0, ...[...name.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${visible(name)}${fence}` : `${fence} ${visible(name)} ${fence}`;
}
