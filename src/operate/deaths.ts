import type { LetterFacts } from "./facts.ts";
import { type Group, createGrouping } from "./groups.ts";
import { historyOf } from "./history.ts";
import type { RedriveCounts, RedriveFacts } from "./journal.ts";
import type { Letter } from "./letter.ts";
import type { DeadLetters } from "./port.ts";

/** Counts the letters of a queue. Null where a look shows all of them. */
export async function lettersIn(dead: DeadLetters, queue: string): Promise<{ readonly letters: number | null }> {
  return { letters: (await dead.countOf?.(queue)) ?? null };
}

export interface Sent extends Pick<RedriveCounts, "sent">, Pick<RedriveFacts, "id" | "queue"> {
  readonly deadQueue: string;
  readonly before: RedriveCounts;
  /** The letters in the dead queue when the redrive began or went on. Null where a look shows all of them. */
  readonly there: number | null;
  readonly factsOf: (letter: Letter) => LetterFacts;
}

/**
 * Counts the letters of a redrive that have died again. If the broker does not show all letters, those that came since
 * it began count as dead again, and at most as many as it sent.
 *
 * @returns the number, and the most frequent cause of those that are shown
 */
export async function countDeaths(dead: DeadLetters, { id, queue, deadQueue, before, sent, there, factsOf }: Sent) {
  let shown = 0;
  const grouping = createGrouping();
  const { isWhole } = await dead.look(deadQueue, (letter) => {
    if (historyOf(letter)[0]?.redrive !== id) return true;
    shown += 1;
    grouping.add(factsOf(letter));
    return true;
  });
  const cause = causeOf(grouping.result().groups[0], before.diedAgain > 0);
  const now = isWhole ? null : (await lettersIn(dead, deadQueue)).letters;
  if (now === null || there === null) return { letters: shown, cause };
  const sentNow = sent - before.sent;
  const came = now - there + (deadQueue === queue ? sentNow : 0);
  return { letters: Math.max(shown, before.diedAgain + Math.min(came, sentNow)), cause };
}

/** @param goesOn true if letters of the group may have died before a pause, and are in no other number */
function causeOf(group: Group | undefined, goesOn: boolean): string {
  if (group === undefined) return "";
  const { count, id, reason, error } = group;
  return `, ${goesOn ? "most" : count} of them of the group ${id}: ${error ?? reason ?? "an unknown cause"}`;
}
