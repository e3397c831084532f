import { setTimeout } from "node:timers/promises";

import type { Sending } from "./port.ts";

/** How often a copy with an unknown outcome is sent before it is given up. */
const mostSends = 5;

/**
 * Brings a letter to the disk if it has to be there, and then sends it.
 *
 * @returns the reason why the letter has to stay in its queue; null if it may leave
 */
export async function carryOut(sending: Sending, send: () => Promise<string | null>): Promise<string | null> {
  try {
    await sending.save?.();
  } catch (cause) {
    return `the backup cannot be written: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`;
  }
  return sending.queue === null ? null : send();
}

/**
 * Sends a copy until the broker says what became of it.
 *
 * @param send throws if the outcome is unknown
 * @param unknown called for each copy that may have arrived, and with true if no other follows
 */
export async function sendOften(
  queue: string | null,
  send: () => Promise<string | null>,
  unknown: (isLast: boolean) => void,
): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch {
      unknown(tries === mostSends);
      if (tries === mostSends) return `the queue ${queue} does not answer`;
      await pauseAfter(tries);
    }
  }
}

export async function pauseAfter(tries: number): Promise<void> {
  await setTimeout(250 * 2 ** tries);
}
