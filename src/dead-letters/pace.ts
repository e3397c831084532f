import { stepsOf } from "../operate/redrive.ts";

/** The speed of work that has waits in it. */
export interface Pace {
  /** The time so far, without the waits. */
  readonly workedMs: number;
  /** The waits that are to come. They are about as long as those so far. */
  readonly waitsMs: number;
}

/** Keeps the waits between the steps of a redrive apart from the time for sending. */
export function createPace(letters: number, waitMs: number) {
  const steps = stepsOf(letters, waitMs).length;
  let [begun, workedMs, waitedMs, lastAtMs] = [0, 0, 0, 0];
  const sinceLastMs = (): number => {
    const beforeMs = lastAtMs;
    lastAtMs = performance.now();
    return lastAtMs - beforeMs;
  };
  return {
    /** To be called before a step, and thus after the wait of the one before. */
    begin: (): void => {
      const pastMs = sinceLastMs();
      if (begun > 0) waitedMs += pastMs;
      begun += 1;
    },
    /** To be called after each letter. */
    sent: (): Pace => {
      workedMs += sinceLastMs();
      // Words of consumers end a wait early, so the wish alone would be too much.
      const oneWaitMs = begun > 1 ? waitedMs / (begun - 1) : waitMs;
      return { workedMs, waitsMs: oneWaitMs * (steps - begun + 1) };
    },
  };
}
