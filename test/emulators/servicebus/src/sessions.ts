import type { Refusal } from "./settlement.ts";
import type { StoredMessage } from "./stored-message.ts";

/** A receiver, as its queue or subscription sees it. */
export interface Taker {
  /** The session that it holds; null without sessions. */
  readonly session: string | null;
  readonly mode: "peek-lock" | "receive-and-delete";
  /** The number of messages that it takes now. */
  readonly credit: () => number;
  readonly take: (message: StoredMessage) => void;
  /** Ends it from the broker's side. */
  readonly evict: (refusal: Refusal) => void;
}

interface SessionLock {
  /** Null between the grant and the receiver's start. */
  holder: Taker | null;
  untilMs: number;
}

interface Waiting {
  readonly session: string | null;
  readonly grant: (session: string, untilMs: number) => void;
}

/** The holders of a queue's or subscription's sessions, and the state that clients keep with a session. */
export class Sessions {
  readonly states = new Map<string, Buffer | null>();
  readonly #locks = new Map<string, SessionLock>();
  readonly #waiting: Waiting[] = [];
  readonly #lockDurationMs: () => number;

  constructor(lockDurationMs: () => number) {
    this.#lockDurationMs = lockDurationMs;
  }

  isFree(session: string): boolean {
    return !this.#locks.has(session);
  }

  /** @returns the end of the lock */
  lock(session: string): number {
    const untilMs = Date.now() + this.#lockDurationMs();
    this.#locks.set(session, { holder: null, untilMs });
    return untilMs;
  }

  hold(session: string, holder: Taker): void {
    const lock = this.#locks.get(session);
    if (lock !== undefined) lock.holder = holder;
  }

  /** Its holder is gone without closing it. No other receiver gets it until its time ends. */
  orphan(session: string): void {
    const lock = this.#locks.get(session);
    if (lock !== undefined) lock.holder = null;
  }

  /** @returns the new end of the lock; null if no receiver holds the session any more */
  renew(session: string): number | null {
    const lock = this.#locks.get(session);
    if (lock === undefined) return null;
    lock.untilMs = Date.now() + this.#lockDurationMs();
    return lock.untilMs;
  }

  untilMs(session: string): number | null {
    return this.#locks.get(session)?.untilMs ?? null;
  }

  release(session: string): void {
    this.#locks.delete(session);
  }

  /** The sessions with an ended lock. They are free from now on. */
  takeExpired(): readonly { readonly session: string; readonly holder: Taker | null }[] {
    const expired = [...this.#locks].filter(([, { untilMs }]) => untilMs <= Date.now());
    for (const [session] of expired) this.#locks.delete(session);
    return expired.map(([session, { holder }]) => ({ session, holder }));
  }

  nextExpiryMs(): number {
    return Math.min(...[...this.#locks.values()].map(({ untilMs }) => untilMs));
  }

  /** Waits for any free session with messages. @returns a function that ends the wait */
  wait(waiting: Waiting): () => void {
    this.#waiting.push(waiting);
    return () => {
      const index = this.#waiting.indexOf(waiting);
      if (index !== -1) this.#waiting.splice(index, 1);
    };
  }

  /** Gives free sessions with messages to the waiting receivers. */
  grant(withMessages: readonly string[]): void {
    for (const session of withMessages) {
      if (!this.isFree(session)) continue;
      const index = this.#waiting.findIndex((each) => each.session === null || each.session === session);
      const [next] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (next !== undefined) next.grant(session, this.lock(session));
    }
  }
}
