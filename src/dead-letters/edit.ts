import { diagnostic } from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason-of.ts";
import { refused, refuseIf } from "../diagnostics/render.ts";
import { type Editor, differencesBetween, editLetter } from "../operate/edit.ts";
import type { LetterFacts } from "../operate/facts.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import { historyWith } from "../operate/history.ts";
import type { Letter } from "../operate/letter.ts";
import { type RedrivePlan, confirmProblem, planRedrive } from "../operate/plan.ts";
import type { Sending } from "../operate/port.ts";
import { type RedriveRules, fateOf, targetOf } from "../operate/redrive.ts";
import type { Word } from "../operate/take-out.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { type Desk, withLocks } from "./locks.ts";
import { checkGroup, filterOf } from "./look.ts";
import { checkNamed, sendingRules } from "./redrive.ts";
import { type Taking, type TakingOrder, noted, runTaking, withBackup, wordOf } from "./take.ts";
import { UsageError } from "./usage-error.ts";

export interface EditOrder extends TakingOrder {
  /** Makes a new letter of each old one. */
  readonly editor: Editor;
  /** A new file for the originals. Needed with `confirm`. */
  readonly backup?: string | undefined;
  /** Letters that were sent again so often stay. The default is that of the declaration, or 3. */
  readonly generations?: number | undefined;
  /** Hears of each call of the function, with the name of the letter, and of its end, with null. */
  readonly calling?: (letter: string | null) => void;
}

/** The changes of a letter, as lines. */
export interface Sample {
  /** The name of the letter. */
  readonly id: string;
  /** A line for each part that the edit changes. */
  readonly differences: readonly string[];
}

/** The letters whose differences are shown. */
const mostShown = 5;

/**
 * Changes letters by a function, and sends them to their work queues again; or shows the differences of some.
 *
 * @throws RefusedError if the function fails for a letter, if the number is another one, or if somebody else moves
 *   letters. Nothing has moved then
 * @throws UsageError if the filter is none, or if nothing can be sent to the consumer
 */
export async function editLetters(
  desk: Desk,
  order: EditOrder,
): Promise<Taking & { readonly plan: RedrivePlan; readonly sample: readonly Sample[] }> {
  const { dead } = desk;
  const { confirm, backup } = order;
  const word = wordOf(desk, order);
  if (confirm === undefined) {
    const { plan, sample } = await planned(dead, order);
    return { word, plan, sample, taken: null };
  }
  if (backup === undefined) throw new UsageError("name a backup file for the originals");
  return withLocks(desk, async () => {
    const digests: bigint[] = [];
    const { plan, rules, sample } = await planned(dead, order, (letter, fate) => {
      if (fate === "sent") digests.push(digestOf(dead.operating.identityOf(letter)));
    });
    refuseIf(confirmProblem(dead.queue, plan.letters, confirm));
    const taken = await withBackup(backup, dead, async (saved) =>
      noted(desk, word, `edits, with a backup in ${backup}: ${plan.letters} letters of ${dead.queue}`, async () => {
        const sending = sendingOf(dead, rules, word, order);
        const decide = (letter: Letter): Sending | null => {
          const sent = sending.decide(letter);
          return sent === null ? null : { ...sent, save: async () => saved?.save(letter) };
        };
        const input = { ...plan, frozen: readFrozen(writeFrozen(digests)), decide };
        const ended = await runTaking(dead, input, desk.progress);
        return { ...ended, stopped: sending.failure() ?? ended.stopped };
      }),
    );
    return { word, plan, sample, taken };
  });
}

/** Calls the function for all chosen letters, and counts those that it changes. */
async function planned(dead: DeadQueue, order: EditOrder, judged?: Parameters<typeof planRedrive>[5]) {
  const { generations = 3 } = dead;
  const filter = filterOf(order.filter ?? {});
  const sample: Sample[] = [];
  const matches = (letter: Letter, facts: LetterFacts): boolean => {
    const changed = filter.matches(letter, facts) ? editOne(order, letter, facts) : null;
    if (changed === null) return false;
    if (sample.length < mostShown) sample.push({ id: nameOf(facts), differences: differencesBetween(letter, changed) });
    return true;
  };
  const asked = { ...sendingRules(dead), generations: order.generations ?? generations };
  const rules = { ...asked, filter: { ...filter, matches } };
  const speed = { perSecond: null, waitMs: 0 };
  const made = await planRedrive(dead.letters, dead.queue, rules, dead.factsOf, speed, judged);
  if ("problem" in made) throw refused([made.problem]);
  checkNamed(dead, made.named);
  if (made.isWhole) checkGroup(filter);
  return { plan: made.plan, rules: { ...made.rules, filter }, sample };
}

/** The way of each chosen letter. After a failure of the function all others stay. */
function sendingOf(dead: DeadQueue, rules: RedriveRules, { id: redrive, by, why }: Word, order: EditOrder) {
  let failure: string | null = null;
  const decide = (letter: Letter): Sending | null => {
    const facts = dead.factsOf(letter);
    const target = targetOf(facts, rules);
    if (failure !== null || target === null || fateOf(letter, facts, rules) !== "sent") return null;
    try {
      const changed = editOne(order, letter, facts);
      if (changed === null) return null;
      const { reason, routingKey, position, messageId } = facts;
      const at = new Date().toISOString();
      const added = { redrive, at, reason, routingKey, position, did: "edited", by, why, messageId } as const;
      return { queue: target, history: historyWith(letter, added), edited: changed };
    } catch (cause) {
      // The function did well for every letter a moment ago, so it is none that gives the same each time.
      failure = (cause as Error).message;
      return null;
    }
  };
  return { decide, failure: () => failure };
}

/** @throws RefusedError with the name of the letter */
export function editOne(
  { editor, calling }: Pick<EditOrder, "editor" | "calling">,
  letter: Letter,
  facts: LetterFacts,
): Letter | null {
  const name = nameOf(facts);
  calling?.(name);
  try {
    return editLetter(letter, facts, editor);
  } catch (cause) {
    const message = reasonOf(cause).replace(/^EditError: /, "");
    const help = "correct the function, or leave this letter out with a filter";
    throw refused([diagnostic("RD814", { path: "with", message: `${name}: ${message}`, help })]);
  } finally {
    calling?.(null);
  }
}

function nameOf({ messageId, position }: LetterFacts): string {
  return messageId ?? `the letter ${position}`;
}
