import { closeSync, existsSync, fsyncSync, openSync, writeSync } from "node:fs";

import { lossIn } from "../operate/letter.ts";
import { endLine, headerLine, letterLine } from "../operate/ndjson.ts";
import { lookFor } from "./dead.ts";
import type { FilterOptions } from "./dead-options.ts";
import { atPlace } from "./dead-place.ts";
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
  return atPlace(file, options, async (place) => {
    const { output } = options;
    const { broker, queue, consumer } = place;
    if (existsSync(output)) return usage(`${output} exists already`, options);
    let notWhole = 0;
    try {
      let opened: Lines | null = null;
      const lines = (): Lines => (opened ??= createLines(output, headerLine({ broker, queue, consumer })));
      const looked = await lookFor(place, options, (letter) => {
        const lost = lossIn(letter);
        if (lost !== null) notWhole += 1;
        lines().write(letterLine({ letter, lost }));
        return true;
      });
      lines().write(endLine(looked.matched));
      lines().close();
      const { seen, matched, isWhole } = looked;
      const missed = isWhole ? "" : "; others took letters meanwhile, and those are not in it";
      const lost = notWhole === 0 ? "" : `; ${notWhole} of them are not whole, and say why`;
      const text = `${matched} of ${seen} letters of ${queue} are in ${output}${lost}${missed}`;
      const printed = await print(options.json === true ? { queue, ...looked, notWhole, output } : text);
      return ended(printed, notWhole > 0 || !isWhole ? exitCodes.incomplete : exitCodes.fine);
    } catch (cause) {
      const reason = reasonOf(cause);
      if (reason === null) throw cause;
      return usage(`${output} cannot be written: ${reason}; no letter has left its queue`, options);
    }
  });
}

/** A new file that is written line by line. Writing waits for the disk, so that memory stays constant. */
export interface Lines {
  readonly write: (line: string) => void;
  /** Brings everything so far to the disk. */
  readonly flush: () => void;
  readonly close: () => void;
}

const bufferBytes = 65_536;

/** @throws the system's error, for example if the file exists */
export function createLines(file: string, first: string): Lines {
  const handle = openSync(file, "wx", 0o600);
  let buffer = first;
  const drain = (): void => {
    const bytes = Buffer.from(buffer);
    for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at);
    buffer = "";
  };
  const flush = (): void => {
    drain();
    fsyncSync(handle);
  };
  flush();
  return {
    write: (line) => {
      buffer += line;
      if (buffer.length > bufferBytes) drain();
    },
    flush,
    close: () => {
      flush();
      closeSync(handle);
    },
  };
}

/** Null for an error that is not about the file. */
export function reasonOf(cause: unknown): string | null {
  const { code, syscall } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === undefined || !["open", "write", "fsync"].includes(syscall ?? "")) return null;
  if (code === "EEXIST") return "it exists already";
  return code === "ENOSPC" ? "the disk is full" : code === "EROFS" ? "the disk is read-only" : code;
}
