/** Begins an operation in its own turn of the event loop. */
export type OnePerTurn = <Value>(begin: () => Promise<Value>) => Promise<Value>;

/**
 * Begins one settlement in each turn of the event loop. The SDK's library writes neighbouring settlements of one turn
 * as one frame, with the outcome of the first. So a dead letter beside a success would be completed, and lost. Source:
 * rhea 3.0.5, `write_dispositions` in lib/session.js.
 */
export function createOnePerTurn(): OnePerTurn {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return (begin) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        begin().then(resolve, reject);
      });
      if (waiting.length === 1) setImmediate(next);
    });
}
