import { setTimeout } from "node:timers/promises";

import { RefusedError } from "../diagnostics/diagnostic.ts";
import type { Frozen } from "../operate/frozen.ts";
import type { Journal, RedriveCounts, RedriveFacts, RedriveState, Wish } from "../operate/journal.ts";
import type { RedrivePlan } from "../operate/plan.ts";
import { type RedriveInput, type RedriveResult, type RedriveRules, redrive } from "../operate/redrive.ts";
import { type TakenOut, nothingTaken } from "../operate/take-out.ts";
import { type Desk, silent } from "./locks.ts";
import { createPace } from "./pace.ts";
import { type Park, parkBeyond } from "./take.ts";

const beatMs = 500;
const askEveryMs = 100;

/** A redrive that begins or goes on. The journal has it, and this process has its lock. */
export interface Begun extends Pick<RedriveInput, "unrecorded"> {
  readonly facts: RedriveFacts;
  /** Left out if it goes on. */
  readonly plan?: RedrivePlan;
  readonly before: RedriveCounts;
  readonly frozen: Frozen;
  readonly rules: RedriveRules;
  readonly who: string;
  /** The letters to park before the first is sent. */
  readonly park: (Park & { readonly frozen: Frozen }) | null;
}

/** The end of a redrive. */
export interface RedriveEnd extends RedriveResult {
  /** The name of the redrive in the journal. */
  readonly id: string;
  /** The dead queue that the letters left. */
  readonly queue: string;
  /** `done` if every letter of the plan was sent, and no more of them died again than may. */
  readonly state: RedriveState;
  /** The letters of the plan. */
  readonly letters: number;
  /** The share of sent letters that may have died again, from 0 to 1. */
  readonly stopAbove: number;
  /** The letters that were sent too often, and are in the parked queue now. */
  readonly parked: number;
  /** Left out if the redrive went on after a pause. */
  readonly plan?: RedrivePlan | undefined;
}

/** Runs a redrive beside its journal. */
export async function run(desk: Desk, begun: Begun): Promise<RedriveEnd> {
  const { dead, journal, progress = silent, began } = desk;
  const { facts, who, plan, before } = begun;
  const { id, queue, letters, stopAbove } = facts;
  began?.(id, letters - before.sent);
  const report = progress("letters sent", letters - before.sent);
  const pace = createPace(letters - before.sent, facts.waitMs);
  const heart = startHeart(journal, id, before);
  const finish = async (state: RedriveState, reason: string | null, counts: RedriveCounts): Promise<void> => {
    await heart.stop();
    const { sent, diedAgain, mayBeDoubled } = counts;
    const change = { state, reason, wish: null, sent, diedAgain, mayBeDoubled, intended: sent };
    await journal.change(id, change, who, `${reason === null ? state : `${state}: ${reason}`}; ${sent} letters sent`);
  };
  let result: RedriveResult & { readonly parked: number };
  try {
    const { done, mayBeDoubled, stopped } = await parkFirst(desk, begun, heart);
    const sent = await redrive(dead.letters, {
      ...facts,
      ...begun,
      deadQueue: dead.contract?.deadQueue ?? queue,
      // After a parking that stopped, nothing is sent.
      letters: stopped === null ? letters : before.sent,
      before: { ...before, mayBeDoubled: before.mayBeDoubled + mayBeDoubled },
      factsOf: dead.factsOf,
      identityOf: dead.operating.identityOf,
      arrivedAtMs: dead.operating.arrivedAtMs,
      wish: heart.wish,
      pause: async (delayMs) => pauseUnlessWished(heart, delayMs),
      // Without words the redrive waits as long as it does without a consumer that tells.
      told: async () => journal.told(id).catch(() => ({ told: 0, dead: 0 })),
      intend: async (until, { sent: done }) => {
        pace.begin();
        return journal.change(id, { intended: until, sent: done }, who, `sends letters ${done + 1} to ${until}`).then(
          () => null,
          (cause: unknown) => {
            if (cause instanceof RefusedError) return cause.diagnostics[0]?.message ?? "";
            throw cause;
          },
        );
      },
      report: (counts) => {
        heart.counts(counts);
        report(counts.sent - before.sent, `, ${counts.diedAgain} died again`, pace.sent());
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
  await finish(state, reason, result).catch((cause: unknown) => {
    // The letters have been sent, whatever the journal says.
    if (!(cause instanceof RefusedError)) throw cause;
  });
  return { id, queue, state, letters, stopAbove, plan, ...result, stopped: reason };
}

/** Parks the letters that have been sent too often, before the others are sent. */
async function parkFirst(
  { dead, journal, progress }: Desk,
  { facts: { id }, rules, before, who, park }: Begun,
  heart: Heart,
): Promise<TakenOut> {
  if (park === null) return nothingTaken;
  // If this process is killed now, so many letters may be in both queues.
  const atRisk = before.mayBeDoubled + Math.min(park.letters, dead.operating.windowLetters);
  heart.counts({ ...before, mayBeDoubled: atRisk });
  await journal.change(id, { mayBeDoubled: atRisk }, who, `parks ${park.letters} letters that were sent too often`);
  const stopped = (): string | null => (heart.wish() === null ? null : "somebody wants it to end");
  const parked = await parkBeyond(dead, { ...park, id, by: who, rules, stopped }, progress);
  const mayBeDoubled = before.mayBeDoubled + parked.mayBeDoubled;
  heart.counts({ ...before, mayBeDoubled });
  await journal.change(id, { mayBeDoubled }, who, `parked ${parked.done} letters`);
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

type Heart = ReturnType<typeof startHeart>;

/** Writes the numbers into the journal twice a second, and reads the wishes of others. */
function startHeart(journal: Journal, id: string, before: RedriveCounts) {
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
    /** Also a wish if the journal fails, because nobody could end the redrive then. */
    wish: () => wish,
    failure: () => failure,
    counts: ({ sent, diedAgain, mayBeDoubled }: RedriveCounts) => {
      last = { sent, diedAgain, mayBeDoubled };
    },
    last: () => last,
    stop: async () => {
      stopping.abort();
      await beating;
    },
  };
}
