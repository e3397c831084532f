import { type Backoff, delayFunction } from "../declare/backoff.ts";
import { asDuration, type Duration } from "../declare/duration.ts";

/**
 * The backoff that a person would write for these delays, in milliseconds. It computes exactly these, but for a zero
 * beside other delays: the shortest delay of a declaration is 1 ms.
 */
export function backoffOf(delaysMs: readonly number[]): Backoff {
  const [first = 0, second = first] = delaysMs;
  const duration = (delayMs: number): Duration => asDuration(delayMs) as Duration;
  const max = duration(Math.max(first, ...delaysMs));
  const isCapped = delaysMs.length > 2 && delaysMs.at(-1) === delaysMs.at(-2);
  const growth = { first: duration(first), ...(isCapped ? { max } : {}) };
  const candidates: readonly Backoff[] = [
    { kind: "immediate" },
    { kind: "constant", delay: duration(first) },
    ...(delaysMs.length < 3 || first === 0 || second <= first
      ? []
      : [
          {
            kind: "linear" as const,
            ...growth,
            ...(second === 2 * first ? {} : { step: duration(second - first) }),
          },
          { kind: "exponential" as const, factor: second / first, ...growth },
        ]),
  ];
  const makes = (backoff: Backoff): boolean => {
    const delayOf = delayFunction(backoff);
    return delaysMs.every((delayMs, failures) => delayOf(failures) === delayMs);
  };
  return candidates.find(makes) ?? { kind: "steps", delays: delaysMs.map((delayMs) => duration(Math.max(1, delayMs))) };
}
