import type { Handler } from "redeliver/consume";

import { until } from "../deployed-system.ts";

interface Consuming<Run> {
  readonly runs: readonly Run[];
  readonly stop: (within: "0ms") => Promise<void>;
}

/**
 * Lets one consumer after the other begin with the message that is first, and stops each while its handler runs.
 *
 * @returns all runs of their handlers
 */
export async function stopInHand<Run>(
  times: number,
  consume: (handler: Handler<never>, options: { readonly concurrency: 1 }) => Promise<Consuming<Run>>,
): Promise<readonly Run[]> {
  const all: Run[] = [];
  const handler: Handler<never> = (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  for (let time = 0; time < times; time += 1) {
    const { runs, stop } = await consume(handler, { concurrency: 1 });
    await until(120_000, () => runs.length === 1);
    await stop("0ms");
    all.push(...runs);
  }
  return all;
}
