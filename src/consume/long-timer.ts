/** What a timer of Node holds. A longer one would end at once. Source: Node.js documentation, `setTimeout`. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Calls back after a time of any length.
 *
 * @returns what takes it back
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

/** Resolves after a time, or as soon as the signal is given. */
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
 * Waits for something that has to be there in time.
 *
 * @param givenUp ends the waiting
 * @throws what `late` makes, when it is not there
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

/** Waits for something, though not for ever. What fails is over as well. */
export async function atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const limit = new Promise<void>((resolve) => {
    cancel = afterMs(limitMs, resolve);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  cancel();
}
