import { count } from "../contract/in-words.ts";
import type { DeadQueue } from "../dead-letters/dead-queue.ts";
import type { Desk } from "../dead-letters/locks.ts";
import { openJournal } from "../dead-letters/open-journal.ts";
import type { Journal } from "../operate/journal.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import type { PlaceOptions } from "./dead-options.ts";
import { atPlace } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { writeError } from "./output.ts";

/** Opens the journal that the options or the environment name, for a piece of work. */
export async function withJournal(
  { journal }: JournalOptions,
  work: (journal: Journal) => Promise<number>,
): Promise<number> {
  const opened = await openJournal(journal ?? process.env["REDELIVER_JOURNAL"]);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Does the work of a command at a dead queue, with the journal. */
export async function atDesk(
  file: string | undefined,
  options: PlaceOptions & JournalOptions,
  work: (desk: Desk) => Promise<number>,
): Promise<number> {
  return atPlace(file, options, (dead) => withJournal(options, (journal) => work(deskOf(dead, journal))));
}

/** The desk of a person at a terminal. */
export function deskOf(dead: DeadQueue, journal: Journal): Desk {
  return {
    dead,
    journal,
    progress: createProgress,
    began: (id, letters) =>
      writeError(
        `redeliver: the redrive ${id} sends ${count(letters, "letter")}; redeliver dead pause ${id} ends it\n`,
      ),
    waiting: () => writeError("redeliver: waits for the letters that the ended process held\n"),
  };
}
