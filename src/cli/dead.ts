import type { LetterFacts } from "../operate/facts.ts";
import { createGrouping } from "../operate/groups.ts";
import { historyOf } from "../operate/history.ts";
import { type Letter, lossIn } from "../operate/letter.ts";
import { letterLine } from "../operate/ndjson.ts";
import type { Looked } from "../operate/port.ts";
import { type FilterOptions, type PlaceOptions } from "./dead-options.ts";
import { atPlace, filterOf, type Place } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, usage } from "./refuse.ts";

/** Lists letters that fit a filter, up to a limit. */
export async function listCommand(
  file: string | undefined,
  options: FilterOptions & { readonly limit: number },
): Promise<number> {
  return atPlace(file, options, async (place) => {
    const found: LetterFacts[] = [];
    const looked = await lookFor(place, options, (_, facts) => found.push(facts) < options.limit);
    const { renderLetters } = await import("../report/dead-letters.ts");
    const {
      queue,
      operating: { aboutLook: about },
    } = place;
    return answer(looked, options, { queue, ...looked, about, letters: found }, () =>
      renderLetters(queue, looked, found, about),
    );
  });
}

/** Counts letters by their causes. */
export async function groupsCommand(file: string | undefined, options: FilterOptions): Promise<number> {
  return atPlace(file, options, async (place) => {
    const grouping = createGrouping();
    const looked = await lookFor(place, options, (_, facts) => {
      grouping.add(facts);
      return true;
    });
    const { renderGroups } = await import("../report/dead-letters.ts");
    const {
      queue,
      operating: { aboutLook: about },
    } = place;
    const result = grouping.result();
    return answer(looked, options, { queue, ...looked, about, ...result }, () =>
      renderGroups(queue, looked, result, about),
    );
  });
}

/** Shows one letter. */
export async function showCommand(
  file: string | undefined,
  options: PlaceOptions & { readonly id?: string; readonly position?: number },
): Promise<number> {
  const { id, position } = options;
  if (id === undefined && position === undefined) return usage("name the letter with --id or --position", options);
  return atPlace(file, options, async (place) => {
    let found: { readonly letter: Letter; readonly facts: LetterFacts } | null = null;
    const looked = await place.letters.look(place.queue, (letter) => {
      if (position !== undefined && letter.position < position) return true;
      const facts = place.factsOf(letter);
      if (position === undefined && facts.messageId !== id) return true;
      found = { letter, facts };
      return false;
    });
    if (found === null) {
      const which = id === undefined ? `at position ${position}` : `with the id ${JSON.stringify(id)}`;
      return usage(`there is no letter ${which} among the ${looked.seen} in ${place.queue}`, options);
    }
    const { letter, facts } = found as { readonly letter: Letter; readonly facts: LetterFacts };
    const data: unknown = JSON.parse(letterLine({ letter, lost: lossIn(letter) }));
    const { renderLetter } = await import("../report/dead-letters.ts");
    const shown = { queue: place.queue, facts, history: historyOf(letter), letter: data };
    return answer({ ...looked, isWhole: true }, options, shown, () => renderLetter(letter, facts));
  });
}

/** The end of a look with a filter. */
export type LookedFor = Looked & { readonly matched: number };

/** Looks for letters that fit the filter of the options. */
export async function lookFor(
  { letters, queue, factsOf }: Place,
  options: FilterOptions,
  visit: (letter: Letter, facts: LetterFacts) => boolean,
): Promise<LookedFor> {
  const filter = filterOf(options);
  let matched = 0;
  const progress = createProgress("letters read");
  const looked = await letters.look(queue, (letter) => {
    progress(letter.position);
    const facts = factsOf(letter);
    if (!filter.matches(letter, facts)) return true;
    matched += 1;
    return visit(letter, facts);
  });
  return { ...looked, matched };
}

async function answer(
  { isWhole }: Looked,
  { json }: { readonly json?: boolean },
  data: object,
  text: () => string,
): Promise<number> {
  const printed = await print(json === true ? data : text());
  return ended(printed, isWhole ? exitCodes.fine : exitCodes.incomplete);
}
