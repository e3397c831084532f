import type { Progress } from "../dead-letters/locks.ts";
import { writeError } from "./output.ts";

const everyMs = 5_000;

/** Reports progress of long work on the standard error, every 5 s. */
export const createProgress: Progress = (what, total) => {
  let startedAtMs: number | null = null;
  let saidAtMs = 0;
  return (count, more = "", pace) => {
    const nowMs = performance.now();
    if (startedAtMs === null) startedAtMs = saidAtMs = nowMs;
    if (nowMs - saidAtMs < everyMs) return;
    saidAtMs = nowMs;
    const { workedMs, waitsMs } = pace ?? { workedMs: nowMs - startedAtMs, waitsMs: 0 };
    const perSecond = (1_000 * count) / workedMs;
    const all = total === null ? "" : ` of ${total}`;
    const leftS = total === null || count === 0 ? null : Math.ceil((total - count) / perSecond + waitsMs / 1_000);
    const left = leftS === null ? "" : `, ${leftS} s left`;
    writeError(`redeliver: ${count}${all} ${what}, ${Math.round(perSecond)} a second${left}${more}\n`);
  };
};
