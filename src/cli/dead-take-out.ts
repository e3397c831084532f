import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { refused } from "../diagnostics/render.ts";
import type { Filter } from "../operate/filter.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import { lossIn } from "../operate/letter.ts";
import { type RedrivePlan, confirmProblem, consumedProblem } from "../operate/plan.ts";
import type { Sending } from "../operate/port.ts";
import type { RedriveRules } from "../operate/redrive.ts";
import { type TakenOut, type TakingOut, type Word, parking, takeOut } from "../operate/take-out.ts";
import { type Backup, createBackup } from "./backup.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { reasonOf } from "./dead-export.ts";
import { person, withLocks } from "./dead-journal.ts";
import type { FilterOptions } from "./dead-options.ts";
import { type Place, UsageError, atPlace, filterOf } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended } from "./refuse.ts";

export interface TakingOptions extends FilterOptions, JournalOptions {
  readonly confirm?: number;
  readonly why: string;
  readonly by?: string;
}

type Visit = Parameters<Place["letters"]["look"]>[1];
type Letter = Parameters<Visit>[0];
type Facts = ReturnType<Place["factsOf"]>;

/** A command that takes letters out of a queue. */
interface Taking {
  /** Such as `be parked in shop.billing.parked`. */
  readonly doing: string;
  /** Why a letter has to stay; null if it may go. */
  readonly stays: (letter: Letter) => string | null;
  /** The file that letters are in before they go; null if they go to another queue. */
  readonly backup: string | null;
  readonly decide: (letter: Letter, facts: Facts, backup: Backup | null) => Sending;
}

/** Parks letters, or counts those that it would park. */
export async function parkCommand(
  file: string | undefined,
  options: TakingOptions & { readonly into?: string },
): Promise<number> {
  return atPlace(file, options, async (place) => {
    const to = options.into ?? place.contract?.parkedQueue;
    if (to === undefined) throw new UsageError("declare deadLetter.park, or name a queue with --into");
    if (to === place.queue) throw new UsageError(`the letters are in ${to} already`);
    await checkOpen(place, to);
    const word = wordOf(options);
    return takeFrom(place, options, word, {
      doing: `be parked in ${to}`,
      backup: null,
      stays: place.operating.unsendable,
      decide: (letter, facts) => parking(letter, facts, to, word),
    });
  });
}

/** Removes letters after they are in a file, or counts those that it would remove. */
export async function discardCommand(
  file: string | undefined,
  options: TakingOptions & { readonly backup: string },
): Promise<number> {
  return atPlace(file, options, async (place) => {
    const { unsendable } = place.operating;
    /** An import gives a letter back as it was, so it needs no room for a history. */
    const stays = (letter: Letter): string | null => {
      const why = unsendable(letter);
      return why === "ten attributes of its own" && lossIn(letter) === null ? null : why;
    };
    return takeFrom(place, options, wordOf(options), {
      doing: `be removed, and be in ${options.backup}`,
      backup: options.backup,
      stays,
      decide: (letter, _, backup) => ({ queue: null, history: null, save: async () => backup?.save(letter) }),
    });
  });
}

export function wordOf({ why, by = person() }: Pick<TakingOptions, "why" | "by">): Word {
  return { id: randomUUID().slice(0, 8), by, why };
}

/** @throws UsageError if nothing can be sent into the queue */
export async function checkOpen({ operating, letters }: Place, queue: string): Promise<void> {
  const closed = operating.closedFor(queue);
  if (closed !== null) throw new UsageError(closed);
  if ((await letters.consumersOf(queue)) === null) throw new UsageError(`there is no queue ${queue}`);
}

/**
 * Does work with a new backup file, and writes its last line. A file without one counts as cut off.
 *
 * @throws UsageError if the file cannot be written
 */
export async function withBackup(
  file: string | null,
  place: Place,
  work: (backup: Backup | null) => Promise<number>,
): Promise<number> {
  if (file === null) return work(null);
  let backup: Backup;
  try {
    backup = createBackup(file, place);
  } catch (cause) {
    throw new UsageError(
      `${file} cannot be written: ${reasonOf(cause) ?? String(cause)}; no letter has left its queue`,
    );
  }
  const exitCode = await work(backup);
  return backup.close() ? exitCode : exitCodes.incomplete;
}

