import type { AuditedQueue } from "../deployment.ts";

/**
 * From the publishing of a message until the receive that moves it, in seconds, if its consumer lets every receive run out of the queue's
 * visibility timeout and comes for it again at once. Null where it is not known, or where nothing moves it.
 */
export function windowSecondsOf({ redrive, visibilityTimeoutSeconds, delaySeconds }: AuditedQueue): number | null {
  if (redrive === "untold" || redrive === null || redrive.maxReceiveCount === null) return null;
  if (visibilityTimeoutSeconds === null) return null;
  return (delaySeconds ?? 0) + redrive.maxReceiveCount * visibilityTimeoutSeconds;
}

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A time in the largest unit in which it is a whole number: `4 days`, `90 minutes`, `45 s`. */
export function timeText(seconds: number): string {
  for (const [unit, length] of units) {
    const count = seconds / length;
    if (seconds > 0 && Number.isInteger(count)) return `${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  return `${seconds} s`;
}
