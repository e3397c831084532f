import { count } from "../contract/in-words.ts";
import { cancelWhole, moveWhole } from "../dead-letters/whole.ts";
import { atDesk } from "./dead-journal.ts";
import { type RedriveOptions, filterWords } from "./dead-redrive.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended } from "./refuse.ts";

export interface WholeOptions extends RedriveOptions {
  readonly whole?: boolean;
  readonly cancel?: boolean;
}

/** Lets the broker itself move a whole dead queue, or counts its letters. */
export async function wholeCommand(file: string | undefined, options: WholeOptions): Promise<number> {
  return atDesk(file, options, async (desk) => {
    const { confirm, rate = null, why, cancel, json } = options;
    const order = { filter: filterWords(options), confirm, perSecond: rate, why };
    const end = cancel === true ? await cancelWhole(desk) : await moveWhole(desk, order);
    if (json === true)
      return ended(await print(end), "stopped" in end && end.stopped !== null ? exitCodes.incomplete : exitCodes.fine);
    if ("letters" in end) {
      const { queue, letters } = end;
      return print(
        `about ${count(letters, "letter")} of ${queue} would be moved by the broker, without steps and history\nNothing has moved. With --confirm ${letters} they are moved.\n`,
      );
    }
    const { queue, moved, stopped } = end;
    const rest = stopped === null ? "" : `; stopped: ${stopped}`;
    return ended(
      await print(`about ${count(moved, "letter")} of ${queue} were moved${rest}\n`),
      stopped === null ? exitCodes.fine : exitCodes.incomplete,
    );
  });
}
