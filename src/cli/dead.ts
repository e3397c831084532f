import { groupLetters, lookFor } from "../dead-letters/look.ts";
import type { LetterFacts } from "../operate/facts.ts";
import { historyOf } from "../operate/history.ts";
import { type Letter, lossIn } from "../operate/letter.ts";
import { letterLine } from "../operate/ndjson.ts";
import type { Looked } from "../operate/port.ts";
import type { FilterOptions, PlaceOptions } from "./dead-options.ts";
import { atPlace } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, usage } from "./refuse.ts";

/** Lists letters that fit a filter, up to a limit. */
export async function listCommand(
  file: string | undefined,
  options: FilterOptions & { readonly limit: number },
): Promise<number> {
  return atPlace(file, options, async (dead) => {
    const found: LetterFacts[] = [];
    const looked = await lookFor(dead, options, (_, facts) => found.push(facts) < options.limit, createProgress);
    const { renderLetters } = await import("../report/dead-letters.ts");
    const { queue } = dead;
    const { aboutLook: about } = dead.operating;
    return answer(looked, options, { queue, ...looked, about, letters: found }, () =>
      renderLetters(queue, looked, found, about),
    );
  });
}

/** Counts letters by their causes. */
export async function groupsCommand(file: string | undefined, options: FilterOptions): Promise<number> {
  return atPlace(file, options, async (dead) => {
    const grouped = await groupLetters(dead, options, createProgress);
    const { renderGroups } = await import("../report/dead-letters.ts");
    const { queue } = dead;
    const { aboutLook: about } = dead.operating;
    return answer(grouped, options, { queue, about, ...grouped }, () => renderGroups(queue, grouped, grouped, about));
  });
}

/** Shows one letter. */
export async function showCommand(
  file: string | undefined,
  options: PlaceOptions & { readonly id?: string; readonly position?: number },
): Promise<number> {
  const { id, position } = options;
  if (id === undefined && position === undefined) return usage("name the letter with --id or --position", options);
  return atPlace(file, options, async (dead) => {
    let found: { readonly letter: Letter; readonly facts: LetterFacts } | null = null;
    const looked = await dead.letters.look(dead.queue, (letter) => {
      if (position !== undefined && letter.position < position) return true;
      const facts = dead.factsOf(letter);
      if (position === undefined && facts.messageId !== id) return true;
      found = { letter, facts };
      return false;
    });
    if (found === null) {
      const which = id === undefined ? `at position ${position}` : `with the id ${JSON.stringify(id)}`;
      return usage(`there is no letter ${which} among the ${looked.seen} in ${dead.queue}`, options);
    }
    const { letter, facts } = found as { readonly letter: Letter; readonly facts: LetterFacts };
    const data: unknown = JSON.parse(letterLine({ letter, lost: lossIn(letter) }));
    const { renderLetter } = await import("../report/dead-letters.ts");
    const shown = { queue: dead.queue, facts, history: historyOf(letter), letter: data };
    return answer({ ...looked, isWhole: true }, options, shown, () => renderLetter(letter, facts));
  });
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
