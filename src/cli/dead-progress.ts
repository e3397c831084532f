import { writeError } from "./output.ts";

const everyMs = 5_000;

/**
 * Reports progress of long work on the standard error, every 5 s.
 *
 * @param what the things that are counted
 * @param total the count at the end; null if unknown
 * @returns a function to call with the count so far
 */
export function createProgress(what: string, total: number | null = null): (count: number, more?: string) => void {
  let startedAtMs: number | null = null;
  let saidAtMs = 0;
  return (count, more = "") => {
    const nowMs = performance.now();
    if (startedAtMs === null) startedAtMs = saidAtMs = nowMs;
    if (nowMs - saidAtMs < everyMs) return;
    saidAtMs = nowMs;
    const perSecond = (1_000 * count) / (nowMs - startedAtMs);
    const all = total === null ? "" : ` of ${total}`;
    const left = total === null || count === 0 ? "" : `, ${Math.ceil((total - count) / perSecond)} s left`;
    writeError(`redeliver: ${count}${all} ${what}, ${Math.round(perSecond)} a second${left}${more}\n`);
  };
}
