import { Alarm } from "./alarm.ts";
import { settlementRefusal } from "./limits.ts";
import type { ServicebusEvent } from "./redeliver.ts";
import { Sessions, type Taker } from "./sessions.ts";
import { lockLost, notFound, type Refusal, sessionLockLost, type Settlement } from "./settlement.ts";
import { newLock, statusOf, type StoredMessage } from "./stored-message.ts";
import type { LinkEnd } from "./when-link-ends.ts";

export interface MailboxRules {
  readonly lockDurationMs: number;
  readonly requiresSession: boolean;
  /** A dead-letter queue does not dead-letter its messages again. */
  readonly isDeadLetterQueue: boolean;
  /**
   * True for the dead-letter queue of an entity with sessions. It asks for the lock of a session before it hands out a
   * deferred message, and it has no sessions. Source: azure-sdk-for-net issue 34662.
   */
  readonly keepsDeferred: boolean;
}

/** Asks the semantics for the effect of an event on a message, and carries it out. */
export type Happens = (message: StoredMessage, event: ServicebusEvent, settlement?: Settlement) => void;

/**
 * A queue, a subscription, or the dead-letter queue of one. It knows the holder and the lock of each message, and the
 * waiting receivers. The semantics decides the fate of a message.
 */
export class Mailbox {
  readonly messages = new Map<number, StoredMessage>();
  /** Their part of the entity's size. */
  bytes = 0;
  readonly sessions: Sessions;
  /** They can change while it holds messages. A locked message keeps the lock time that its receiver knows. */
  rules: MailboxRules;
  readonly #happens: Happens;
  readonly #locked = new Map<string, StoredMessage>();
  readonly #takers: Taker[] = [];
  readonly #alarm = new Alarm(() => this.passTime());

  constructor(rules: MailboxRules, happens: Happens) {
    this.rules = rules;
    this.#happens = happens;
    this.sessions = new Sessions(() => this.rules.lockDurationMs);
  }

  put(message: StoredMessage): void {
    this.messages.set(message.sequenceNumber, message);
    this.bytes += message.bytes;
    this.#alarm.set(Math.min(message.expiresAtMs, message.dueAtMs));
    this.dispatch();
  }

  remove(message: StoredMessage): void {
    if (this.messages.delete(message.sequenceNumber)) this.bytes -= message.bytes;
  }

  attach(taker: Taker): void {
    this.#takers.push(taker);
    if (taker.session !== null) this.sessions.hold(taker.session, taker);
  }

  /**
   * Removes a receiver. Its messages stay locked until their time ends, and so does a session that it could not give
   * back. A session that it closes is free at once.
   */
  detach(taker: Taker, how: LinkEnd): void {
    const index = this.#takers.indexOf(taker);
    if (index === -1) return;
    this.#takers.splice(index, 1);
    if (taker.session === null) return;
    if (how === "closed") this.releaseSession(taker.session);
    else this.sessions.orphan(taker.session);
  }