async function takeFrom(place: Place, options: TakingOptions, word: Word, taking: Taking): Promise<number> {
  const { confirm, json } = options;
  const { queue, factsOf, operating } = place;
  const filter = filterOf(options);
  const { doing, stays } = taking;
  const { renderTaking, renderTaken } = await import("../report/dead-taking.ts");
  if (confirm === undefined) {
    const plan = await planned(place, filter, stays);
    return print(json === true ? plan : renderTaking(plan, doing));
  }
  return withLocks(place, options, async () => {
    const digests: bigint[] = [];
    const plan = await planned(place, filter, stays, (letter) => digests.push(digestOf(operating.identityOf(letter))));
    const problem = confirmProblem(queue, plan.letters, confirm);
    if (problem !== null) throw refused([problem]);
    return withBackup(taking.backup, place, async (backup) => {
      const decide = (letter: Letter): Sending => taking.decide(letter, factsOf(letter), backup);
      const taken = await runTaking(place, { ...plan, frozen: readFrozen(writeFrozen(digests)), decide });
      return answerTaken(options, { ...word, plan, ...taken }, renderTaken(plan, doing, taken), taken);
    });
  });
}

/** @throws RefusedError if the queue is no dead queue */
async function planned(place: Place, filter: Filter, stays: Taking["stays"], chosen?: (letter: Letter) => void) {
  const { queue, letters: dead, factsOf } = place;
  const stay: Record<string, number> = {};
  let letters = 0;
  const looked = await dead.look(queue, (letter) => {
    const why = filter.matches(letter, factsOf(letter)) ? stays(letter) : "not chosen";
    if (why === null) {
      letters += 1;
      chosen?.(letter);
    } else stay[why] = (stay[why] ?? 0) + 1;
    return true;
  });
  const consumed = consumedProblem(queue, looked.consumers);
  if (consumed !== null) throw refused([consumed]);
  return { queue, frozen: looked.ready, letters, stay };
}

/** Takes letters out with progress. This process has the locks of the queue. */
export async function runTaking(
  { letters: dead, operating: { identityOf } }: Place,
  input: Pick<TakingOut, "queue" | "frozen" | "letters" | "decide" | "stopped">,
): Promise<TakenOut> {
  const progress = createProgress("letters done", input.letters);
  const [pause, report] = [(delayMs: number) => setTimeout(delayMs), (done: number) => progress(done)];
  return takeOut(dead, { ...input, identityOf, pause, report });
}

export async function answerTaken(
  { json }: TakingOptions,
  data: object,
  text: string,
  { stopped }: TakenOut,
): Promise<number> {
  const printed = await print(json === true ? data : text);
  return ended(printed, stopped === null ? exitCodes.fine : exitCodes.incomplete);
}

/** Letters that have been sent too often, and the queue that they go to. */
export interface Park {
  readonly queue: string;
  readonly letters: number;
}

/** The letters of a redrive's plan that are parked. Null if there are none, or no queue for them. */
export function parkOf({ contract, queue }: Place, { stay }: Pick<RedrivePlan, "stay">): Park | null {
  const letters = stay["sent too often"] ?? 0;
  const parkedQueue = contract?.parkedQueue;
  return letters === 0 || parkedQueue === undefined || parkedQueue === queue ? null : { queue: parkedQueue, letters };
}

/** Parks the letters that have been sent too often, before a redrive sends the others. */
export async function parkBeyond(
  place: Place,
  {
    queue: to,
    letters,
    id,
    by,
    rules,
    ...given
  }: Park & Pick<Word, "id" | "by"> & Pick<TakingOut, "frozen" | "stopped"> & { readonly rules: RedriveRules },
): Promise<TakenOut> {
  const word = { id, by, why: `sent again ${rules.generations} times` };
  const decide = (letter: Letter): Sending => parking(letter, place.factsOf(letter), to, word);
  return runTaking(place, { ...given, queue: place.queue, letters, decide });
}
