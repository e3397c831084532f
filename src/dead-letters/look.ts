import type { LetterFacts } from "../operate/facts.ts";
import { type Filter, type FilterInput, parseFilter } from "../operate/filter.ts";
import { type Groups, createGrouping } from "../operate/groups.ts";
import type { Letter } from "../operate/letter.ts";
import type { Looked } from "../operate/port.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { type Progress, silent } from "./locks.ts";
import { UsageError } from "./usage-error.ts";

/** The end of a look with a filter. */
export type LookedFor = Looked & {
  /** The letters that the filter takes. */
  readonly matched: number;
};

/**
 * Looks for letters, and leaves them in their queue. The effect on the queue is that of its broker:
 * `dead.operating.aboutLook` says it.
 *
 * @param visit called with each letter that fits, in order. Returns false to end the look
 * @throws RefusedError if the broker refuses, or if looks would use the letters up
 * @throws UsageError if the filter is none, or names a group that no letter is in
 */
export async function lookFor(
  { letters, queue, factsOf }: DeadQueue,
  input: FilterInput,
  visit: (letter: Letter, facts: LetterFacts) => boolean,
  progress: Progress = silent,
): Promise<LookedFor> {
  const filter = filterOf(input);
  let matched = 0;
  const report = progress("letters read", null);
  const looked = await letters.look(queue, (letter) => {
    report(letter.position);
    const facts = factsOf(letter);
    if (!filter.matches(letter, facts)) return true;
    matched += 1;
    return visit(letter, facts);
  });
  if (looked.isWhole) checkGroup(filter);
  return { ...looked, matched };
}

/**
 * Counts letters by reason, error and type, the largest group first.
 *
 * @throws as `lookFor` does
 */
export async function groupLetters(
  dead: DeadQueue,
  filter: FilterInput,
  progress: Progress = silent,
): Promise<LookedFor & Groups> {
  const grouping = createGrouping();
  const visit = (_: Letter, facts: LetterFacts): boolean => {
    grouping.add(facts);
    return true;
  };
  return { ...(await lookFor(dead, filter, visit, progress)), ...grouping.result() };
}

/** @throws UsageError */
export function filterOf(input: FilterInput, nowMs = Date.now()): Filter {
  const filter = parseFilter(input, nowMs);
  if ("problem" in filter) throw new UsageError(filter.problem);
  return filter;
}

/** @throws UsageError if no letter was in the group that the filter names */
export function checkGroup(filter: Filter): void {
  const missed = filter.missed();
  if (missed !== null) throw new UsageError(missed);
}
