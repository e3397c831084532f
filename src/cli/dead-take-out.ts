import { type Taking, type TakingOrder, discardLetters, parkLetters } from "../dead-letters/take.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { atDesk } from "./dead-journal.ts";
import type { FilterOptions } from "./dead-options.ts";
import { filterWords } from "./dead-redrive.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended } from "./refuse.ts";

export interface TakingOptions extends FilterOptions, JournalOptions {
  readonly confirm?: number;
  readonly why: string;
  readonly by?: string;
}

/** Parks letters, or counts those that it would park. */
export async function parkCommand(
  file: string | undefined,
  options: TakingOptions & { readonly into?: string },
): Promise<number> {
  return atDesk(file, options, async (desk) => {
    const parked = await parkLetters(desk, { ...orderOf(options), into: options.into });
    return answerTaken(options, parked, `be parked in ${parked.into}`);
  });
}

/** Removes letters after they are in a file, or counts those that it would remove. */
export async function discardCommand(
  file: string | undefined,
  options: TakingOptions & { readonly backup: string },
): Promise<number> {
  const { backup } = options;
  return atDesk(file, options, async (desk) => {
    const discarded = await discardLetters(desk, { ...orderOf(options), backup });
    return answerTaken(options, discarded, `be removed into ${backup}`);
  });
}

export function orderOf(options: TakingOptions): TakingOrder {
  const { confirm, why, by } = options;
  return { filter: filterWords(options), confirm, why, by };
}

/** @param doing half a sentence, such as `be parked in shop.billing.parked` */
export async function answerTaken(
  { json }: TakingOptions,
  { plan, word, taken }: Taking,
  doing: string,
): Promise<number> {
  const { renderTaken, renderTaking } = await import("../report/dead-taking.ts");
  if (taken === null) return print(json === true ? plan : renderTaking(plan, doing));
  const printed = await print(json === true ? { ...word, plan, ...taken } : renderTaken(plan, doing, taken));
  return ended(printed, taken.stopped === null ? exitCodes.fine : exitCodes.incomplete);
}
