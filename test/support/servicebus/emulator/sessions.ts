import type { Refusal } from "./settlement.ts";
import type { StoredMessage } from "./stored-message.ts";

/** A receiver, as the place that it takes messages from sees it. */
export interface Taker {
  /** The session that it holds; null where the place has no sessions. */
  readonly session: string | null;
  readonly mode: "peek-lock" | "receive-and-delete";
  /** How many messages it takes now. */
  readonly credit: () => number;
  readonly take: (message: StoredMessage) => void;
  /** Ends it from the broker's side. */
  readonly evict: (refusal: Refusal) => void;
}

interface SessionLock {
  /** Null between the grant and the receiver's beginning. */
  holder: Taker | null;
  untilMs: number;
}

interface Waiting {
  readonly session: string | null;
  readonly grant: (session: string, untilMs: number) => void;
}

/** Who holds which session of a queue or a subscription, and the state that clients keep with a session. */
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

  /** @returns until when it is locked */
  lock(session: string): number {
    const untilMs = Date.now() + this.#lockDurationMs();
    this.#locks.set(session, { holder: null, untilMs });
    return untilMs;
  }

  hold(session: string, holder: Taker): void {
    const lock = this.#locks.get(session);
    if (lock !== undefined) lock.holder = holder;
  }

  /** Its holder is gone, and could not say so: nobody else has it until its time is over. */
  orphan(session: string): void {
    const lock = this.#locks.get(session);
    if (lock !== undefined) lock.holder = null;
  }

  /** @returns until when; null where nobody holds the session any more */
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

  /** Those whose time is over; they are free from now on. */
  takeExpired(): readonly { readonly session: string; readonly holder: Taker | null }[] {
    const expired = [...this.#locks].filter(([, { untilMs }]) => untilMs <= Date.now());
    for (const [session] of expired) this.#locks.delete(session);
    return expired.map(([session, { holder }]) => ({ session, holder }));
  }

  nextExpiryMs(): number {
    return Math.min(...[...this.#locks.values()].map(({ untilMs }) => untilMs));
  }

  /** Waits for any session that has messages and that nobody holds. @returns how to wait no more */
  wait(waiting: Waiting): () => void {
    this.#waiting.push(waiting);
    return () => {
      const index = this.#waiting.indexOf(waiting);
      if (index !== -1) this.#waiting.splice(index, 1);
    };
  }

  /** Gives free sessions that have messages to whoever waits. */
  grant(withMessages: readonly string[]): void {
    for (const session of withMessages) {
      if (!this.isFree(session)) continue;
      const index = this.#waiting.findIndex((each) => each.session === null || each.session === session);
      const [next] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (next !== undefined) next.grant(session, this.lock(session));
    }
  }
}
