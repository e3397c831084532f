import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import type { Letter } from "./letter.ts";
import { type ExportHeader, createExportReader } from "./ndjson.ts";
import type { Operating, Putting } from "./port.ts";

type Lines = AsyncIterable<string>;

/** What an import would do. */
export interface ImportPlan {
  readonly header: ExportHeader | null;
  readonly letters: number;
  /** Empty if all letters can be imported. */
  readonly problems: readonly Diagnostic[];
}

export interface ImportRules {
  readonly broker: string;
  /** The queue that the letters have to be of. Null for any. */
  readonly queue: string | null;
  /** True if a file that was cut off is taken up to its last whole letter. */
  readonly mayBeCutOff: boolean;
  readonly unsendable: Operating["unsendable"];
}

/** The letters that a problem names. */
const mostNamed = 10;

/** Reads a whole export and judges it. Nothing is sent before. */
export async function checkExport(file: string, lines: Lines, rules: ImportRules): Promise<ImportPlan> {
  const reader = createExportReader();
  const wrong = new Map<string, string[]>();
  for await (const line of lines) {
    const exported = reader.take(line);
    if (exported === null) continue;
    const { letter, lost } = exported;
    const why = lost === null ? unsendableIn(letter, rules) : `not whole in the file: ${lost}`;
    if (why !== null) wrong.set(why, [...(wrong.get(why) ?? []).slice(0, mostNamed), nameOf(letter)]);
  }
  const [header, letters, problem] = [reader.header(), reader.letters(), reader.problem()];
  const refusal = (path: string, message: string, help: string): Diagnostic =>
    diagnostic("RD813", { path, message, help });
  const isAllowed = rules.mayBeCutOff && header !== null && reader.isCutOff();
  return {
    header,
    letters,
    problems: [
      ...(problem === null || isAllowed
        ? []
        : [
            refusal(
              "input",
              `${file} is no whole export: ${problem}${letters === 0 ? "" : `; the letters 1 to ${letters} in it are whole`}`,
              "take a whole export; --cut-off imports the whole letters of a file that was cut off",
            ),
          ]),
      ...(header === null || header.broker === rules.broker
        ? []
        : [
            refusal("broker", `its ${letters} letters are of ${header.broker}, and not of ${rules.broker}`, targetHelp),
          ]),
      ...(header === null || rules.queue === null || header.queue === rules.queue
        ? []
        : [refusal("queue", `its ${letters} letters are of ${header.queue}, and not of ${rules.queue}`, queueHelp)]),
      ...[...wrong].map(([why, names]) => {
        const more = names.length > mostNamed ? ", …" : "";
        return refusal("input", `${why}: ${names.slice(0, mostNamed).join(", ")}${more}`, wholeHelp);
      }),
    ],
  };
}

const targetHelp = "name a target of the broker that the letters come from";
const queueHelp = "name that queue, or --into for another one on purpose";
const wholeHelp = "leave these letters out with a filter of dead export, and send them with their own client";

function unsendableIn(letter: Letter, { unsendable }: ImportRules): string | null {
  const why = unsendable(letter);
  return why === "by AMQP 1.0" || why === "not whole" ? `cannot be sent, ${why}` : null;
}

function nameOf({ position, properties: { messageId } }: Letter): string {
  return messageId === undefined ? `the letter ${position}` : String(messageId);
}

export interface Imported {
  readonly imported: number;
  readonly mayBeDoubled: number;
  /** Why it ended before the last letter. Null if it did not. */
  readonly stopped: string | null;
  /** So many letters from the beginning of the file are in the queue. */
  readonly skip: number;
}

/** Puts the letters of a checked export into a queue, in order. It stops at the first refusal. */
export async function importLetters(
  lines: Lines,
  putting: Putting,
  skip: number,
  report: (imported: number) => void,
): Promise<Imported> {
  const reader = createExportReader();
  const inFlight = new Set<Promise<void>>();
  let imported = 0;
  let firstRefused = Infinity;
  let stopped: string | null = null;
  const putOne = async (letter: Letter, index: number): Promise<void> => {
    const problem = await putting.put(letter);
    if (problem === null) report((imported += 1));
    else {
      stopped ??= problem;
      firstRefused = Math.min(firstRefused, index);
    }
  };
  let index = 0;
  for await (const line of lines) {
    const exported = reader.take(line);
    if (exported === null) continue;
    index += 1;
    if (index <= skip) continue;
    while (inFlight.size >= putting.window) await Promise.race(inFlight);
    if (stopped !== null) break;
    const done = putOne(exported.letter, index).finally(() => inFlight.delete(done));
    inFlight.add(done);
  }
  await Promise.all(inFlight);
  return {
    imported,
    mayBeDoubled: putting.mayBeDoubled(),
    stopped,
    skip: Math.min(skip + imported, firstRefused - 1),
  };
}
