import { formatDurationMs } from "../declare/duration.ts";
import type { AttemptPlan } from "../plan/schedule.ts";
import type { ConsumerPlan, RetryPlan } from "../plan/plan.ts";
import { type Markup, markup, nothing } from "./markup.ts";
import type { Contract } from "./operations.ts";
import { worstCaseMsOf, worstCaseOf } from "./sentences.ts";

/**
 * Positions are percent of the width, so that the strip fills any width and its letters keep their size. Labels without
 * room at the narrowest width are left out. Below that width the page scrolls the strip.
 */
const narrowestPx = 600;
const characterPx = 6.4;
const firstX = 4;
const lastX = 80;
const deadX = 91;
const axisY = 46;

interface Mark extends AttemptPlan {
  readonly x: number;
  readonly latestX: number;
}

/**
 * Draws the attempts of a message if every handler fails at once. Each attempt is a mark, with a bar for its jitter,
 * and the dead queue is at the end. The distance between two marks grows with the logarithm of the delay, because one
 * schedule may mix milliseconds and hours.
 *
 * @returns one `<svg>` element, coloured by the page's style sheet
 */
export function renderTimeline(plan: ConsumerPlan, retry: RetryPlan, contract?: Contract): Markup {
  const marks = marksOf(retry);
  const last = marks.at(-1);
  if (last === undefined) return nothing;
  const roomyMarks = thinned(marks);
  const latest = Math.max(...marks.map((mark) => mark.latestX));
  return markup`<svg class="timeline" role="img" aria-label="${describe(retry, worstCaseOf(plan, retry, contract))}" height="${retry.jitterPercent === 0 ? 84 : 100}" width="100%">
<line class="axis" x1="${firstX}%" x2="${percent(Math.max(last.x, Math.min(latest, lastX)))}" y1="${axisY}" y2="${axisY}"/>
<line class="axis after" x1="${percent(last.x)}" x2="${deadX}%" y1="${axisY}" y2="${axisY}"/>
${marks.map(renderJitter)}${marks.map((mark, index) => renderGap(marks[index - 1], mark))}${marks.map((mark) =>
    renderMark(mark, roomyMarks.has(mark)),
  )}${renderDead(worstCaseMsOf(plan, retry, contract), last)}
</svg>`;
}

