import { endRedrive, openRedrive, redriveIn, redrivesIn, resumeRedrive } from "../dead-letters/control.ts";
import type { JournalledRedrive, Wish } from "../operate/journal.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { deskOf, withJournal } from "./dead-journal.ts";
import type { PlaceOptions } from "./dead-options.ts";
import { answering, atPlace } from "./dead-place.ts";
import { answerRedrive } from "./dead-redrive.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended } from "./refuse.ts";

/** Shows the last redrives and other commands, or one of them with its events. */
export async function statusCommand(id: string | undefined, options: JournalOptions): Promise<number> {
  return answering(options, () =>
    withJournal(options, async (journal) => {
      const { renderNotes, renderRedrives, renderStatus } = await import("../report/dead-redrive.ts");
      const notes = await journal.notes();
      if (id === undefined) {
        const redrives = await redrivesIn(journal);
        const text = `${renderRedrives(redrives)}${renderNotes(notes)}`;
        return print(options.json === true ? { redrives: redrives.map(shown), notes } : text);
      }
      const own = notes.filter((each) => each.id === id);
      if (own.length > 0) return print(options.json === true ? { notes: own } : renderNotes(own));
      const { redrive, events } = await redriveIn(journal, id);
      return print(options.json === true ? { ...shown(redrive), events } : renderStatus(redrive, events));
    }),
  );
}

/** Pauses or cancels a redrive, and waits for its end. */
export async function endCommand(id: string, options: JournalOptions, wish: Wish): Promise<number> {
  return answering(options, () =>
    withJournal(options, async (journal) => {
      const redrive = await endRedrive({ journal }, id, wish);
      const { renderRedrives } = await import("../report/dead-redrive.ts");
      const printed = await print(options.json === true ? shown(redrive) : renderRedrives([redrive]));
      return ended(printed, redrive.state === "running" ? exitCodes.incomplete : exitCodes.fine);
    }),
  );
}

/** Goes on with a redrive from the place where the broker and the journal show it. */
export async function resumeCommand(id: string, options: JournalOptions & Partial<PlaceOptions>): Promise<number> {
  return answering(options, () =>
    withJournal(options, async (journal) => {
      const { place, filter } = await openRedrive(journal, id);
      const { file, ...words } = place;
      const { journal: _, ...given } = options;
      return atPlace(file, { failedIn: filter.failedIn, ...words, ...given } as PlaceOptions, async (dead) =>
        answerRedrive(options, dead, await resumeRedrive(deskOf(dead, journal), id)),
      );
    }),
  );
}

function shown(redrive: JournalledRedrive): object {
  const { key: _, place: __, ...others } = redrive;
  return others;
}
