import type { TakingPlan } from "../report/dead-taking.ts";
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { refuseIf } from "../diagnostics/render.ts";
import type { Filter, FilterInput } from "../operate/filter.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import { type Letter, lossIn } from "../operate/letter.ts";
import { type RedrivePlan, confirmProblem, consumedProblem } from "../operate/plan.ts";
import type { Sending } from "../operate/port.ts";
import type { RedriveRules } from "../operate/redrive.ts";
import { type TakenOut, type TakingOut, type Word, parking, takeOut } from "../operate/take-out.ts";
import { type Backup, createBackup } from "./backup.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { fileProblem } from "./export-file.ts";
import { type Desk, type Progress, person, silent, withLocks } from "./locks.ts";
import { checkGroup, filterOf } from "./look.ts";
import { UsageError } from "./usage-error.ts";

/** An order to take letters out of a dead queue. */
export interface TakingOrder {
  /** The letters to take. All of them without it. */
  readonly filter?: FilterInput;
  /** The number of letters. Without it they are only counted. */
  readonly confirm?: number | undefined;
  /** The reason, for the history of the letters. */
  readonly why: string;
  /** The person who decides, for the history of the letters. The person at the desk by default. */
  readonly by?: string | undefined;
}

/** A plan, and its end if the number of its letters was confirmed. */
export interface Taking {
  /** The letters that the order is about. */
  readonly plan: TakingPlan;
  readonly word: Word;
  /** Null if the letters were only counted. */
  readonly taken: TakenOut | null;
}

/** What becomes of the letters. */
interface Way {
  /** Half a sentence for the journal, such as `into shop.billing.parked`. */
  readonly name: string;
  /** Why a letter has to stay; null if it may go. */
  readonly stays: (letter: Letter) => string | null;
  /** The file that letters are in before they go; null if they go to another queue. */
  readonly backup: string | null;
  readonly decide: (letter: Letter, backup: Backup | null) => Sending;
}

/**
 * Moves letters into the queue for parked letters, with everything and the reason; or counts them.
 *
 * @param into the queue; that of the declaration by default
 * @throws RefusedError if the number is another one, or if somebody else moves letters. Nothing has moved then
 * @throws UsageError if there is no such queue, or if the filter is none
 */
export async function parkLetters(
  desk: Desk,
  order: TakingOrder & { readonly into?: string | undefined },
): Promise<Taking & { readonly into: string }> {
  const { dead } = desk;
  const into = order.into ?? dead.contract?.parkedQueue;
  if (into === undefined) throw new UsageError("declare deadLetter.park, or name the queue to park them into");
  if (into === dead.queue) throw new UsageError(`the letters are in ${into} already`);
  await checkOpen(dead, into);
  const word = wordOf(desk, order);
  const decide = (letter: Letter): Sending => parking(letter, dead.factsOf(letter), into, word);
  const way = { name: `parks into ${into}`, backup: null, stays: dead.operating.unsendable, decide };
  return { into, ...(await takeBy(desk, order, word, way)) };
}

/**
 * Removes letters after they are in a new backup file, or counts them.
 *
 * @throws as `parkLetters` does, and UsageError if the file cannot be written
 */
export async function discardLetters(desk: Desk, order: TakingOrder & { readonly backup: string }): Promise<Taking> {
  const { unsendable } = desk.dead.operating;
  /** An import gives a letter back as it was, so it needs no room for a history. */
  const stays = (letter: Letter): string | null => {
    const why = unsendable(letter);
    return why === "ten attributes of its own" && lossIn(letter) === null ? null : why;
  };
  return takeBy(desk, order, wordOf(desk, order), {
    name: `discards after a backup in ${order.backup}`,
    backup: order.backup,
    stays,
    decide: (letter, backup) => ({ queue: null, history: null, save: async () => backup?.save(letter) }),
  });
}

/** The word of the person that the order names, or else of the one at the desk. */
export function wordOf({ who = person() }: Desk, { why, by = who }: Pick<TakingOrder, "why" | "by">): Word {
  return { id: randomUUID().slice(0, 8), by, why };
}

/** @throws UsageError if nothing can be sent into the queue */
export async function checkOpen({ operating, letters }: DeadQueue, queue: string): Promise<void> {
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
  dead: DeadQueue,
  work: (backup: Backup | null) => Promise<TakenOut>,
): Promise<TakenOut> {
  if (file === null) return work(null);
  let backup: Backup;
  try {
    backup = createBackup(file, dead);
  } catch (cause) {
    const reason = fileProblem(cause) ?? String(cause);
    throw new UsageError(`${file} cannot be written: ${reason}; no letter has left its queue`);
  }
  const taken = await work(backup);
  const isWhole = backup.close();
  return isWhole ? taken : { ...taken, stopped: taken.stopped ?? `the last line of ${file} cannot be written` };
}

