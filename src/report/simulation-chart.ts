import { formatDurationMs } from "../declare/duration.ts";
import type { QueueDepth, SimulationResult } from "../simulate/result.ts";
import { type Style, wrap } from "./text.ts";
import { visible } from "../diagnostics/visible.ts";

const bars = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/**
 * Draws the number of messages in each queue over time, a line for each, as wide as the terminal allows. All have the
 * same axis of time, and each has its own scale. Queues that stayed empty are only named.
 */
export function renderDepths(
  { queues, stretchMs }: Pick<SimulationResult, "queues" | "stretchMs">,
  style: Style,
): string {
  const filled = queues.filter(({ most }) => most > 0);
  const empty = queues.filter(({ most }) => most === 0).map(({ queue }) => visible(queue));
  const title = style.paint("bold", "messages in the queues over time, each line up to the most that were there");
  const stayed = empty.length === 0 ? [] : wrap(`always empty: ${shortened(empty).join(", ")}`, style.columns);
  if (filled.length === 0) return [title, ...stayed].join("\n");
  const longest = Math.max(...filled.map(({ queue }) => visible(queue).length));
  const nameWidth = Math.min(longest, Math.floor(style.columns * 0.4));
  const mostWidth = Math.max(...filled.map(({ most }) => most.toLocaleString("en").length));
  const width = Math.max(10, style.columns - nameWidth - mostWidth - 6);
  const lines = filled.map((queue) => {
    const name = cut(visible(queue.queue), nameWidth).padEnd(nameWidth);
    const most = queue.most.toLocaleString("en").padStart(mostWidth);
    return `  ${name}  ${most} ${style.paint("cyan", chart(queue, width))}`.trimEnd();
  });
  return [title, ...lines, axis(queues, stretchMs, nameWidth + mostWidth + 5, width), ...stayed].join("\n");
}

/** One character stands for several stretches and shows their maximum. A queue with messages never looks empty. */
function chart({ most, mostPerStretch }: QueueDepth, width: number): string {
  const stretches = mostPerStretch.length;
  const cells = Math.min(width, stretches);
  return Array.from({ length: cells }, (_, cell) => {
    const from = Math.floor((cell * stretches) / cells);
    const to = Math.max(from + 1, Math.floor(((cell + 1) * stretches) / cells));
    const depth = mostPerStretch.slice(from, to).reduce((left, right) => Math.max(left, right), 0);
    return bars[Math.ceil((depth / most) * 8)] ?? bars[8];
  }).join("");
}

/** The times at the left and the right end. */
function axis(queues: readonly QueueDepth[], stretchMs: number, indent: number, width: number): string {
  const stretches = queues[0]?.mostPerStretch.length ?? 1;
  const cells = Math.min(width, stretches);
  const end = formatDurationMs(stretches * stretchMs);
  return `${" ".repeat(indent)}0s${end.padStart(Math.max(end.length + 1, cells - 2))}`;
}

/** Shortens the list, so that thousands of queues do not fill the screen. */
function shortened(names: readonly string[]): readonly string[] {
  return names.length <= 12 ? names : [...names.slice(0, 12), `and ${names.length - 12} more`];
}

function cut(name: string, width: number): string {
  const characters = Array.from(name);
  return characters.length <= width ? name : `${characters.slice(0, width - 1).join("")}…`;
}