function marksOf(retry: RetryPlan): readonly Mark[] {
  const delays = retry.attempts.slice(1).map((each) => each.delayMs);
  const shortestMs = Math.min(...delays.filter((delayMs) => delayMs > 0));
  const weights = retry.attempts.map(({ delayMs }, index) => {
    if (index === 0) return 0;
    return delayMs === 0 ? 1 : 2 + Math.log2(delayMs / shortestMs);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let weight = 0;
  const points = retry.attempts.map(({ dueMs }, index) => {
    weight += weights[index] ?? 0;
    return { dueMs, x: total === 0 ? firstX : firstX + ((lastX - firstX) * weight) / total };
  });
  return retry.attempts.map((each, index) => {
    const x = points[index]?.x ?? firstX;
    return {
      ...each,
      x,
      latestX: each.dueLatestMs === each.dueMs ? x : positionAt(points, each.dueLatestMs),
    };
  });
}

/**
 * The position of a moment on the axis: in proportion between two marks, and after the last one with the scale of the
 * last interval.
 */
function positionAt(points: readonly { readonly dueMs: number; readonly x: number }[], dueMs: number): number {
  const next = points.findIndex((point) => point.dueMs > dueMs);
  const index = next === -1 ? points.length - 1 : next;
  const [from, to] = [points[index - 1], points[index]];
  if (from === undefined || to === undefined || to.dueMs === from.dueMs) return to?.x ?? firstX;
  const x = from.x + ((to.x - from.x) * (dueMs - from.dueMs)) / (to.dueMs - from.dueMs);
  return Math.min(x, deadX - 4);
}

/** The marks whose labels have room: the first, the last, and as many between them as do not touch. */
function thinned(marks: readonly Mark[]): ReadonlySet<Mark> {
  const last = marks.at(-1);
  const roomy = new Set<Mark>();
  let taken = Number.NEGATIVE_INFINITY;
  for (const mark of marks) {
    const half = ((labelLength(mark) * characterPx) / narrowestPx) * 50 + 0.4;
    const reachesLast = last !== undefined && mark !== last && mark.x + half > last.x - half;
    if (mark === last || (mark.x - half >= taken && !reachesLast)) {
      roomy.add(mark);
      taken = mark.x + half;
    }
  }
  return roomy;
}

function labelLength(mark: Mark): number {
  const latest = mark.dueLatestMs === mark.dueMs ? 0 : formatDurationMs(mark.dueLatestMs).length + 3;
  return Math.max(formatDurationMs(mark.dueMs).length, latest, 3);
}

function renderJitter(mark: Mark): Markup {
  if (mark.latestX === mark.x) return nothing;
  return markup`<rect class="jitter" x="${percent(mark.x)}" width="${percent(mark.latestX - mark.x)}" y="${axisY - 11}" height="22" rx="3"><title>attempt ${mark.attempt} begins between ${formatDurationMs(mark.dueMs)} and ${formatDurationMs(mark.dueLatestMs)}</title></rect>`;
}

function renderGap(from: Mark | undefined, to: Mark): Markup {
  if (from === undefined) return nothing;
  const text = `+${formatDurationMs(to.delayMs)}`;
  const roomPx = ((to.x - from.x) / 100) * narrowestPx;
  if (text.length * characterPx + 4 > roomPx) return nothing;
  return markup`<text class="gap" x="${percent((from.x + to.x) / 2)}" y="${axisY - 22}">${text}</text>`;
}

function renderMark(mark: Mark, isLabelled: boolean): Markup {
  const x = percent(mark.x);
  const title = markup`<title>attempt ${mark.attempt}: due after ${formatDurationMs(mark.dueMs)}</title>`;
  if (!isLabelled) return markup`<circle class="mark" cx="${x}" cy="${axisY}" r="4">${title}</circle>`;
  const latest =
    mark.dueLatestMs === mark.dueMs
      ? nothing
      : markup`<text class="latest" x="${x}" y="${axisY + 44}">… ${formatDurationMs(mark.dueLatestMs)}</text>`;
  return markup`<circle class="mark" cx="${x}" cy="${axisY}" r="11">${title}</circle><text class="number" x="${x}" y="${axisY + 4}">${mark.attempt}</text><text class="due" x="${x}" y="${axisY + 29}">${formatDurationMs(mark.dueMs)}</text>${latest}`;
}

/** The end of the axis. Below it stands the time to get there, if it does not touch the last attempt's time. */
function renderDead({ isBounded, durationMs }: ReturnType<typeof worstCaseMsOf>, last: Mark): Markup {
  const x = percent(deadX);
  const worst = formatDurationMs(durationMs);
  const text = isBounded ? `≤ ${worst}` : `${worst} +`;
  const takenPx = ((labelLength(last) + text.length) / 2 + 1) * characterPx;
  const hasRoom =
    takenPx <= ((deadX - last.x) / 100) * narrowestPx &&
    text.length * characterPx <= ((100 - deadX) / 50) * narrowestPx;
  const label = hasRoom ? markup`<text class="due" x="${x}" y="${axisY + 29}">${text}</text>` : nothing;
  return markup`<svg x="${x}" y="${axisY}" overflow="visible"><rect class="dead" x="-11" y="-11" width="22" height="22" rx="5"/><path class="cross" d="M-4,-4L4,4M-4,4L4,-4"/></svg><text class="gap" x="${x}" y="${axisY - 22}">dead queue</text>${label}`;
}

function describe(retry: RetryPlan, worstCase: string): string {
  const due = retry.attempts.map((each) =>
    each.dueMs === each.dueLatestMs
      ? formatDurationMs(each.dueMs)
      : `${formatDurationMs(each.dueMs)} to ${formatDurationMs(each.dueLatestMs)}`,
  );
  return `Attempts are due after ${due.join(", ")}; then the dead queue, in the worst case after ${worstCase}.`;
}

function percent(position: number): string {
  return `${Number(position.toFixed(2))}%`;
}
