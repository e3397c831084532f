import { createReadStream, statSync } from "node:fs";

import { type ImportPlan, checkExport, importLetters } from "../operate/import.ts";
import { createExportReader } from "../operate/ndjson.ts";
import { confirmProblem, consumedProblem } from "../operate/plan.ts";
import type { PlaceOptions } from "./dead-options.ts";
import { type Place, atPlace } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { checkOpen } from "./dead-take-out.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, refuse, usage } from "./refuse.ts";

export interface ImportOptions extends PlaceOptions {
  readonly input: string;
  readonly into?: string;
  readonly cutOff?: boolean;
  readonly skip?: number;
  readonly confirm?: number;
}

/** Brings the letters of an export back, or counts them. The file names the queue, unless the options do. */
export async function importCommand(file: string | undefined, options: ImportOptions): Promise<number> {
  const { input, queue, consumer, cutOff = false, skip = 0 } = options;
  let named: { readonly queue?: string; readonly consumer?: string };
  try {
    if (!statSync(input).isFile()) return await usage(`${input} is no file`, options);
    named = await namedIn(input);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return usage(`${input} cannot be read: ${code ?? String(cause)}`, options);
  }
  const isNamed = queue !== undefined || consumer !== undefined;
  // Without a declaration the queue's name is enough.
  const own = file === undefined ? { queue: named.queue } : { consumer: named.consumer };
  return atPlace(file, isNamed ? options : { ...options, ...definedIn(own) }, async (place) => {
    const { broker, operating } = place;
    const to = options.into ?? place.queue;
    const rules = { broker, queue: options.into === undefined ? to : null, mayBeCutOff: cutOff };
    const plan = await checkExport(input, linesOf(input), { ...rules, unsendable: operating.unsendable });
    if (plan.problems.length > 0) return refuse(plan.problems, options, {}, exitCodes.refused);
    await checkOpen(place, to);
    const consumers = await place.letters.consumersOf(to);
    const consumed = consumedProblem(to, typeof consumers === "number" ? consumers : 0);
    if (consumed !== null) return refuse([consumed], options, {}, exitCodes.refused);
    const letters = Math.max(0, plan.letters - skip);
    if (options.confirm === undefined) {
      const text = `${letters} letters of ${input} would go into ${to}\nNothing has moved. --confirm ${letters} agrees to it.`;
      return print(options.json === true ? { queue: to, letters } : text);
    }
    const problem = confirmProblem(to, letters, options.confirm);
    if (problem !== null) return refuse([problem], options, {}, exitCodes.refused);
    return put(place, to, options, letters);
  });
}

async function put(place: Place, to: string, options: ImportOptions, letters: number): Promise<number> {
  const { input, skip = 0, json } = options;
  const putting = await place.letters.putInto(to);
  try {
    const progress = createProgress("letters imported", letters);
    const result = await importLetters(linesOf(input), putting, skip, (count) => progress(count));
    const { imported, mayBeDoubled, stopped } = result;
    const text = [
      `${imported} of ${letters} letters of ${input} are in ${to} now`,
      ...(mayBeDoubled === 0 ? [] : [`up to ${mayBeDoubled} may be there twice, because a connection was lost`]),
      ...(stopped === null ? [] : [`stopped: ${stopped}; go on with --skip ${result.skip}`]),
    ].join("\n");
    const printed = await print(json === true ? { queue: to, letters, ...result } : text);
    return ended(printed, stopped === null ? exitCodes.fine : exitCodes.incomplete);
  } finally {
    await putting.close();
  }
}

async function namedIn(input: string): Promise<Partial<Pick<NonNullable<ImportPlan["header"]>, "queue">> & object> {
  const reader = createExportReader();
  for await (const line of linesOf(input)) {
    reader.take(line);
    break;
  }
  const { queue, consumer } = reader.header() ?? {};
  return definedIn({ queue, consumer: consumer ?? undefined });
}

function definedIn<Given extends Readonly<Record<string, string | undefined>>>(given: Given): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
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
