/**
 * The longest time of a timer in Node. A longer one would fire at once. Source: Node.js documentation, `setTimeout`.
 */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Calls back after a time of any length.
 *
 * @returns a function that cancels the call
 */
export function afterMs(delayMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (restMs: number): void => {
    timer =
      restMs > longestTimerMs
        ? setTimeout(() => arm(restMs - longestTimerMs), longestTimerMs)
        : setTimeout(callback, restMs);
  };
  arm(delayMs);
  return () => clearTimeout(timer);
}

/** Resolves after a time, or as soon as the signal is aborted. */
export function pauseMs(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = afterMs(delayMs, end);
    signal.addEventListener("abort", end);
  });
}

/**
 * Waits for a promise with a time limit.
 *
 * @param givenUp ends the waiting
 * @throws the error that `late` makes, when the time is over
 */
export async function inTime<Value>(
  limitMs: number,
  work: Promise<Value>,
  late: () => Error,
  givenUp: AbortSignal | null,
): Promise<Value> {
  const { promise: limit, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(givenUp?.reason as Error);
  const cancel = afterMs(limitMs, () => reject(late()));
  if (givenUp?.aborted === true) giveUp();
  givenUp?.addEventListener("abort", giveUp);
  try {
    return await Promise.race([work, limit]);
  } finally {
    cancel();
    givenUp?.removeEventListener("abort", giveUp);
  }
}

/** Waits for a promise up to a time limit. A rejection ends the waiting, too. */
export async function atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  await inTime(limitMs, work, () => new Error("late"), null).catch(() => undefined);
}
