import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";

import { type Letter, lossIn } from "../operate/letter.ts";
import { endLine, headerLine, letterLine } from "../operate/ndjson.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { createLines } from "./export-file.ts";

/** A new file of letters that leave their queue. */
export type Backup = ReturnType<typeof createBackup>;

/** @throws the system's error, for example if the file exists */
export function createBackup(file: string, dead: Pick<DeadQueue, "broker" | "queue" | "consumer">) {
  const lines = createLines(file, headerLine(dead));
  // A new file is lost with its folder's entry.
  const folder = openSync(dirname(resolve(file)), "r");
  fsyncSync(folder);
  closeSync(folder);
  let letters = 0;
  /** Letters that are saved at the same time share one flush. */
  let flushing: Promise<void> | null = null;
  let failure: { readonly cause: unknown } | null = null;
  /** After a failure the last line may be half a letter, so no letter is safe any more. */
  const attempt = (work: () => void): void => {
    if (failure !== null) return;
    try {
      work();
    } catch (cause) {
      failure = { cause };
    }
  };
  const flush = async (): Promise<void> => {
    await setImmediate();
    flushing = null;
    attempt(lines.flush);
    if (failure !== null) throw failure.cause;
  };
  return {
    /** Resolves when the letter is on the disk. After a failure it takes no more. */
    save: (letter: Letter) => {
      letters += 1;
      attempt(() => lines.write(letterLine({ letter, lost: lossIn(letter) })));
      return (flushing ??= flush());
    },
    /** Writes the last line. False if it cannot be written. */
    close: () => {
      attempt(() => lines.write(endLine(letters)));
      attempt(lines.close);
      return failure === null;
    },
  };
}