  releaseSession(session: string): void {
    for (const message of this.#heldIn(session)) this.#unlock(message, { kind: "session-closes" });
    this.sessions.release(session);
    this.dispatch();
  }

  /** Hands out all available messages, in order, and to the receivers in turn. */
  dispatch(): void {
    if (this.rules.requiresSession) {
      this.sessions.grant(this.#sessionsWithMessages());
      this.#alarm.set(this.sessions.nextExpiryMs());
    }
    for (let idle = 0; idle < this.#takers.length;) {
      const taker = this.#takers.shift();
      if (taker === undefined) return;
      this.#takers.push(taker);
      const message = taker.credit() > 0 ? this.#firstFor(taker) : undefined;
      if (message === undefined) idle++;
      else {
        idle = 0;
        this.#handOut(message, taker);
      }
    }
  }

  /** @returns the refusal; null if it is done */
  settle(token: string, settlement: Settlement): Refusal | null {
    const message = this.#heldBy(token);
    if (message === undefined) return this.rules.requiresSession ? sessionLockLost : lockLost;
    if (settlement.kind === "dead-letter" && this.rules.isDeadLetterQueue)
      return { condition: "amqp:not-allowed", description: "A dead letter cannot be dead-lettered again." };
    const tooMuch = settlementRefusal(message.content, settlement);
    if (tooMuch !== null) return tooMuch;
    this.#unlock(message, { kind: settlement.kind }, settlement);
    this.dispatch();
    return null;
  }

  /** @returns the new end of the lock; null if the lock is lost */
  renew(token: string): number | null {
    const lock = this.#heldBy(token)?.lock;
    if (lock === undefined || lock === null || this.rules.requiresSession) return null;
    lock.untilMs = Date.now() + this.rules.lockDurationMs;
    return lock.untilMs;
  }

  /** Locks a session for a receiver. @returns the end of the lock; null if another receiver holds it */
  lockSession(session: string): number | null {
    if (!this.sessions.isFree(session)) return null;
    const untilMs = this.sessions.lock(session);
    this.#alarm.set(untilMs);
    return untilMs;
  }

  /** Locks deferred messages, or removes them. @returns the refusal if one of them cannot be received */
  receiveDeferred(sequenceNumbers: readonly number[], mode: Taker["mode"]): readonly StoredMessage[] | Refusal {
    if (this.rules.keepsDeferred) return sessionLockLost;
    const messages = sequenceNumbers.flatMap((each) => this.messages.get(each) ?? []);
    if (messages.length < sequenceNumbers.length) return notFound(sequenceNumbers);
    if (messages.some((message) => statusOf(message) !== "deferred")) return notFound(sequenceNumbers);
    for (const message of messages) {
      this.#happens(message, { kind: "receive-deferred" });
      if (statusOf(message) !== "locked") continue;
      this.#lock(message);
      if (mode === "receive-and-delete") this.#unlock(message, { kind: "complete" });
    }
    return messages;
  }

  /** The end of a message's lock; null without a lock. */
  lockedUntilMs({ lock, state }: StoredMessage): number | null {
    if (lock === null) return null;
    return this.rules.requiresSession ? this.sessions.untilMs(state.content.sessionId ?? "") : lock.untilMs;
  }

  /** Ends every receiver, as when the entity is deleted. */
  close(refusal: Refusal): void {
    this.#alarm.stop();
    for (const taker of this.#takers.splice(0)) taker.evict(refusal);
    this.messages.clear();
    this.bytes = 0;
  }

  /** Handles due events: lost locks, expired messages, and scheduled ones that come due. */
  passTime(): void {
    for (const { session, holder } of this.sessions.takeExpired()) {
      for (const message of this.#heldIn(session)) this.#unlock(message, { kind: "lock-expires" });
      holder?.evict(sessionLockLost);
    }
    const nowMs = Date.now();
    for (const message of this.messages.values()) {
      if (message.lock !== null && message.lock.untilMs <= nowMs) this.#unlock(message, { kind: "lock-expires" });
      else if (statusOf(message) === "scheduled" && message.dueAtMs <= nowMs)
        this.#happens(message, { kind: "schedule-due" });
      else if (statusOf(message) === "active" && message.expiresAtMs <= nowMs)
        this.#happens(message, { kind: "expire" });
    }
    for (const message of this.messages.values()) this.#alarm.set(this.#nextMs(message));
    this.#alarm.set(this.sessions.nextExpiryMs());
    this.dispatch();
  }

  #nextMs({ lock, expiresAtMs, dueAtMs }: StoredMessage): number {
    return lock === null ? Math.min(expiresAtMs, dueAtMs) : lock.untilMs;
  }

  #firstFor({ session }: Taker): StoredMessage | undefined {
    for (const message of this.messages.values()) {
      if (statusOf(message) !== "active") continue;
      if (this.rules.requiresSession && message.state.content.sessionId !== session) continue;
      if (message.expiresAtMs > Date.now()) return message;
      this.#happens(message, { kind: "expire" });
    }
    return undefined;
  }

  #handOut(message: StoredMessage, taker: Taker): void {
    switch (taker.mode) {
      case "peek-lock":
        this.#happens(message, { kind: "deliver" });
        this.#lock(message);
        taker.take(message);
        break;
      case "receive-and-delete":
        taker.take(message);
        this.#happens(message, { kind: "receive-and-delete" });
        break;
    }
  }

  #sessionsWithMessages(): readonly string[] {
    const active = [...this.messages.values()].filter((message) => statusOf(message) === "active");
    return [...new Set(active.map(({ state }) => state.content.sessionId ?? ""))];
  }

  #heldIn(session: string): readonly StoredMessage[] {
    return [...this.#locked.values()].filter(({ state }) => state.content.sessionId === session);
  }

  /**
   * The message of a lock that still holds. A timer may be late on a busy machine, but a lock always ends at its time.
   */
  #heldBy(token: string): StoredMessage | undefined {
    const message = this.#locked.get(token);
    if (message !== undefined && (this.lockedUntilMs(message) ?? 0) <= Date.now()) this.passTime();
    return this.#locked.get(token);
  }

  #lock(message: StoredMessage): void {
    const untilMs = this.rules.requiresSession ? Number.POSITIVE_INFINITY : Date.now() + this.rules.lockDurationMs;
    message.lock = newLock(untilMs);
    this.#locked.set(message.lock.token, message);
    this.#alarm.set(untilMs);
  }

  #unlock(message: StoredMessage, event: ServicebusEvent, settlement?: Settlement): void {
    if (message.lock !== null) this.#locked.delete(message.lock.token);
    message.lock = null;
    this.#happens(message, event, settlement);
    if (this.messages.has(message.sequenceNumber)) this.#alarm.set(this.#nextMs(message));
  }
}
