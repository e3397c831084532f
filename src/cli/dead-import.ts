import { statSync } from "node:fs";

import { count } from "../contract/in-words.ts";
import { importFile, namedIn } from "../dead-letters/import-file.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { atDesk } from "./dead-journal.ts";
import type { PlaceOptions } from "./dead-options.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, usage } from "./refuse.ts";

export interface ImportOptions extends PlaceOptions, JournalOptions {
  readonly input: string;
  readonly into?: string;
  readonly cutOff?: boolean;
  readonly skip?: number;
  readonly confirm?: number;
}

/** Brings the letters of an export back, or counts them. The file names the queue, unless the options do. */
export async function importCommand(file: string | undefined, options: ImportOptions): Promise<number> {
  const { input, json, into, cutOff, skip, confirm } = options;
  let named: Awaited<ReturnType<typeof namedIn>>;
  try {
    if (!statSync(input).isFile()) return await usage(`${input} is no file`, options);
    named = await namedIn(input);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return usage(`${input} cannot be read: ${code ?? String(cause)}`, options);
  }
  return atDesk(file, { ...options, ...namesOf(file, options, named) }, async (desk) => {
    const end = await importFile(desk, { file: input, into, cutOff, skip, confirm });
    const { queue, letters, imported } = end;
    if (imported === null) {
      const text = `${count(letters, "letter")} of ${input} would go into ${queue}\nNothing has moved. --confirm ${letters} agrees to it.`;
      return print(json === true ? { queue, letters } : text);
    }
    const { mayBeDoubled, stopped } = imported;
    const text = [
      `${imported.imported} of ${count(letters, "letter")} of ${input} are in ${queue} now`,
      ...(mayBeDoubled === 0 ? [] : [`up to ${mayBeDoubled} may be there twice, because a connection was lost`]),
      ...(stopped === null ? [] : [`stopped: ${stopped}; go on with --skip ${imported.skip}`]),
    ].join("\n");
    const printed = await print(json === true ? { queue, letters, ...imported } : text);
    return ended(printed, stopped === null ? exitCodes.fine : exitCodes.incomplete);
  });
}

/** The names that the file gives, where the options give none. Without a declaration the queue's name is enough. */
function namesOf(
  file: string | undefined,
  { queue, consumer }: ImportOptions,
  named: Awaited<ReturnType<typeof namedIn>>,
): Pick<PlaceOptions, "queue" | "consumer"> {
  if (queue !== undefined || consumer !== undefined) return {};
  if (file === undefined) return named.queue === undefined ? {} : { queue: named.queue };
  return named.consumer === undefined ? {} : { consumer: named.consumer };
}
