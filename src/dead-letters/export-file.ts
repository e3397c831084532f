import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

import type { FilterInput } from "../operate/filter.ts";
import { lossIn } from "../operate/letter.ts";
import { endLine, headerLine, letterLine } from "../operate/ndjson.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { type Progress, silent } from "./locks.ts";
import { type LookedFor, lookFor } from "./look.ts";

/**
 * Writes letters into a new file, and leaves them in their queue. The first line names the queue, each further line is a
 * letter, and the last one has their number.
 *
 * @returns the look, and the number of letters that the client library has changed. Their lines have `lost`
 * @throws the system's error if the file cannot be written, for example because it exists
 * @throws as `lookFor` does
 */
export async function exportLetters(
  dead: DeadQueue,
  filter: FilterInput,
  file: string,
  progress: Progress = silent,
): Promise<LookedFor & { readonly notWhole: number }> {
  let notWhole = 0;
  let opened: ReturnType<typeof createLines> | null = null;
  // A look that is refused leaves no file.
  const lines = () => (opened ??= createLines(file, headerLine(dead)));
  const visit: Parameters<typeof lookFor>[2] = (letter) => {
    const lost = lossIn(letter);
    if (lost !== null) notWhole += 1;
    lines().write(letterLine({ letter, lost }));
    return true;
  };
  const looked = await lookFor(dead, filter, visit, progress);
  lines().write(endLine(looked.matched));
  lines().close();
  return { ...looked, notWhole };
}

/** A new file that is written line by line. Writing waits for the disk, so that memory stays constant. */
const bufferBytes = 65_536;

/** @throws the system's error, for example if the file exists */
export function createLines(file: string, first: string) {
  const handle = openSync(file, "wx", 0o600);
  let buffer = first;
  const drain = (): void => {
    const bytes = Buffer.from(buffer);
    for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at);
    buffer = "";
  };
  /** Brings everything so far to the disk. */
  const flush = (): void => {
    drain();
    fsyncSync(handle);
  };
  flush();
  return {
    write: (line: string) => {
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

/** The problem of a file, in words. Null for an error that is not about one. */
export function fileProblem(cause: unknown): string | null {
  const { code, syscall } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === undefined || !["open", "write", "fsync"].includes(syscall ?? "")) return null;
  if (code === "EEXIST") return "it exists already";
  return code === "ENOSPC" ? "the disk is full" : code === "EROFS" ? "the disk is read-only" : code;
}
