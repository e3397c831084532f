import type { Decision } from "../drive.ts";

/** One run of a handler: its end, its time, and the number of frames until then. */
export interface Handled {
  /** The message's name. */
  readonly message: string;
  readonly attempt: number;
  readonly decision: Decision;
  /** The reason on a dead letter, if it differs from the contract's. */
  readonly reason?: string;
  readonly endedAtMs: number;
  readonly framesBefore: number;
}

/** Names the run of each delivery. Ask for the deliveries in their order. */
export function runsInOrder(handled: readonly Handled[]): (message: string) => Handled {
  const runs = Map.groupBy(handled, ({ message }) => message);
  const asked = new Map<string, number>();
  return (message) => {
    const position = asked.get(message) ?? 0;
    asked.set(message, position + 1);
    const run = runs.get(message)?.[position];
    if (run === undefined) throw new Error(`no handler ended for delivery ${position + 1} of ${message}`);
    return run;
  };
}

/** Tells if a delivery is the first of those that ended alike. Ask for the deliveries in their order. */
export function firstOfEach(handled: readonly Handled[]): (message: string) => boolean {
  const runOf = runsInOrder(handled);
  const seen = new Set<string>();
  return (message) => {
    const { decision, attempt, reason } = runOf(message);
    const alike = JSON.stringify([decision, attempt, reason]);
    const isFirst = !seen.has(alike);
    seen.add(alike);
    return isFirst;
  };
}
