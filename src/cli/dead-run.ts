import { setTimeout } from "node:timers/promises";

import { RefusedError } from "../diagnostics/diagnostic.ts";
import type { Frozen } from "../operate/frozen.ts";
import type { Journal, RedriveCounts, RedriveFacts, RedriveState, Wish } from "../operate/journal.ts";
import type { RedrivePlan } from "../operate/plan.ts";
import { type RedriveInput, type RedriveResult, type RedriveRules, redrive } from "../operate/redrive.ts";
import { type TakenOut, nothingTaken } from "../operate/take-out.ts";
import type { Place } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { exitCodes } from "./exit-codes.ts";
import { print, writeError } from "./output.ts";
import { ended } from "./refuse.ts";

const beatMs = 500;
const askEveryMs = 100;

/** A redrive that begins or goes on. The journal has it, and this process has its lock. */
export interface Begun extends Pick<RedriveInput, "unrecorded" | "heldMs"> {
  readonly facts: RedriveFacts;
  /** Left out if it goes on. */
  readonly plan?: RedrivePlan;
  readonly before: RedriveCounts;
  readonly frozen: Frozen;
  readonly rules: RedriveRules;
  readonly who: string;
  /** Parks letters before the first is sent. Left out if there are none to park. */
  readonly park?: (stopped: () => string | null) => Promise<TakenOut>;
}

/** Runs a redrive beside its journal, and prints its end. */
export async function run(
  { letters: dead, contract, factsOf, operating }: Place,
  journal: Journal,
  begun: Begun,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { facts, who, plan, before } = begun;
  const { id, queue, letters } = facts;
  writeError(
    `redeliver: the redrive ${id} sends ${letters - before.sent} letters; redeliver dead pause ${id} ends it\n`,
  );
  const progress = createProgress("letters sent", letters - before.sent);
  const heart = startHeart(journal, id, before);
  const finish = async (state: RedriveState, reason: string | null, counts: RedriveCounts): Promise<void> => {
    await heart.stop();
    const { sent, diedAgain, mayBeDoubled } = counts;
    const change = { state, reason, wish: null, sent, diedAgain, mayBeDoubled, intended: sent };
    await journal.change(id, change, who, `${reason === null ? state : `${state}: ${reason}`}; ${sent} letters sent`);
  };
  let result: RedriveResult & { readonly parked: number };
  try {
    const { done, mayBeDoubled, stopped } = await parkFirst(begun, journal, heart);
    const sent = await redrive(dead, {
      ...facts,
      ...begun,
      deadQueue: contract?.deadQueue ?? queue,
      // After a parking that stopped, nothing is sent.
      letters: stopped === null ? letters : before.sent,
      before: { ...before, mayBeDoubled: before.mayBeDoubled + mayBeDoubled },
      factsOf,
      identityOf: operating.identityOf,
      wish: heart.wish,
      pause: async (delayMs) => pauseUnlessWished(heart, delayMs),
      intend: async (until, counts) =>
        journal.change(id, { intended: until, sent: counts.sent }, who, `sends letters ${counts.sent + 1} to ${until}`),
      report: (counts) => {
        heart.counts(counts);
        progress(counts.sent - before.sent, `, ${counts.diedAgain} died again`);
      },
    });
    result = { ...sent, parked: done, stopped: stopped ?? sent.stopped };
  } catch (cause) {
    const reason = cause instanceof RefusedError ? (cause.diagnostics[0]?.message ?? "") : "an error of Redeliver";
    await finish("stopped", reason, heart.last()).catch(() => undefined);
    throw cause;
  } finally {
    await heart.stop();
  }
  const { state, reason } = endOf(result, heart.wish(), heart.failure());
  const unwritten = await finish(state, reason, result).then(
    () => null,
    (cause: unknown) => cause as Error,
  );
  if (unwritten !== null && !(unwritten instanceof RefusedError)) throw unwritten;
  const said = { id, state, letters, ...result, stopped: reason };
  const { renderRedrive } = await import("../report/dead-redrive.ts");
  const printed = await print(json === true ? { ...said, queue, plan } : renderRedrive(said));
  return ended(printed, state === "done" ? exitCodes.fine : exitCodes.incomplete);
}

/** Parks the letters that have been sent too often, before the others are sent. */
async function parkFirst(
  { facts: { id }, before, who, park }: Begun,
  journal: Journal,
  heart: Heart,
): Promise<TakenOut> {
  if (park === undefined) return nothingTaken;
  const parked = await park(() => (heart.wish() === null ? null : "somebody wants it to end"));
  const mayBeDoubled = before.mayBeDoubled + parked.mayBeDoubled;
  heart.counts({ ...before, mayBeDoubled });
  await journal.change(id, { mayBeDoubled }, who, `parked ${parked.done} letters that were sent too often`);
  return parked;
}

async function pauseUnlessWished({ wish }: Heart, delayMs: number): Promise<void> {
  const untilMs = performance.now() + delayMs;
  for (let leftMs = delayMs; leftMs > 0 && wish() === null; leftMs = untilMs - performance.now())
    await setTimeout(Math.min(leftMs, askEveryMs));
}

function endOf(
  { stopped }: RedriveResult,
  wish: Wish | null,
  failure: string | null,
): { readonly state: RedriveState; readonly reason: string | null } {
  if (failure !== null) return { state: "stopped", reason: failure };
  if (stopped === null) return { state: "done", reason: null };
  if (wish === null) return { state: "stopped", reason: stopped };
  return { state: wish === "pause" ? "paused" : "cancelled", reason: null };
}

interface Heart {
  /** Also a wish if the journal fails, because nobody could end the redrive then. */
  readonly wish: () => Wish | null;
  readonly failure: () => string | null;
  readonly counts: (counts: RedriveCounts) => void;
  readonly last: () => RedriveCounts;
  readonly stop: () => Promise<void>;
}

/** Writes the numbers into the journal twice a second, and reads the wishes of others. */
function startHeart(journal: Journal, id: string, before: RedriveCounts): Heart {
  let last = before;
  let wish: Wish | null = null;
  let failure: string | null = null;
  const stopping = new AbortController();
  const beat = async (): Promise<void> => {
    while (wish === null && !stopping.signal.aborted) {
      try {
        wish = await journal.beat(id, last);
      } catch (cause) {
        failure = cause instanceof RefusedError ? (cause.diagnostics[0]?.message ?? "") : String(cause);
        wish = "pause";
      }
      await setTimeout(beatMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const beating = beat();
  return {
    wish: () => wish,
    failure: () => failure,
    counts: ({ sent, diedAgain, mayBeDoubled }) => {
      last = { sent, diedAgain, mayBeDoubled };
    },
    last: () => last,
    stop: async () => {
      stopping.abort();
      await beating;
    },
  };
}
