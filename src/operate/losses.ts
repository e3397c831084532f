import { RefusedError } from "../diagnostics/diagnostic.ts";
import type { Passed } from "./port.ts";

/** A broker may take minutes to start again. */
const longestLossMs = 600_000;
/** A broker that is starting refuses for some seconds. Another refusal stays. */
const longestRefusalMs = 30_000;
const afterLossMs = 3_000;

/** Work that goes on after lost connections. */
export type Losses = ReturnType<typeof createLosses>;

/**
 * Does work again after a lost connection, until the broker has not answered for ten minutes.
 *
 * @param pause the wait before the next try
 * @param stopped why no other try is wanted; null if one is
 */
export function createLosses(pause: (delayMs: number) => Promise<unknown>, stopped: () => string | null = () => null) {
  let sinceMs: number | null = null;
  let gaveUp: string | null = null;
  const lost = async (longestMs: number, reason: string): Promise<void> => {
    sinceMs ??= performance.now();
    if (performance.now() - sinceMs > longestMs) gaveUp = reason;
    else await pause(afterLossMs);
  };
  /** @returns null if the connection was lost before any result, after a pause */
  const surviving = async <Result extends object>(work: () => Promise<Result>): Promise<Result | null> => {
    try {
      const result = await work();
      const { isLost = false, sent = 0 }: Partial<Passed> = result;
      // A look may go well although each move loses its connection.
      if ("isLost" in result && (!isLost || sent > 0)) sinceMs = null;
      if (isLost) await lost(longestLossMs, "the connection is lost again and again");
      return result;
    } catch (cause) {
      const [problem] = cause instanceof RefusedError ? cause.diagnostics : [];
      if (problem === undefined || problem.code === "RD805") throw cause;
      await lost(problem.code === "RD804" ? longestLossMs : longestRefusalMs, problem.message);
      return null;
    }
  };
  /** Why no other try is made. Null if one is. */
  return { surviving, gaveUp: () => gaveUp ?? stopped() };
}
