import { formatDurationMs } from "../declare/duration.ts";
import type { RetryPlan } from "../plan/plan.ts";

/** A number and its noun: `1 receive`, `3 receives`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** The delays as text: `1s, 2s, 4s, 8s`. */
export function delaysInWords(retry: RetryPlan): string {
  const delays = retry.attempts.slice(1).map((each) => formatDurationMs(each.delayMs));
  return delays.length <= 6 ? delays.join(", ") : `${delays.slice(0, 5).join(", ")}, … ${delays.at(-1)}`;
}
