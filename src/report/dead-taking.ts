import { count } from "../contract/in-words.ts";
import { visible } from "../diagnostics/visible.ts";
import type { TakenOut } from "../operate/take-out.ts";

/** The letters that would leave a queue. */
export interface TakingPlan {
  /** The dead queue that the letters are in. */
  readonly queue: string;
  /** The letters in the queue. Later ones are not touched. */
  readonly frozen: number;
  /** The letters to take, which is the number to confirm. */
  readonly letters: number;
  /** Letters that stay, by the reason. */
  readonly stay: Readonly<Record<string, number>>;
}

/** @param doing half a sentence, such as `be parked in shop.billing.parked` */
export function renderTaking({ queue, frozen, letters, stay }: TakingPlan, doing: string): string {
  return [
    `${letters} of ${count(frozen, "letter")} in ${visible(queue)} would ${visible(doing)}`,
    ...Object.entries(stay).map(([why, number]) => `  stay: ${number}, ${why}`),
    `Nothing has moved. --confirm ${letters} agrees to it.`,
    "",
  ].join("\n");
}

export function renderTaken(
  { queue, letters }: TakingPlan,
  doing: string,
  { done, mayBeDoubled, stopped }: TakenOut,
): string {
  return [
    `${done} of ${count(letters, "letter")} left ${visible(queue)}, to ${visible(doing)}`,
    ...(mayBeDoubled === 0 ? [] : [`up to ${mayBeDoubled} may be in two places, because a connection was lost`]),
    ...(stopped === null ? [] : [`stopped: ${visible(stopped)}; all other letters are still in the queue`]),
    "",
  ].join("\n");
}
