import { type IBackoff, ExponentialBackoff, noJitterGenerator } from "cockatiel";

/** Pauses that double up to a longest one, until an attempt succeeds. */
export function growingPauses(firstMs: number, longestMs: number) {
  const factory = new ExponentialBackoff({
    initialDelay: firstMs,
    maxDelay: longestMs,
    exponent: 2,
    generator: noJitterGenerator,
  });
  let current: IBackoff<unknown> | null = null;
  return {
    next: () => {
      current = current === null ? factory.next() : current.next(undefined);
      return current.duration;
    },
    reset: () => {
      current = null;
    },
  };
}
