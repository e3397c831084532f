import { count } from "../contract/in-words.ts";
import { visible } from "../diagnostics/visible.ts";
import type { TakenOut } from "../operate/take-out.ts";

interface Taking {
  readonly queue: string;
  readonly frozen: number;
  readonly letters: number;
  readonly stay: Readonly<Record<string, number>>;
}

/** @param doing half a sentence, such as `be parked in shop.billing.parked` */
export function renderTaking({ queue, frozen, letters, stay }: Taking, doing: string): string {
  return [
    `${letters} of ${count(frozen, "letter")} in ${visible(queue)} would ${visible(doing)}`,
    ...Object.entries(stay).map(([why, number]) => `  stay: ${number}, ${why}`),
    `Nothing has moved. --confirm ${letters} agrees to it.`,
    "",
  ].join("\n");
}

export function renderTaken(
  { queue, letters }: Taking,
  doing: string,
  { done, mayBeDoubled, stopped }: TakenOut,
): string {
  return [
    `${done} of ${count(letters, "letter")} have left ${visible(queue)}, to ${visible(doing)}`,
    ...(mayBeDoubled === 0 ? [] : [`up to ${mayBeDoubled} may be in two places, because a connection was lost`]),
    ...(stopped === null ? [] : [`stopped: ${visible(stopped)}; all other letters are still in the queue`]),
    "",
  ].join("\n");
}
