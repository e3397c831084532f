/** Longer than this a timer of Node.js fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * One timer for the next due event. It never calls before the time by `Date.now()`, even if the machine's timers are
 * early.
 */
export class Alarm {
  readonly #ring: () => void;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings at a time, unless it rings earlier anyway. The callback sets the next alarm. */
  set(dueAtMs: number): void {
    if (dueAtMs >= this.#dueAtMs) return;
    this.#dueAtMs = dueAtMs;
    this.#arm();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#dueAtMs = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const waitMs = Math.min(Math.max(0, this.#dueAtMs - Date.now()), longestTimerMs);
    this.#timer = setTimeout(() => {
      if (Date.now() < this.#dueAtMs) return this.#arm();
      this.#dueAtMs = Number.POSITIVE_INFINITY;
      this.#ring();
    }, waitMs);
    this.#timer.unref();
  }
}