async function takeBy(desk: Desk, order: TakingOrder, word: Word, way: Way): Promise<Taking> {
  const { dead } = desk;
  const { confirm, filter: input = {} } = order;
  const filter = filterOf(input);
  if (confirm === undefined) return { word, plan: await planned(dead, filter, way.stays), taken: null };
  return withLocks(desk, async () => {
    const digests: bigint[] = [];
    const identity = (letter: Letter): number => digests.push(digestOf(dead.operating.identityOf(letter)));
    const plan = await planned(dead, filter, way.stays, identity);
    refuseIf(confirmProblem(plan.queue, plan.letters, confirm));
    const taken = await withBackup(way.backup, dead, async (backup) =>
      noted(desk, word, `${way.name}: ${plan.letters} letters of ${plan.queue}`, async () => {
        const decide = (letter: Letter): Sending => way.decide(letter, backup);
        return runTaking(dead, { ...plan, frozen: readFrozen(writeFrozen(digests)), decide }, desk.progress);
      }),
    );
    return { word, plan, taken };
  });
}

/** Writes the begin and the end of a command into the journal. A command without an end was killed. */
export async function noted(
  { journal, dead }: Desk,
  { id, by, why }: Word,
  what: string,
  work: () => Promise<TakenOut>,
): Promise<TakenOut> {
  const { windowLetters } = dead.operating;
  const risk = `until its end is here, up to ${windowLetters} letters may be in two places`;
  await journal.note(id, by, `${what}; why: ${why}; ${risk}`);
  const taken = await work();
  const { done, mayBeDoubled, stopped } = taken;
  const rest = `${mayBeDoubled === 0 ? "" : `, up to ${mayBeDoubled} in two places`}${stopped === null ? "" : `; stopped: ${stopped}`}`;
  await journal.note(id, by, `has ended after ${done} letters${rest}`);
  return taken;
}

/** @throws RefusedError if the queue is no dead queue */
async function planned(
  { queue, letters: broker, factsOf }: DeadQueue,
  filter: Filter,
  stays: Way["stays"],
  chosen?: (letter: Letter) => void,
): Promise<TakingPlan> {
  const stay: Record<string, number> = {};
  let letters = 0;
  const looked = await broker.look(queue, (letter) => {
    const why = filter.matches(letter, factsOf(letter)) ? stays(letter) : "not chosen";
    if (why === null) {
      letters += 1;
      chosen?.(letter);
    } else stay[why] = (stay[why] ?? 0) + 1;
    return true;
  });
  refuseIf(consumedProblem(queue, looked.consumers));
  if (looked.isWhole) checkGroup(filter);
  return { queue, frozen: looked.ready, letters, stay };
}

/** Takes letters out with progress. This process has the locks of the queue. */
export async function runTaking(
  { letters: dead, operating: { identityOf } }: DeadQueue,
  input: Pick<TakingOut, "queue" | "frozen" | "letters" | "decide" | "stopped">,
  progress: Progress = silent,
): Promise<TakenOut> {
  const report = progress("letters done", input.letters);
  const pause = async (delayMs: number): Promise<void> => setTimeout(delayMs);
  return takeOut(dead, { ...input, identityOf, pause, report: (done) => report(done) });
}

/** Letters that have been sent too often, and the queue that they go to. */
export interface Park {
  readonly queue: string;
  readonly letters: number;
}

/** The letters of a redrive's plan that are parked. Null if there are none, or no queue for them. */
export function parkOf({ contract, queue }: DeadQueue, { stay }: Pick<RedrivePlan, "stay">): Park | null {
  const letters = stay["sent too often"] ?? 0;
  const parkedQueue = contract?.parkedQueue;
  return letters === 0 || parkedQueue === undefined || parkedQueue === queue ? null : { queue: parkedQueue, letters };
}

/** Parks the letters that have been sent too often, before a redrive sends the others. */
export async function parkBeyond(
  dead: DeadQueue,
  {
    queue: to,
    letters,
    id,
    by,
    rules,
    ...given
  }: Park & Pick<Word, "id" | "by"> & Pick<TakingOut, "frozen" | "stopped"> & { readonly rules: RedriveRules },
  progress?: Progress,
): Promise<TakenOut> {
  const word = { id, by, why: `sent again ${rules.generations} times` };
  const decide = (letter: Letter): Sending => parking(letter, dead.factsOf(letter), to, word);
  return runTaking(dead, { ...given, queue: dead.queue, letters, decide }, progress);
}
