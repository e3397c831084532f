import type { DeadQueue } from "../dead-letters/dead-queue.ts";
import { type RedriveWish, planLetters, redriveLetters } from "../dead-letters/redrive.ts";
import type { RedriveEnd } from "../dead-letters/run.ts";
import type { FilterInput } from "../operate/filter.ts";
import type { JournalledPlace } from "../operate/journal.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { deskOf, withJournal } from "./dead-journal.ts";
import type { FilterOptions, PlaceOptions } from "./dead-options.ts";
import { atPlace } from "./dead-place.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended } from "./refuse.ts";

export interface RedriveOptions extends FilterOptions, JournalOptions {
  readonly rate?: number;
  readonly generations?: number;
  readonly wait: number;
  readonly stopAbove: number;
  readonly confirm?: number;
  readonly why?: string;
}

/** Plans a redrive, and does it if the count of its letters is confirmed. */
export async function redriveCommand(file: string | undefined, options: RedriveOptions): Promise<number> {
  return atPlace(file, options, async (dead) => {
    const { confirm, why, stopAbove } = options;
    if (confirm === undefined) return showPlan(dead, options);
    return withJournal(options, async (journal) => {
      const order = { confirm, why, stopAbove: stopAbove / 100, place: placeWords(file, options) };
      return answerRedrive(
        options,
        dead,
        await redriveLetters(deskOf(dead, journal), { ...wishOf(options), ...order }),
      );
    });
  });
}

async function showPlan(dead: DeadQueue, options: RedriveOptions): Promise<number> {
  const wish = wishOf(options);
  const plan = await planLetters(dead, wish);
  if (options.json === true) return print(plan);
  const { hintsFor, renderPlan } = await import("../report/dead-redrive.ts");
  const { horizonMs, forecast, park } = plan;
  const { perSecond, waitMs } = wish;
  const text = renderPlan(plan, { perSecond, waitMs }, horizonMs, forecast, park);
  const mayBeEarlier = dead.contract !== undefined && dead.others === null && !dead.isShared;
  return print([text, ...hintsFor(plan, options.workQueue, mayBeEarlier)].join(""));
}

/** Prints the end of a redrive. */
export async function answerRedrive(
  { json }: { readonly json?: boolean },
  { contract, queue }: DeadQueue,
  end: RedriveEnd,
): Promise<number> {
  const { renderRedrive } = await import("../report/dead-redrive.ts");
  const printed = await print(json === true ? end : renderRedrive(end, contract === undefined ? queue : null));
  return ended(printed, end.state === "done" ? exitCodes.fine : exitCodes.incomplete);
}

function wishOf(options: RedriveOptions) {
  const { rate = null, wait, generations } = options;
  const wish = { filter: filterWords(options), perSecond: rate, waitMs: wait };
  return (generations === undefined ? wish : { ...wish, generations }) satisfies RedriveWish;
}

function placeWords(file: string | undefined, options: PlaceOptions): JournalledPlace {
  const { target, strategy, consumer, parked = false, queue, workQueue, url, managementUrl, ca, cert, key } = options;
  const hosts = { url: withoutPassword(url), managementUrl: withoutPassword(managementUrl) };
  return { file, target, strategy, consumer, parked, queue, workQueue, ca, cert, key, ...hosts };
}

function withoutPassword(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const full = new URL(url);
  full.password = "";
  return full.href;
}

export function filterWords(options: FilterOptions): FilterInput {
  const { group, reason, error, type, failedIn, from, to, routingKey, header, body, generation, redrive } = options;
  return { group, reason, error, type, failedIn, from, to, routingKey, header, body, generation, redrive };
}
