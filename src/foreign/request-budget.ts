import { formatDurationMs } from "../declare/duration.ts";

/** The limits of all requests of one command together. */
export interface RequestBounds {
  /** After decompression. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
}

/** A listing of 20,000 queues has about 100 MB. */
export const defaultBounds: RequestBounds = { mostBytes: 500_000_000, timeoutMs: 300_000 };

/** The longest list that a command reads: 10 million queues, at 1,000 on each page. */
const mostPages = 10_000;

/** Thrown if a caller reads on after the budget is spent. */
export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/** Counts the size and time of one command's requests. An answer may never end, or take too long. */
export interface RequestBudget {
  /** Aborts every request when the budget is spent. */
  readonly signal: AbortSignal;
  /** @throws BudgetSpent if these bytes are too many */
  readonly take: (bytes: number) => void;
  /** @throws BudgetSpent if this page is one too many */
  readonly turn: (page: number) => void;
  /** The spent limit, as the rest of a sentence about the server; null if none is spent. */
  readonly problem: () => string | null;
  readonly end: () => void;
}

export function requestBudget({ mostBytes, timeoutMs }: RequestBounds): RequestBudget {
  const controller = new AbortController();
  let problem: string | null = null;
  let left = mostBytes;
  const spend = (text: string): BudgetSpent => {
    problem ??= text;
    const spent = new BudgetSpent(problem);
    controller.abort(spent);
    return spent;
  };
  const timer = setTimeout(
    () => spend(`has not answered everything within ${formatDurationMs(timeoutMs)}; raise it with --timeout`),
    timeoutMs,
  );
  return {
    signal: controller.signal,
    take: (bytes) => {
      left -= bytes;
      if (left < 0) {
        throw spend(`answers with more than ${mostBytes.toLocaleString("en")} bytes; raise it with --max-bytes`);
      }
    },
    turn: (page) => {
      if (page > mostPages) throw spend(`answers with more than ${mostPages.toLocaleString("en")} pages of one list`);
    },
    problem: () => problem,
    end: () => clearTimeout(timer),
  };
}
