import { count } from "../contract/in-words.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { visible } from "../diagnostics/visible.ts";
import type { JournalEvent, JournalledRedrive } from "../operate/journal.ts";
import type { RedrivePlan, Speed } from "../operate/plan.ts";
import type { RedriveResult } from "../operate/redrive.ts";
import type { Forecast } from "../simulate/forecast-redrive.ts";
import { renderDepths } from "./simulation-chart.ts";
import { styleOf } from "./text.ts";

/**
 * @param horizonMs the longest time until a letter that fails every attempt dies again; null if unknown
 * @param forecast half a sentence if it cannot be made
 * @param park the letters that go to the queue for parked ones; null if there are none
 */
export function renderPlan(
  plan: RedrivePlan,
  { perSecond, waitMs }: Speed,
  horizonMs: number | null,
  forecast: Forecast | string,
  park: { readonly queue: string; readonly letters: number } | null = null,
): string {
  const { queue, letters, behind, frozen, targets, stay, steps, leastMs } = plan;
  const rate = perSecond === null ? "without a rate limit" : `at ${perSecond} a second`;
  const least = leastMs === null ? "" : `, at least ${formatDurationMs(Math.ceil(leastMs / 1_000) * 1_000)}`;
  const confirm = letters + (park?.letters ?? 0);
  const idle = targets.filter(({ consumers }) => consumers === 0);
  return [
    `${behind > 0 ? "at least " : ""}${letters} of ${count(frozen, "letter")} in ${visible(queue)} would be sent again`,
    ...targets.map(({ queue: target, letters: ofTarget, consumers }) => {
      const readers = consumers === "unknown" ? "" : `, for ${count(consumers, "consumer")}`;
      return `  to ${visible(target)}: ${ofTarget}${readers}`;
    }),
    ...Object.entries(stay).map(([why, number]) => `  stay: ${number}, ${why}`),
    ...(steps.length === 0
      ? []
      : [`  steps: ${steps.join(", ")}, each followed by a wait of ${formatDurationMs(waitMs)}; ${rate}${least}`]),
    ...(horizonMs === null || horizonMs <= waitMs
      ? []
      : [
          `  A letter that fails every attempt dies after up to ${formatDurationMs(horizonMs)}: the wait sees fewer deaths.`,
        ]),
    ...idle.map(
      (each) =>
        `  No consumer takes from ${visible(each.queue)} itself: deaths may come later than the check after each step.`,
    ),
    ...renderForecast(forecast),
    ...(park === null ? [] : [`  ${park.letters} were sent too often, and are parked in ${visible(park.queue)}`]),
    confirm === 0 && behind === 0
      ? "Nothing has moved, and there is no letter to send."
      : `Nothing has moved. With --confirm ${confirm} the letters are sent.`,
    ...(behind > 0
      ? [
          `${behind} are behind others of their message groups, and the broker does not show them yet. With --confirm ${confirm + behind} those that fit are sent, too.`,
        ]
      : []),
    "",
  ].join("\n");
}

const toConsumer =
  "If letters are those of a queue that a consumer had before, FILE, --target and --consumer beside --queue send them to its present one.\n";

/**
 * Lines for a person who expected other targets.
 *
 * @param workQueue the value of `--work-queue`
 * @param mayBeEarlier true if the letters that stay may be those of a queue that the consumer had before
 */
export function hintsFor(
  { targets, stay }: Pick<RedrivePlan, "targets" | "stay">,
  workQueue: string | undefined,
  mayBeEarlier: boolean,
): readonly string[] {
  if (workQueue !== undefined && targets.some(({ queue }) => queue !== workQueue))
    return [`--work-queue is for letters that name no queue. ${toConsumer}`];
  return mayBeEarlier && (stay["from another queue"] ?? 0) > 0 ? [toConsumer] : [];
}

