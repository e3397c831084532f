import { createReadStream } from "node:fs";

import { refused, refuseIf } from "../diagnostics/render.ts";
import { type Imported, checkExport, importLetters } from "../operate/import.ts";
import { createExportReader } from "../operate/ndjson.ts";
import { confirmProblem, consumedProblem } from "../operate/plan.ts";
import { type Desk, silent, withLocks } from "./locks.ts";
import { checkOpen, wordOf } from "./take.ts";

export interface ImportOrder {
  /** An export, or a backup. */
  readonly file: string;
  /** Another queue than the file names. */
  readonly into?: string | undefined;
  /** True to take the whole letters of a file that was cut off. */
  readonly cutOff?: boolean | undefined;
  /** The letters at the beginning of the file that are there already. */
  readonly skip?: number | undefined;
  /** The number of letters. Without it they are only counted. */
  readonly confirm?: number | undefined;
}

/** The letters of an import, and its end if their number was confirmed. */
export interface ImportEnd {
  /** The queue that the letters go to. */
  readonly queue: string;
  /** The letters of the file. */
  readonly letters: number;
  /** Null if the letters were only counted. */
  readonly imported: Imported | null;
}

/**
 * Brings the letters of a file back into their dead queue, in order; or counts them. It reads the whole file before it
 * sends anything.
 *
 * @throws RefusedError if the file is no whole export of this queue, if the number is another one, or if somebody else
 *   moves letters. Nothing has moved then
 * @throws UsageError if there is no such queue
 * @throws the system's error if the file cannot be read
 */
export async function importFile(desk: Desk, order: ImportOrder): Promise<ImportEnd> {
  const { dead, journal, progress = silent } = desk;
  const { file, into, cutOff = false, skip = 0, confirm } = order;
  const { broker, operating } = dead;
  const queue = into ?? dead.queue;
  const rules = { broker, queue: into === undefined ? queue : null, mayBeCutOff: cutOff };
  const plan = await checkExport(file, linesOf(file), { ...rules, unsendable: operating.unsendable });
  if (plan.problems.length > 0) throw refused(plan.problems);
  await checkOpen(dead, queue);
  const consumers = await dead.letters.consumersOf(queue);
  refuseIf(consumedProblem(queue, typeof consumers === "number" ? consumers : 0));
  const letters = Math.max(0, plan.letters - skip);
  if (confirm === undefined) return { queue, letters, imported: null };
  refuseIf(confirmProblem(queue, letters, confirm));
  const { id, by } = wordOf(desk, { why: "" });
  return withLocks({ ...desk, dead: { ...dead, queue } }, async () => {
    await journal.note(id, by, `imports ${letters} letters of ${file} into ${queue}`);
    const putting = await dead.letters.putInto(queue);
    try {
      const report = progress("letters imported", letters);
      const imported = await importLetters(linesOf(file), putting, skip, (count) => report(count));
      const { mayBeDoubled, stopped } = imported;
      const twice = mayBeDoubled === 0 ? "" : `, up to ${mayBeDoubled} there twice`;
      const why = stopped === null ? "" : `; stopped: ${stopped}`;
      await journal.note(id, by, `has ended after ${imported.imported} letters${twice}${why}`);
      return { queue, letters, imported };
    } finally {
      await putting.close();
    }
  });
}

/** The queue and the consumer that an export names. Both are undefined if it has no first line of an export. */
export async function namedIn(file: string) {
  const reader = createExportReader();
  for await (const line of linesOf(file)) {
    reader.take(line);
    break;
  }
  const { queue, consumer } = reader.header() ?? {};
  return { queue, consumer: consumer ?? undefined };
}

/** Only a line feed ends a line. A JSON text may hold other characters that end lines for Node. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of createReadStream(file, "utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
