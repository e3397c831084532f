import { existsSync } from "node:fs";

import { count } from "../contract/in-words.ts";
import { exportLetters, fileProblem } from "../dead-letters/export-file.ts";
import type { FilterOptions } from "./dead-options.ts";
import { atPlace } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, usage } from "./refuse.ts";

/**
 * Writes letters into a new file, and leaves them in their queue. Letters that the client library has changed are
 * marked and counted.
 */
export async function exportCommand(
  file: string | undefined,
  options: FilterOptions & { readonly output: string },
): Promise<number> {
  return atPlace(file, options, async (dead) => {
    const { output } = options;
    const { queue } = dead;
    if (existsSync(output)) return usage(`${output} exists already`, options);
    try {
      const exported = await exportLetters(dead, options, output, createProgress);
      const { seen, matched, isWhole, notWhole } = exported;
      const missed = isWhole ? "" : "; others took letters meanwhile, and those are not in it";
      const lost = notWhole === 0 ? "" : `; ${notWhole} of them are not whole, and say why`;
      const text = `${matched} of ${count(seen, "letter")} of ${queue} are in ${output}${lost}${missed}`;
      const printed = await print(options.json === true ? { queue, ...exported, output } : text);
      return ended(printed, notWhole > 0 || !isWhole ? exitCodes.incomplete : exitCodes.fine);
    } catch (cause) {
      const reason = fileProblem(cause);
      if (reason === null) throw cause;
      return usage(`${output} cannot be written: ${reason}; no letter has left its queue`, options);
    }
  });
}