function renderForecast(forecast: Forecast | string): readonly string[] {
  if (typeof forecast === "string") return [`What happens if they all fail again is unknown: ${forecast}.`];
  const { attempts, deadAgain, deadAgainAfterMs } = forecast;
  const seconds = Math.ceil(deadAgainAfterMs / 1_000) * 1_000;
  const runs = attempts === 1 ? "one attempt" : `${attempts} attempts`;
  return [
    `If they all fail again, and nothing stops the redrive: ${runs} each, ${deadAgain} dead again after ${formatDurationMs(seconds)}`,
    renderDepths(forecast, styleOf({})),
  ];
}

type Redriven = Pick<JournalledRedrive, "id" | "letters" | "state" | "stopAbove"> & { readonly parked: number };

/** @param shownBy the queue that alone shows deaths; null if the declaration names the consumer's own */
export function renderRedrive(result: RedriveResult & Redriven, shownBy: string | null = null): string {
  const { id, state, letters, sent, diedAgain, mayBeDoubled, unrecorded, stopped, parked, stopAbove } = result;
  // Without a letter to send, it may have ended while it parked.
  const isLast = letters > 0 && sent + unrecorded >= letters;
  const back = diedAgain === 0 ? "" : ", and those that died again are back in the dead queue";
  const rest = isLast ? `no letter is left to send${back}` : "all other letters are still in the dead queue";
  const because = stopped === null ? "" : `: ${visible(stopped)}`;
  return [
    `${sent} of ${count(letters, "letter")} were sent again by the redrive ${id}; ${diedAgain} have died again so far${shownBy === null ? "" : `, as far as ${visible(shownBy)} shows`}`,
    ...(parked === 0 ? [] : [`${parked} were sent too often before, and are parked now`]),
    ...(unrecorded === 0 ? [] : [`${unrecorded} more had left the dead queue when a process of the redrive ended`]),
    ...(mayBeDoubled === 0
      ? []
      : [`up to ${mayBeDoubled} may have been sent twice, because a connection or a process was lost`]),
    ...(state === "done" ? [] : [`${state}${isLast ? " after the last letter" : ""}${because}; ${rest}`]),
    ...(!isLast && (state === "paused" || state === "stopped") ? [`redeliver dead resume ${id} goes on`] : []),
    ...(!isLast && state === "stopped" && diedAgain > stopAbove * sent
      ? [
          `It stops again above ${Math.round(stopAbove * 100)} % dead. A new redrive has the limit of its own --stop-above.`,
        ]
      : []),
    "",
  ].join("\n");
}

/** One line for each redrive, the newest first. */
export function renderRedrives(redrives: readonly JournalledRedrive[]): string {
  if (redrives.length === 0) return "There are no redrives in the journal.\n";
  return redrives.map((each) => `${lineOf(each)}\n`).join("");
}

function lineOf({ id, at, state, reason, queue, sent, letters, diedAgain, who, why }: JournalledRedrive): string {
  const because = reason === null ? "" : ` (${visible(reason)})`;
  const died = diedAgain === 0 ? "" : `, ${diedAgain} died again`;
  const asked = why === null ? "" : `: ${visible(why)}`;
  return `${id}  ${at}  ${state}${because}  ${sent} of ${count(letters, "letter")} of ${visible(queue)} sent${died}  by ${visible(who)}${asked}`;
}

/** What other commands than redrives did, a line each. */
export function renderNotes(notes: readonly (JournalEvent & { readonly id: string })[]): string {
  return notes.map(({ id, at, who, what }) => `${id}  ${at}  ${visible(what)}  by ${visible(who)}\n`).join("");
}

export function renderStatus(redrive: JournalledRedrive, events: readonly JournalEvent[]): string {
  const { frozen, mayBeDoubled, filter } = redrive;
  const chosen = Object.entries(filter).map(([name, value]) => `${name} ${String(value)}`);
  return [
    lineOf(redrive),
    `  the queue had ${count(frozen, "letter")}; chosen: ${chosen.length === 0 ? "all" : visible(chosen.join(", "))}`,
    ...(mayBeDoubled === 0 ? [] : [`  up to ${mayBeDoubled} may have been sent twice`]),
    ...events.map(({ at, who, what }) => `  ${at}  ${visible(who)}  ${visible(what)}`),
    "",
  ].join("\n");
}
