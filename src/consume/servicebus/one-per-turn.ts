/** Begins something in a turn of the event loop of its own. */
export type OnePerTurn = <Value>(begin: () => Promise<Value>) => Promise<Value>;

/**
 * Settlements, one in each turn of the event loop. Neighbouring deliveries that are settled in one turn are written as one frame by the SDK's
 * library, with the outcome of the first: a dead letter beside a success would be completed, and lost.
 * Source: rhea 3.0.5, `write_dispositions` in lib/session.js.
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
