import type { LetterFacts } from "./facts.ts";
import { type Frozen, digestOf } from "./frozen.ts";
import { historyWith } from "./history.ts";
import type { Letter } from "./letter.ts";
import { createLosses } from "./losses.ts";
import type { DeadLetters, Operating, Pass, Sending } from "./port.ts";
import { presentAfterLoss } from "./redrive.ts";

/** The person who moves letters, and the reason. */
export interface Word {
  /** The id of the command. */
  readonly id: string;
  readonly by: string;
  readonly why: string;
}

export interface TakingOut {
  readonly queue: string;
  /** The letters that were chosen when they were counted. No others are touched. */
  readonly frozen: Frozen;
  /** The letters to take out. */
  readonly letters: number;
  readonly identityOf: Operating["identityOf"];
  /** Asked for letters of the set alone. */
  readonly decide: Pass["decide"];
  readonly stopped?: Pass["stopped"];
  readonly pause: (delayMs: number) => Promise<void>;
  readonly report: (done: number) => void;
}

export interface TakenOut {
  readonly done: number;
  /** The most letters that may be in two places. */
  readonly mayBeDoubled: number;
  /** Why it ended before the last letter. Null if it did not. */
  readonly stopped: string | null;
}

export const nothingTaken: TakenOut = { done: 0, mayBeDoubled: 0, stopped: null };

/** Takes chosen letters out of a queue, without steps. It survives lost connections. */
export async function takeOut(dead: DeadLetters, input: TakingOut): Promise<TakenOut> {
  const { queue, letters, identityOf, decide, stopped: asksToStop } = input;
  let { frozen } = input;
  const losses = createLosses(input.pause, () => asksToStop?.() ?? null);
  let [done, mayBeDoubled] = [0, 0];
  let stopped: string | null = null;
  while (done < letters && stopped === null) {
    const [open, after] = [frozen, frozen.copy()];
    const pass: Pass = {
      most: letters - done,
      perSecond: null,
      decide: (letter) => (open.take(digestOf(identityOf(letter))) ? decide(letter) : null),
      onSent: (letter, isGone) => {
        if (isGone) after.take(digestOf(identityOf(letter)));
        done += 1;
      },
      ...(asksToStop === undefined ? {} : { stopped: asksToStop }),
    };
    const doneBefore = done;
    const passed = await losses.surviving(() => dead.move(queue, pass));
    // If the pass threw, `onSent` has counted.
    if (passed !== null) done = doneBefore + passed.sent;
    mayBeDoubled += passed?.mayBeDoubled ?? 0;
    input.report(done);
    stopped = passed?.stopped ?? null;
    // After a loss, letters with an unknown outcome may be there again.
    if (passed === null || passed.isLost) {
      frozen = after;
      const present = await presentAfterLoss(dead, losses, { queue, id: "", frozen, identityOf });
      if (present === null) done = Math.max(doneBefore, done - (passed?.mayBeDoubled ?? 0));
      else done = Math.min(done, letters - present);
    } else if (passed.sent === 0) stopped ??= "the other letters are not there any more";
    stopped ??= losses.gaveUp();
  }
  return { done, mayBeDoubled, stopped };
}

/** The way of a letter into a queue for parked letters. It stays a dead letter, with everything. */
export function parking(letter: Letter, facts: LetterFacts, to: string, { id, by, why }: Word): Sending {
  const { reason, routingKey, position, queue } = facts;
  const at = new Date().toISOString();
  const history = historyWith(letter, { redrive: id, at, reason, routingKey, position, did: "parked", by, why, queue });
  return { queue: to, history, staysDead: true };
}
